import { type Compression, compressions } from '../contract/compressions.ts';

const startsWith = (bytes: Uint8Array, ...magic: readonly number[]): boolean =>
  bytes.length >= magic.length && magic.every((byte, index) => bytes[index] === byte);

/** The first byte after any byte order mark and white space. */
const firstByte = (bytes: Uint8Array): number | undefined => {
  const start = startsWith(bytes, 0xef, 0xbb, 0xbf) ? 3 : 0;
  return bytes.subarray(start).find((byte) => byte > 0x20);
};

/** Reads all of a short file. */
export const collect = async (chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> =>
  Buffer.concat(await Array.fromAsync(chunks));

/** The same chunks, each handed to `tap` before it is passed on. */
export async function* tapped(
  chunks: AsyncIterable<Uint8Array>,
  tap: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of chunks) {
    tap(chunk);
    yield chunk;
  }
}

/** Whether bytes begin like a web page. Neither a Release nor a Packages index begins with "<". */
export const looksLikeHtml = (bytes: Uint8Array): boolean => firstByte(bytes) === 0x3c;

// A skippable frame may come first. Its last four bits are arbitrary.
const isSkippableFrame = (head: Uint8Array): boolean =>
  ((head[0] ?? 0) & 0xf0) === 0x50 && startsWith(head.subarray(1), 0x2a, 0x4d, 0x18);

// RFC 8878, the xz file format, bzip2's "BZh", RFC 1952. Null if the format has no magic number.
const marks: Readonly<Record<Compression, ((head: Uint8Array) => boolean) | null>> = {
  zst: (head) => startsWith(head, 0x28, 0xb5, 0x2f, 0xfd) || isSkippableFrame(head),
  xz: (head) => startsWith(head, 0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00),
  lzma: null,
  bz2: (head) => startsWith(head, 0x42, 0x5a, 0x68),
  gz: (head) => startsWith(head, 0x1f, 0x8b),
  plain: null,
};

/** Whether files in this compression can be recognised by their beginning. */
export const hasMark = (compression: Compression): boolean => marks[compression] !== null;

/** The compression that the first bytes of a file indicate; undefined if they indicate none. */
export const detectCompression = (head: Uint8Array): Compression | undefined =>
  compressions.find((compression) => marks[compression]?.(head));

const packageField = Buffer.from('package:');
const lineFeed = 0x0a;

/**
 * Counts the stanzas of a Packages index as its text passes, by the lines that begin with "Package:" in any letter
 * case, and notes what else distinguishes an index from other files.
 */
export class IndexCounter {
  stanzas = 0;
  size = 0;
  /** Whether there was only white space so far. */
  blank = true;
  html = false;
  // How many characters of the field's name the current line has matched; -1 if it does not match.
  #matched = 0;

  update(chunk: Uint8Array): void {
    if (this.blank) {
      const first = firstByte(chunk);
      this.blank = first === undefined;
      this.html = first === 0x3c;
    }
    let at = 0;
    if (this.size === 0 && startsWith(chunk, 0xef, 0xbb, 0xbf)) at = 3;
    this.size += chunk.length;
    while (at < chunk.length) {
      if (this.#matched < 0) {
        const end = chunk.indexOf(lineFeed, at);
        if (end < 0) return;
        this.#matched = 0;
        at = end + 1;
        continue;
      }
      const byte = chunk[at] ?? 0;
      // A lower-case letter differs from its capital in the bit 0x20.
      if ((byte | 0x20) === packageField[this.#matched]) {
        this.#matched++;
        if (this.#matched === packageField.length) {
          this.stanzas++;
          this.#matched = -1;
        }
        at++;
      } else if (byte === lineFeed) {
        this.#matched = 0;
        at++;
      } else {
        this.#matched = -1;
      }
    }
  }
}
