/**
 * An account's name in normal form, by which it is stored and compared: without regard to letter case, surrounding
 * blanks and Unicode forms. Undefined where the text is no name: 1 to 64 letters, digits, `.`, `_`, `-`, `+` or `@`.
 */
export const normaliseAccountName = (text: string): string | undefined => {
  const name = text.normalize('NFKC').trim().toLowerCase();
  return /^[\p{Letter}\p{Mark}\p{Number}._+@-]{1,64}$/u.test(name) ? name : undefined;
};
