// The encoding of identifiers in names of files (contract, filenames) as replacements, one after the other, for hosts that
// cannot compute: first "=", which the others write, then what else is written as "=" and two digits, "_" among it, and
// last capitals, which are written with "_".

/** What stands in identifiers for one character of ASCII, and what in the names of files. */
export interface Replacement {
  readonly character: string;
  readonly written: string;
}

const hex = (code: number): string => code.toString(16).padStart(2, '0');
const printable = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index));
const others = printable.filter((one) => !/[a-zA-Z0-9.+/-]/.test(one) && one !== '=');

/** Replacements of every character of printable ASCII that is not written as itself, "/" left out, in their order. */
export const replacements: readonly Replacement[] = [
  ...['=', ...others].map((character) => ({ character, written: `=${hex(character.charCodeAt(0))}` })),
  ...printable
    .filter((one) => /[A-Z]/.test(one))
    .map((character) => ({ character, written: `_${character.toLowerCase()}` })),
];

/** Repetitions of one character in an identifier that the replacements of a host that counts them go up to. */
export const mostRepetitions = 8;

/** What the replacements make of an identifier; undefined where they do not reach. */
export const replaceAll = (name: string): string | undefined => {
  if (/[^\x20-\x2e\x30-\x7e]/.test(name)) return undefined;
  let text = name;
  for (const { character, written } of replacements) {
    const parts = text.split(character);
    if (parts.length - 1 > mostRepetitions) return undefined;
    text = parts.join(written);
  }
  return text;
};
