/**
 * How many words of a search for packages count. Nobody types more, and the rest would only make an expensive query of a
 * pasted text.
 */
export const mostWords = 8;
