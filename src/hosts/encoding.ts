// The encoding of identifiers in file names (contract, filenames) as successive replacements, for hosts that cannot
// compute: first "=", which the others introduce, then everything that becomes "=" and two digits, including "_", and
// last capitals, which introduce "_".

/** A character of ASCII in identifiers, and its form in file names. */
export interface Replacement {
  readonly character: string;
  readonly written: string;
}

const hex = (code: number): string => code.toString(16).padStart(2, '0');
const printable = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index));
const others = printable.filter((one) => !/[a-zA-Z0-9.+/-]/.test(one) && one !== '=');

/** Replacements for all characters of printable ASCII that change, except "/", in order. */
export const replacements: readonly Replacement[] = [
  ...['=', ...others].map((character) => ({ character, written: `=${hex(character.charCodeAt(0))}` })),
  ...printable
    .filter((one) => /[A-Z]/.test(one))
    .map((character) => ({ character, written: `_${character.toLowerCase()}` })),
];

/** Up to how many repetitions of one character are replaced on a host that has to count them. */
export const mostRepetitions = 8;

/** An identifier after all replacements; undefined if they cannot encode it. */
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
