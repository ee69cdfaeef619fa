// Strangers choose package identifiers, and the authors of manifests choose slugs; a file name is made of each. The
// encoding (decisions, section 1) is reversible, cannot leave its folder, and never gives two of them the same file on
// a disk that ignores letter case or normalises Unicode:
//
//   a-z 0-9 . + -     themselves
//   A-Z               "_" and the lower-case letter
//   any other byte    "=" and two hexadecimal digits
//
// An identifier that does not fit into one name of 255 bytes continues in a folder. The folder's name ends with "_",
// which no encoded character does, so the joined parts give the identifier.

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
 * The path for an identifier, below the folder of its kind and without ending: one segment for every identifier of up
 * to 83 bytes. `text` must not be empty.
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
 * The name of a slug's folder, beside the files of all slugs: encoded like a file name, except that a dot at the end,
 * or before "json" or "html", becomes "=2e". So the folder of "foo.json" does not collide with the file of "foo", nor
 * the folder of "index.html" with that of a page, and no disk drops the dot of "foo.".
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

/** The identifier for which `encodeFileName` gives this path; undefined if there is none. */
export const decodeFileName = (path: string): string | undefined =>
  plain.test(path) ? path : decodeName(path, encodeFileName);

/** The slug for which `encodeFolderName` gives this name; undefined if there is none. */
export const decodeFolderName = (name: string): string | undefined => decodeName(name, encodeFolderName);
