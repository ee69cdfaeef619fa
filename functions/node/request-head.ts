// What stands before a request's body: its line and its headers, up to an empty line (RFC 9112, section 2.1). A chunked
// body ends with an empty line as well (section 7.1), so between two of them there is one request at most.

/** What ends a head. */
export const headEnd = Buffer.from('\r\n\r\n');
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

// One byte per character; what is not ASCII in an address is UTF-8 that somebody did not encode.
const beyondAscii = /[\x80-\xff]/g;
const encodeByte = (byte: string): string => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`;

const encodeBytes = (bytes: Buffer): Buffer => {
  const text = bytes.toString('latin1');
  const encoded = text.replaceAll(beyondAscii, encodeByte);
  return encoded.length === text.length ? bytes : Buffer.from(encoded, 'latin1');
};

/** The bounds of a request's head, in bytes. */
export interface HeadBounds {
  readonly requestLine: number;
  readonly headers: number;
}

/** What of some bytes is to be given to the parser, and what remains for later. */
export interface Portion {
  readonly bytes: Buffer;
  readonly rest: Buffer | undefined;
  /** Which bound the head has exceeded with these bytes, which then are not to be given on. */
  readonly exceeded?: keyof HeadBounds;
}

/**
 * Reads heads as their bytes come, in pieces of any size: finds where each ends, so that one request at a time is given
 * to the parser, measures it, and percent-encodes what is not ASCII in its line, which the parser would refuse.
 */
export class RequestHead {
  readonly #bounds: HeadBounds;
  // The last bytes that were given on, which may be the beginning of an end.
  #tail: Buffer = Buffer.alloc(0);
  #line = 0;
  #headers = 0;
  #inLine = true;

  constructor(bounds: HeadBounds) {
    this.#bounds = bounds;
  }

  /** Whether nothing of a head has come yet. */
  get isAtBeginning(): boolean {
    return this.#inLine && this.#line === 0 && this.#tail.length === 0;
  }

  /** Begins anew: what comes next is a head. */
  reset(): void {
    this.#line = 0;
    this.#headers = 0;
    this.#inLine = true;
  }

  /** The bytes up to the end of the head, or all of them. */
  read(held: Buffer): Portion {
    const end = this.#findEnd(held);
    const bytes = end === undefined ? held : held.subarray(0, end);
    const rest = end === undefined || end === held.length ? undefined : held.subarray(end);
    const measured = this.#measure(bytes);
    if (this.#line > this.#bounds.requestLine) return { bytes, rest, exceeded: 'requestLine' };
    if (this.#headers > this.#bounds.headers) return { bytes, rest, exceeded: 'headers' };
    return { bytes: measured, rest };
  }

  /** The bytes up to the next empty line of a chunked body, or all of them: what follows its end is not a part of it. */
  readChunked(held: Buffer): Portion {
    const end = this.#findEnd(held);
    if (end === undefined || end === held.length) return { bytes: held, rest: undefined };
    return { bytes: held.subarray(0, end), rest: held.subarray(end) };
  }

  #findEnd(held: Buffer): number | undefined {
    if (this.#tail.length === 0) {
      const end = held.indexOf(headEnd);
      if (end >= 0) return end + headEnd.length;
    }
    const seam = Buffer.concat([this.#tail, held.subarray(0, headEnd.length - 1)]);
    const inSeam = seam.indexOf(headEnd);
    const found = inSeam < 0 ? held.indexOf(headEnd) : inSeam - this.#tail.length;
    if (found < 0 && inSeam < 0) {
      this.#tail = Buffer.concat([this.#tail, held.subarray(-headEnd.length)]).subarray(1 - headEnd.length);
      return undefined;
    }
    this.#tail = Buffer.alloc(0);
    return found + headEnd.length;
  }

  #measure(bytes: Buffer): Buffer {
    if (!this.#inLine) {
      this.#headers += bytes.length;
      return bytes;
    }
    // Empty lines before a request are none of it (RFC 9112, section 2.2).
    let start = 0;
    if (this.#line === 0) {
      while (bytes[start] === carriageReturn || bytes[start] === lineFeed) start++;
    }
    const lineEnd = bytes.indexOf(lineFeed, start);
    const stop = lineEnd < 0 ? bytes.length : lineEnd;
    this.#line += stop - start;
    // Not worth encoding what is refused already.
    if (this.#line > this.#bounds.requestLine) return bytes;
    const line = bytes.subarray(start, stop);
    const encoded = encodeBytes(line);
    this.#line += encoded.length - line.length;
    if (lineEnd >= 0) {
      this.#inLine = false;
      this.#headers += bytes.length - lineEnd - 1;
    }
    return encoded === line ? bytes : Buffer.concat([bytes.subarray(0, start), encoded, bytes.subarray(stop)]);
  }
}
