/**
 * The normal form of an account name, in which it is stored and compared: without regard to letter case, surrounding
 * blanks and Unicode forms. Undefined if the text is no name: 1 to 64 letters, digits, `.`, `_`, `-`, `+` or `@`, all
 * of them visible (Unicode defines some letters and marks as blank: "Default_Ignorable_Code_Point").
 */
export const normaliseAccountName = (text: string): string | undefined => {
  const name = text.normalize('NFKC').trim().toLowerCase();
  const isName = /^[\p{Letter}\p{Mark}\p{Number}._+@-]{1,64}$/u.test(name);
  return isName && !/\p{Default_Ignorable_Code_Point}/u.test(name) ? name : undefined;
};

// Scripts in everyday use (Unicode Standard Annex 31, table 5). Japanese, Chinese and Korean each combine several.
const scripts = [
  ...['Arabic', 'Armenian', 'Bengali', 'Cyrillic', 'Devanagari', 'Ethiopic', 'Georgian', 'Greek', 'Gujarati'],
  ...['Gurmukhi', 'Hebrew', 'Kannada', 'Khmer', 'Lao', 'Latin', 'Malayalam', 'Myanmar', 'Oriya', 'Sinhala', 'Tamil'],
  ...['Telugu', 'Thaana', 'Thai', 'Tibetan'],
];
const together = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
];
// Made for the one command that asks: a Worker, which reads names too, would make them at each start and carry their list.
const makeWritings = () =>
  [...scripts.map((script) => [script]), ...together].map((names) => {
    const letters = [...names, 'Common', 'Inherited'].map((script) => `\\p{Script_Extensions=${script}}`).join('');
    return new RegExp(`^[${letters}]*$`, 'u');
  });

/**
 * Whether a name uses one script, or scripts that one language combines, so that no letter imitates one of another
 * script (Unicode Technical Standard 39, section 5.2, "Highly Restrictive").
 */
export const isOneScript = (name: string): boolean => makeWritings().some((writing) => writing.test(name));
