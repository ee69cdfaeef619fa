/** A random number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

/** The values at certain shares of a population, in ascending order. Between two of them it is linear. */
export type Distribution = readonly (readonly [share: number, value: number])[];

/** A random value of this distribution. */
export const draw = (distribution: Distribution, random: Random): number => {
  const at = random();
  const above = distribution.findIndex(([share]) => share > at);
  const [from, to] = [distribution[above - 1], distribution[above]];
  if (from === undefined || to === undefined) return distribution.at(-1)?.[1] ?? 0;
  return from[1] + ((at - from[0]) / (to[0] - from[0])) * (to[1] - from[1]);
};

const onsets = [
  'b',
  'c',
  'd',
  'f',
  'g',
  'k',
  'l',
  'm',
  'n',
  'p',
  'r',
  's',
  't',
  'v',
  'st',
  'tr',
  'pl',
  'br',
  'ch',
  'sn',
];
const middles = ['a', 'e', 'i', 'o', 'u', 'ai', 'ou', 'ee'];
const ends = ['', '', 'n', 'r', 's', 'l', 't', 'ck', 'm', 'x'];

const syllable = (number: number): string =>
  (onsets[number % onsets.length] ?? '') +
  (middles[Math.floor(number / onsets.length) % middles.length] ?? '') +
  (ends[Math.floor(number / (onsets.length * middles.length)) % ends.length] ?? '');

const syllables = onsets.length * middles.length * ends.length;
const vocabulary = 20_000;

// First words of one syllable, then of two: as in natural languages, the most frequent words are the shortest.
const wordOf = (rank: number): string => {
  const scattered = (rank * 7919) % syllables;
  return rank < syllables ? syllable(scattered) : syllable(scattered) + syllable((rank * 104_729) % syllables);
};

const all: string[] = [];

/** Words of an invented language: a few are frequent, most are rare. */
export const words = {
  one(random: Random): string {
    if (all.length === 0) for (let rank = 0; rank < vocabulary; rank++) all.push(wordOf(rank));
    // The share of the first n words grows with the logarithm of n (Zipf).
    return all[Math.floor(vocabulary ** random()) - 1] ?? '';
  },

  /** At least this many letters, in lines of which all except the first are continuations. */
  text(letters: number, random: Random): string {
    let text = '';
    let line = 0;
    while (text.length < letters) {
      const word = words.one(random);
      const isFull = line + word.length > 76;
      line = isFull ? word.length : line + word.length + 1;
      text += isFull ? `\n ${word}` : text === '' ? word : ` ${word}`;
    }
    return text;
  },
};
