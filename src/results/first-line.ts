/** The first line of a description, cut at a word to at most `length` characters. */
export const firstLine = (text: string | null, length = 160): string => {
  const line = (text ?? '').split('\n', 1)[0]?.trim() ?? '';
  // No text has more characters than units.
  if (line.length <= length) return line;
  const characters = [...line];
  if (characters.length <= length) return line;
  const cut = characters.slice(0, length).join('');
  const word = cut.lastIndexOf(' ');
  return `${word > length / 2 ? cut.slice(0, word) : cut}…`;
};
