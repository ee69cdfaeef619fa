import { createRandom, shuffle } from './statistics.ts';

// Relations and names are altered in the same way, so that a package that depends on one of its own index still does.
const nameFields = new Set([
  ...['package', 'source', 'depends', 'pre-depends', 'recommends', 'suggests', 'enhances', 'breaks', 'conflicts'],
  ...['replaces', 'provides', 'built-using', 'static-built-using'],
]);
// Values that have to stay the same so that the index is read in the same way.
const keptFields = new Set([
  ...['architecture', 'size', 'installed-size', 'section', 'priority', 'multi-arch', 'essential', 'important'],
]);
const hashFields = new Set(['md5sum', 'sha1', 'sha256', 'sha512', 'description-md5']);

const vowels = 'aeiou';
const consonants = 'bcdfghjklmnpqrstvwxyz';
const digits = '0123456789';
const hexDigits = '0123456789abcdef';

const identity = (): Uint8Array => Uint8Array.from({ length: 256 }, (_, byte) => byte);

/** Maps these letters to a permutation of them. */
const permute = (table: Uint8Array, letters: string, random: () => number): void => {
  const others = shuffle([...letters], random);
  for (const [index, letter] of [...letters].entries()) {
    const other = others[index] ?? letter;
    table[letter.charCodeAt(0)] = other.charCodeAt(0);
    // In hashes, which have no capitals, a digit may be replaced with a letter.
    if (letters !== hexDigits) table[letter.toUpperCase().charCodeAt(0)] = other.toUpperCase().charCodeAt(0);
  }
};

interface Alteration {
  readonly text: Uint8Array;
  readonly hex: Uint8Array;
  /**
   * A letter that is added to the first run of letters of each name; different in each copy, so that no two copies
   * share a name.
   */
  readonly mark: number;
}

const marks = 'bcdfghjklmnpqrstvwxz';

const alterationOf = (copy: number): Alteration => {
  const random = createRandom(copy + 1);
  const [text, hex] = [identity(), identity()];
  permute(text, vowels, random);
  permute(text, consonants, random);
  permute(text, digits, random);
  permute(hex, hexDigits, random);
  return { text, hex, mark: marks.charCodeAt(copy) };
};

const codeOf = (letter: string): number => letter.charCodeAt(0);
const isLetter = (byte: number): boolean => byte >= codeOf('a') && byte <= codeOf('z');
const isNameByte = (byte: number): boolean => isLetter(byte) || (byte >= codeOf('0') && byte <= codeOf('9'));
const isBetweenNames = (byte: number): boolean => byte === codeOf(',') || byte === codeOf('|');

/** Writes the altered text of an index. */
class Altering {
  readonly #index: Uint8Array;
  readonly #alteration: Alteration;
  // Long enough: a name grows by its mark, and no text consists only of names.
  readonly #altered: Buffer;
  #length = 0;
  #field = '';

  constructor(index: Uint8Array, alteration: Alteration) {
    this.#index = index;
    this.#alteration = alteration;
    this.#altered = Buffer.allocUnsafe(index.length * 2 + 2);
  }

  run(): Buffer {
    const index = Buffer.from(this.#index.buffer, this.#index.byteOffset, this.#index.length);
    for (let at = 0; at < index.length; ) {
      const found = index.indexOf(codeOf('\n'), at);
      const end = found < 0 ? index.length : found;
      this.#writeLine(index, at, end);
      if (found >= 0) this.#put(codeOf('\n'));
      at = end + 1;
    }
    return this.#altered.subarray(0, this.#length);
  }

  #writeLine(index: Buffer, begin: number, end: number): void {
    let at = begin;
    if (end > begin && index[begin] !== codeOf(' ')) {
      const colon = index.subarray(begin, end).indexOf(codeOf(':'));
      at = colon < 0 ? end : begin + colon + 1;
      this.#field = index.toString('latin1', begin, at - 1).toLowerCase();
      if (this.#field === 'homepage') at = Math.max(at, index.subarray(0, end).indexOf('://', at) + 3);
      this.#keep(begin, at);
    }
    const { text, hex } = this.#alteration;
    if (keptFields.has(this.#field)) this.#keep(at, end);
    else if (nameFields.has(this.#field)) this.#writeNames(at, end);
    else this.#map(at, end, hashFields.has(this.#field) ? hex : text);
  }

  #put(byte: number): void {
    this.#altered[this.#length++] = byte;
  }

  #keep(at: number, end: number): void {
    for (let next = at; next < end; next++) this.#put(this.#index[next] ?? 0);
  }

  #map(at: number, end: number, table: Uint8Array): void {
    for (let next = at; next < end; next++) this.#put(table[this.#index[next] ?? 0] ?? 0);
  }

  // As in `libc6:any (>= 2.36), perl | awk`: the mark follows the first run of letters of each name.
  #writeNames(begin: number, end: number): void {
    const { text, mark } = this.#alteration;
    let place: 'before' | 'in' | 'after' | 'architecture' = 'before';
    for (let at = begin; at <= end; at++) {
      const byte = at < end ? (this.#index[at] ?? 0) : codeOf(',');
      if (place === 'in' && !isNameByte(byte)) {
        this.#put(mark);
        place = 'after';
      }
      if (at === end) return;
      if (isBetweenNames(byte)) place = 'before';
      else if (place === 'before' && isNameByte(byte)) place = 'in';
      else if (place === 'after' && byte === codeOf(':')) place = 'architecture';
      else if (place === 'architecture' && !isLetter(byte)) place = 'after';
      this.#put(place === 'architecture' ? byte : (text[byte] ?? 0));
    }
  }
}

/**
 * The text of a Packages index in which every name, version, person, description and hash is replaced, in the same way
 * each time. Lengths, spellings, relations and order stay: a vowel replaces a vowel, a consonant a consonant, a digit a
 * digit. `copy` counts from 0; no two copies share a name.
 *
 * @throws RangeError if there cannot be so many copies
 */
export const alterIndex = (index: Uint8Array, copy: number): Buffer => {
  if (copy < 0 || copy >= marks.length) throw new RangeError(`There are ${marks.length} copies and no copy ${copy}.`);
  return new Altering(index, alterationOf(copy)).run();
};
