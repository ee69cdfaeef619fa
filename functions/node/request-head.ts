// What precedes the body of a request: its line and its headers, up to an empty line (RFC 9112, section 2.1). A chunked
// body also ends with an empty line (section 7.1), so there is at most one request between two of them.

/** The end of a head. */
export const headEnd = Buffer.from('\r\n\r\n');
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

// One character for each byte. What is not ASCII in an address is UTF-8 that a client did not encode.
const beyondAscii = /[\x80-\xff]/g;
const encodeByte = (byte: string): string => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`;

const encodeBytes = (bytes: Buffer): Buffer => {
  const text = bytes.toString('latin1');
  const encoded = text.replaceAll(beyondAscii, encodeByte);
  return encoded.length === text.length ? bytes : Buffer.from(encoded, 'latin1');
};

/** Limits of a request's head, in bytes. */
export interface HeadBounds {
  readonly requestLine: number;
  readonly headers: number;
}

/** The bytes to give to the parser now, and the rest for later. */
export interface Portion {
  readonly bytes: Buffer;
  readonly rest: Buffer | undefined;
  /** The limit that the head exceeds with these bytes, which must then not be given to the parser. */
  readonly exceeded?: keyof HeadBounds;
}

/**
 * Reads heads from bytes that arrive in pieces of any size. Finds the end of each, so that the parser gets one request
 * at a time; measures it; and percent-encodes what is not ASCII in its line, which the parser would refuse.
 */
export class RequestHead {
  readonly #bounds: HeadBounds;
  // The last bytes that were passed on, which may be the beginning of the end of a head.
  #tail: Buffer = Buffer.alloc(0);
  #line = 0;
  #headers = 0;
  #inLine = true;

  constructor(bounds: HeadBounds) {
    this.#bounds = bounds;
  }

  /** Whether no part of a head has arrived yet. */
  get isAtBeginning(): boolean {
    return this.#inLine && this.#line === 0 && this.#tail.length === 0;
  }

  /** Starts again: a head follows. */
  reset(): void {
    this.#line = 0;
    this.#headers = 0;
    this.#inLine = true;
  }

  /** The bytes up to the end of the head, or all of them if it does not end yet. */
  read(held: Buffer): Portion {
    const end = this.#findEnd(held);
    const bytes = end === undefined ? held : held.subarray(0, end);
    const rest = end === undefined || end === held.length ? undefined : held.subarray(end);
    const measured = this.#measure(bytes);
    if (this.#line > this.#bounds.requestLine) return { bytes, rest, exceeded: 'requestLine' };
    if (this.#headers > this.#bounds.headers) return { bytes, rest, exceeded: 'headers' };
    return { bytes: measured, rest };
  }

  /**
   * The bytes of a chunked body up to the next empty line, or all of them. What follows an empty line may be the next
   * request.
   */
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
    // Empty lines before a request do not belong to it (RFC 9112, section 2.2).
    let start = 0;
    if (this.#line === 0) {
      while (bytes[start] === carriageReturn || bytes[start] === lineFeed) start++;
    }
    const lineEnd = bytes.indexOf(lineFeed, start);
    const stop = lineEnd < 0 ? bytes.length : lineEnd;
    this.#line += stop - start;
    // The request will be refused anyway.
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
