/** Limits of a search text, in characters (code points) after trimming. */
export const searchLength = { minimum: 2, maximum: 256 } as const;
