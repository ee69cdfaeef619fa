// Package identifiers come from strangers, slugs from whoever writes the manifest, and a file name is made of each. The
// encoding (decisions, section 1) is reversible, cannot leave its folder, and never lets two of them meet on a disk that
// ignores letter case or normalises Unicode:
//
//   a-z 0-9 . + -     themselves
//   A-Z               "_" and the lower-case letter
//   any other byte    "=" and two hexadecimal digits
//
// What does not fit one name of 255 bytes goes on in a folder: a folder's name ends with "_", which no encoded
// character does, so the parts joined give the identifier back.

const longest = 250; // 255 less ".json"
const plain = /^[a-z0-9.+-]{1,250}$/;
const utf8 = new TextEncoder();

const encodeByte = (byte: number): string => {
  const character = String.fromCharCode(byte);
  if (/[a-z0-9.+-]/.test(character)) return character;
  if (/[A-Z]/.test(character)) return `_${character.toLowerCase()}`;
  return `=${byte.toString(16).padStart(2, '0')}`;
};

/**
 * The path, below the folder of its kind and without ending, of the file for an identifier: one segment for every
 * identifier of up to 83 bytes. `text` must not be empty.
 */
export const encodeFileName = (text: string): string => {
  if (plain.test(text)) return text;
  let name = '';
  let segment = '';
  for (const byte of utf8.encode(text)) {
    const encoded = encodeByte(byte);
    if (segment.length + encoded.length > longest) {
      name += `${segment}_/`;
      segment = '';
    }
    segment += encoded;
  }
  return name + segment;
};

/**
 * The name of the folder of what belongs to a slug, beside the files of all slugs: the encoding of file names, where a
 * dot that ends the name, or stands before "json" or "html", is written "=2e". So the folder of "foo.json" is not in the
 * way of the file of "foo", the folder of "index.html" not in that of a page, and no disk drops the dot of "foo.".
 */
export const encodeFolderName = (slug: string): string => encodeFileName(slug).replaceAll(/\.(?=json|html|$)/g, '=2e');

const decodeName = (path: string, encode: (text: string) => string): string | undefined => {
  const bytes: number[] = [];
  for (const [token] of path.replaceAll('_/', '').matchAll(/_[a-z]|=[0-9a-f]{2}|[\s\S]/g)) {
    if (token.startsWith('_') && token.length === 2) bytes.push(token.toUpperCase().charCodeAt(1));
    else if (token.startsWith('=') && token.length === 3) bytes.push(Number.parseInt(token.slice(1), 16));
    else bytes.push(...utf8.encode(token));
  }
  // A byte order mark is a character of an identifier like any other.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array(bytes));
  return text !== '' && encode(text) === path ? text : undefined;
};

/** The identifier that `encodeFileName` made this path of, or undefined where it made none. */
export const decodeFileName = (path: string): string | undefined =>
  plain.test(path) ? path : decodeName(path, encodeFileName);

/** The slug that `encodeFolderName` made this name of, or undefined where it made none. */
export const decodeFolderName = (name: string): string | undefined => decodeName(name, encodeFolderName);
