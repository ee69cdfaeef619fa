const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text without halves of characters, which no address and no document can hold. */
export const wholeCharacters = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

/** Text of a stranger as character data or as an attribute's value in quotation marks. */
export const escapeMarkup = (text: string): string =>
  wholeCharacters(text).replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** Text of at most so many characters, with an ellipsis where it was longer. */
export const cutText = (text: string, length: number): string => {
  if (text.length <= length) return text;
  const characters = [...text.slice(0, 2 * length + 2)];
  return characters.length <= length ? text : `${characters.slice(0, length).join('')}…`;
};
