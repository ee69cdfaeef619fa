/** Limits of a search text, in characters (code points) after trimming. */
export const searchLength = { minimum: 2, maximum: 256 } as const;

/**
 * How many words of a search for packages count. Nobody types more, and the rest would only make an expensive query of a
 * pasted text.
 */
export const mostWords = 8;

/** What the page says of a text of that many characters; undefined if it can be searched. */
export const lengthWords = (length: number): string | undefined => {
  const { minimum, maximum } = searchLength;
  if (length < minimum) return 'Type one more character.';
  return length > maximum ? `Type ${maximum} characters at most.` : undefined;
};
