const word = /\p{Lu}?\p{M}*[\p{Ll}\p{Lo}\p{N}][\p{Ll}\p{Lo}\p{M}\p{N}]*(?:['’]s\b)?|\p{Lu}+(?!\p{Ll})|\p{L}/gu;
// Scripts in which one character is a word, and two would fill a tile to its edges.
const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/**
 * One or two letters that stand for a name: the first letters of its first two words ("SnowBoard" has two), or two of
 * its only word; "#" if it has none.
 */
export const lettersOf = (name: string): string => {
  const [first, second] = name.normalize('NFC').slice(0, 200).matchAll(word);
  const [start, next = ''] = first?.[0] ?? '';
  if (start === undefined) return '#';
  if (wide.test(start)) return start;
  const [other] = second?.[0] ?? '';
  if (other !== undefined && !wide.test(other)) return (start + other).toUpperCase();
  return start.toUpperCase() + next.toLowerCase();
};
