/** As one word of a POSIX shell, whatever is in it; what a terminal takes for orders is left out. */
const quoteForShell = (text: string): string =>
  `'${text.replaceAll(/\p{Cc}/gu, ' ').replaceAll("'", String.raw`'\''`)}'`;

/** The same, without quotes where it needs none: for commands that people are to read and to copy. */
export const shellWord = (text: string): string => (/^[\w:/.%~+@-]+$/.test(text) ? text : quoteForShell(text));
