/** Limits of a search text, in characters (code points) after trimming. */
export const searchLength = { minimum: 2, maximum: 256 } as const;

/** What the page says of a text of that many characters; undefined if it can be searched. */
export const lengthWords = (length: number): string | undefined => {
  const { minimum, maximum } = searchLength;
  if (length < minimum) return 'Type one more character.';
  return length > maximum ? `Type ${maximum} characters at most.` : undefined;
};
