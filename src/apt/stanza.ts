import { isAscii, isUtf8 } from 'node:buffer';
import { type LimitName, limits } from '../contract/limits.ts';
import { decodeText, trimmedSlice } from './text.ts';

/**
 * The fields of one stanza: name in lower case → value. The first line is trimmed. Continuation lines are joined by a
 * line feed, each without the one white-space character that marks it. If a field is repeated, the last one wins.
 *
 * Values are slices of the text that they were read from (up to 128 KiB), which stays in memory as long as any of them.
 * To keep a few values for long, copy them.
 */
export type Stanza = ReadonlyMap<string, string>;

/**
 * What can be wrong with the text of an index: a line that is no field, a line commented out with `//` or `#`, a continuation
 * line without a field, a field repeated in one stanza, a field that is not UTF-8, a stanza that exceeds the limit of
 * bytes or of fields, and something between two separators, before the first stanza, right before a Package field or at
 * the end that has no field.
 */
export type StanzaFinding =
  | 'field-malformed'
  | 'field-commented-out'
  | 'continuation-orphaned'
  | 'field-repeated'
  | 'encoding-not-utf8'
  | 'stanza-oversized'
  | 'stanza-empty';

/** Receives what the reader finds, in the order of the text. The findings about a stanza come before it. */
export interface StanzaSink {
  stanza(fields: Stanza): void;
  /** `limit` is the limit that was exceeded, if the finding is about one. */
  finding(code: StanzaFinding, detail: string, limit?: LimitName): void;
}

export interface StanzaReader {
  /** Takes the next bytes. They are copied or used before it returns. */
  write(chunk: Uint8Array): void;
  /** The text is complete. The last stanza may end without a newline. */
  end(): void;
}

const defaultMaxStanzaBytes = 1 << 20;
// Larger batches of minimal stanzas, each with its findings, would keep the thread busy for too long at a time.
const batchBytes = 128 << 10;
const detailLength = 80;
const maxKnownNames = 1024;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const numberSign = 0x23;

/**
 * Reads stanzas (deb822, Debian policy §5.1, and what repositories actually write) from bytes that arrive in any
 * pieces. The result does not depend on where they are cut, and memory stays within a few times `maxStanzaBytes`.
 *
 * A separator is an empty line or one that is `\r` alone; a line of blanks continues the field before it. Lines that
 * begin with `#` are left out, and do not end the field above. A line that is no field is dropped together with its
 * continuation lines, and never affects the field after it. A stanza with more than `maxStanzaBytes` (1 MiB by default),
 * or more fields than the table of limits allows, is skipped up to the next separator. Lines without any field are no
 * stanza, only a finding.
 */
export const createStanzaReader = (sink: StanzaSink, options: { maxStanzaBytes?: number } = {}): StanzaReader => {
  const maxStanzaBytes = options.maxStanzaBytes ?? defaultMaxStanzaBytes;
  const parse = createBatchParser(sink);
  let buffer = Buffer.allocUnsafe(64 << 10);
  let length = 0;
  // No separator ends before this position, so the search can continue here.
  let searched = 0;
  let atStart = true;
  let skipping = false;
  // Blank lines before the first stanza; undefined after them.
  let leading: number | undefined = 0;

  const append = (chunk: Uint8Array): void => {
    if (length + chunk.length > buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(buffer.length * 2, length + chunk.length));
      buffer.copy(grown, 0, 0, length);
      buffer = grown;
    }
    buffer.set(chunk, length);
    length += chunk.length;
  };

  const discard = (count: number): void => {
    buffer.copyWithin(0, count, length);
    length -= count;
    searched = 0;
  };

  /** Handles complete stanzas. Returns how many bytes of the buffer they had. */
  const consume = (ended: boolean): number => {
    let start = 0;
    for (;;) {
      if (!skipping) {
        const text = skipBlankLines(buffer, start, length);
        if (leading !== undefined) countLeading(start, text);
        start = text;
      }
      const separator = nextBatchEnd(start);
      if (separator === -1) return start;
      if (skipping) skipping = false;
      else if (separator - start > maxStanzaBytes) reportOversized(start);
      else parse(buffer.subarray(start, separator));
      start = separator;
      searched = start;
      if (ended && start >= length) return start;
    }
  };

  /** Apt takes a single blank line before the first stanza, and refuses an index with more. */
  const countLeading = (start: number, text: number): void => {
    const lines = buffer.subarray(start, text).filter((byte) => byte === lineFeed).length;
    leading = (leading ?? 0) + lines;
    // The other half of a line break may be yet to come.
    if (text === length || (text === length - 1 && buffer[text] === carriageReturn)) return;
    if (leading > 1) sink.finding('stanza-empty', `${leading} blank lines before the first stanza`);
    leading = undefined;
  };

  const dropByteOrderMark = (): void => {
    if (!hasByteOrderMark(buffer)) return;
    discard(3);
    sink.finding('stanza-empty', 'a byte order mark before the first stanza');
  };

  /** The start of the separator that ends the next one or more stanzas; -1 if none is complete yet. */
  const nextBatchEnd = (start: number): number => {
    const limit = start + Math.min(batchBytes, maxStanzaBytes);
    if (!skipping && length > limit && searched < limit) {
      const last = lastSeparator(buffer.subarray(start, limit));
      if (last !== -1) return start + last;
    } else if (!skipping && length <= limit) {
      const last = lastSeparator(buffer.subarray(Math.max(start, searched - 3), length));
      return last === -1 ? -1 : Math.max(start, searched - 3) + last;
    }
    const first = firstSeparator(buffer.subarray(Math.max(start, searched - 3), length));
    return first === -1 ? -1 : Math.max(start, searched - 3) + first;
  };

  const reportOversized = (start: number): void => {
    parse.skip();
    sink.finding(
      'stanza-oversized',
      firstLine(buffer.subarray(start, Math.min(length, start + Math.min(4 * detailLength, maxStanzaBytes)))),
      'stanzaBytes',
    );
  };

  const take = (chunk: Uint8Array): void => {
    append(chunk);
    if (atStart) {
      if (length < 3) return;
      dropByteOrderMark();
      atStart = false;
    }
    settle();
  };

  const settle = (): void => {
    const consumed = consume(false);
    if (consumed > 0) discard(consumed);
    // A separator that begins within the limit would be complete by now, because it has at most two more bytes.
    if (!skipping && length > maxStanzaBytes + 2) {
      reportOversized(0);
      skipping = true;
    }
    if (skipping && length > 3) discard(length - 3);
    searched = length;
  };

  return {
    write(chunk) {
      for (let offset = 0; offset < chunk.length; offset += batchBytes) {
        take(chunk.subarray(offset, offset + batchBytes));
      }
    },
    end() {
      if (atStart && length > 0) {
        atStart = false;
        if (length >= 3) dropByteOrderMark();
      }
      append(Buffer.from('\n\n'));
      consume(true);
      length = 0;
      parse.end();
    },
  };
};

const hasByteOrderMark = (buffer: Uint8Array): boolean =>
  buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf;

const skipBlankLines = (buffer: Uint8Array, start: number, end: number): number => {
  let at = start;
  for (;;) {
    if (at < end && buffer[at] === lineFeed) at += 1;
    else if (at + 1 < end && buffer[at] === carriageReturn && buffer[at + 1] === lineFeed) at += 2;
    else return at;
  }
};

/** The position after the newline before a separator line. */
const firstSeparator = (bytes: Buffer): number => {
  const plain = bytes.indexOf('\n\n', 0, 'latin1');
  const before = plain === -1 ? bytes : bytes.subarray(0, plain + 1);
  const withReturn = before.indexOf('\n\r\n', 0, 'latin1');
  const found = withReturn === -1 ? plain : withReturn;
  return found === -1 ? -1 : found + 1;
};

const lastSeparator = (bytes: Buffer): number => {
  const plain = bytes.lastIndexOf('\n\n', undefined, 'latin1');
  const after = plain === -1 ? bytes : bytes.subarray(plain);
  const withReturn = after.lastIndexOf('\n\r\n', undefined, 'latin1');
  if (withReturn === -1) return plain === -1 ? -1 : plain + 1;
  return (plain === -1 ? 0 : plain) + withReturn + 1;
};

const firstLine = (bytes: Uint8Array): string => {
  const end = bytes.indexOf(lineFeed);
  return shorten(decodeText(end === -1 ? bytes : bytes.subarray(0, end)).text);
};

const shorten = (text: string): string => trimmedSlice(text, 0, text.length).slice(0, detailLength).toWellFormed();

/** A parser of whole stanzas, given as bytes from the first line of one up to the separator after another. */
interface BatchParser {
  (bytes: Buffer): void;
  /** The next stanza is left out, but it is there. */
  skip(): void;
  /** There are no more. */
  end(): void;
}

const createBatchParser = (sink: StanzaSink): BatchParser => {
  const knownNames = new Map<string, string | null>();
  // Apt ends the name of a field at the next colon, on whatever line, so a line without one takes away the field below
  // it. It refuses an index in which that is Package, or in which no colon follows.
  let colonless: string | null = null;
  let isBetween = true;

  /** The name in lower case, or null if it is not allowed (Debian policy §5.1). */
  const fieldName = (raw: string): string | null => {
    const known = knownNames.get(raw);
    if (known !== undefined) return known;
    const name = /^[!-~]+[ \t]*$/.test(raw) && !raw.startsWith('-') ? raw.trimEnd().toLowerCase() : null;
    if (knownNames.size < maxKnownNames) knownNames.set(raw, name);
    return name;
  };

  const parse = (bytes: Buffer): void => {
    // If not all bytes are UTF-8, they are read as one character each, and each field is decoded separately.
    const ascii = isAscii(bytes);
    const mixed = !ascii && !isUtf8(bytes);
    const text = ascii || mixed ? bytes.toString('latin1') : bytes.toString('utf8');

    let fields = new Map<string, string>();
    let name: string | null = null;
    let value = '';
    // After a dropped line, continuation lines belong to no field. The dropped line has been reported already.
    let dropping = false;
    // Each line that is no continuation costs a name, a decoding or a finding, and a stanza may have half a million of
    // them.
    let begun = 0;
    let stanzaStart = 0;
    let at = 0;

    const decoded = (part: string): string => (mixed ? decodeText(Buffer.from(part, 'latin1')).text : part);

    const finishField = (): void => {
      if (name === null) return;
      const before = fields.size;
      if (mixed) {
        const field = decodeText(Buffer.from(value, 'latin1'));
        if (!field.utf8) sink.finding('encoding-not-utf8', `${name}: ${shorten(field.text)}`);
        fields.set(name, field.text);
      } else {
        fields.set(name, value);
      }
      if (fields.size === before) sink.finding('field-repeated', name);
      name = null;
    };

    const finishStanza = (): void => {
      isBetween = true;
      finishField();
      const isWhole = begun <= limits.stanzaFields;
      dropping = false;
      begun = 0;
      if (fields.size === 0) {
        if (isWhole && stanzaStart < at) {
          const end = text.indexOf('\n', stanzaStart);
          sink.finding('stanza-empty', shorten(decoded(text.slice(stanzaStart, end === -1 ? at : end))) || 'blanks');
          colonless = null;
        }
        return;
      }
      if (isWhole) sink.stanza(fields);
      fields = new Map();
    };

    /** Counts a line that is no continuation; false if the stanza has too many of them. */
    const mayBegin = (): boolean => {
      begun += 1;
      if (begun <= limits.stanzaFields) return true;
      name = null;
      colonless = null;
      const end = text.indexOf('\n', stanzaStart);
      sink.finding('stanza-oversized', shorten(decoded(text.slice(stanzaStart, end))), 'stanzaFields');
      return false;
    };

    const beginField = (at: number, end: number): void => {
      const colon = findColon(text, at, end);
      const commentedOut = text.startsWith('//', at);
      if (colon !== -1 && !commentedOut) name = fieldName(text.slice(at, colon));
      dropping = name === null;
      if (colon === -1) colonless ??= shorten(decoded(text.slice(at, end)));
      else {
        if (name === 'package' && colonless !== null) sink.finding('stanza-empty', `${colonless} (before Package)`);
        colonless = null;
      }
      if (name !== null) value = trimmedSlice(text, colon + 1, end);
      else {
        const code = commentedOut ? 'field-commented-out' : 'field-malformed';
        sink.finding(code, shorten(decoded(text.slice(at, end))));
      }
    };

    while (at < text.length) {
      let lineEnd = text.indexOf('\n', at);
      if (lineEnd === -1) lineEnd = text.length;
      const end = lineEnd > at && text.charCodeAt(lineEnd - 1) === carriageReturn ? lineEnd - 1 : lineEnd;
      const first = text.charCodeAt(at);
      if (at === end) {
        finishStanza();
        stanzaStart = lineEnd + 1;
        at = lineEnd + 1;
        continue;
      }
      if (isBetween) colonless = null;
      isBetween = false;
      if (begun > limits.stanzaFields) {
        // Up to the separator.
      } else if (first === 0x20 || first === 0x09) {
        if (colonless !== null && findColon(text, at, end) !== -1) colonless = null;
        if (name !== null) value += `\n${text.slice(at + 1, end)}`;
        else if (!dropping && trimmedSlice(text, at, end) !== '' && mayBegin()) {
          sink.finding('continuation-orphaned', shorten(decoded(text.slice(at, end))));
        }
      } else if (first === numberSign) {
        if (findColon(text, at, end) !== -1) colonless = null;
        else colonless ??= shorten(decoded(text.slice(at, end)));
        if (mayBegin()) sink.finding('field-commented-out', shorten(decoded(text.slice(at, end))));
      } else {
        finishField();
        if (mayBegin()) beginField(at, end);
      }
      at = lineEnd + 1;
    }
    finishStanza();
  };
  const end = (): void => {
    if (colonless !== null) sink.finding('stanza-empty', `${colonless} (at the end)`);
  };
  const skip = (): void => {
    colonless = null;
  };
  return Object.assign(parse, { skip, end });
};

/** Searches only within the line: searching the whole text for a colon would make many lines without one slow. */
const findColon = (text: string, start: number, end: number): number => {
  for (let at = start; at < end; at += 1) if (text.charCodeAt(at) === 0x3a) return at;
  return -1;
};
