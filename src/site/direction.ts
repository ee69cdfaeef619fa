const turns = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * A title without the characters that embed, override or isolate a direction (Unicode Standard Annex 9, sections 2.1,
 * 2.2 and 2.4). Pages isolate names of strangers by elements. Where text is all there is, as in feeds and titles, such a
 * character in a name would also turn around what we say after it, such as a warning. Letters keep their direction.
 */
export const withoutTurns = (title: string): string => title.replace(turns, '');
