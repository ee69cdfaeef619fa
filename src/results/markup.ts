const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Removes halves of surrogate pairs, which no address and no document can contain. */
export const wholeCharacters = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

/** Escapes a stranger's text for character data or a quoted attribute value. */
export const escapeMarkup = (text: string): string =>
  wholeCharacters(text).replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** A text of at most that many characters, with an ellipsis if it was longer. */
export const cutText = (text: string, length: number): string => {
  if (text.length <= length) return text;
  const characters = [...text.slice(0, 2 * length + 2)];
  return characters.length <= length ? text : `${characters.slice(0, length).join('')}…`;
};
