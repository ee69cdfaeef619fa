import type { SearchedRecord } from './bench-records.ts';
import { mistakes, withMistake, wordsOf } from './questions.ts';
import { shuffle } from './statistics.ts';

/** A kind of question that somebody asks who looks for a certain package. */
export interface QuestionKind {
  readonly name: string;
  /** The question for a package; undefined if no question of this kind fits it. */
  compose(record: SearchedRecord, random: () => number): string | undefined;
  /** Whether the score of few questions depends on which names and mistakes were drawn. */
  readonly isDrawn?: boolean;
  /** If a question fits several packages as well as the one that it was made from: whether it fits this one. */
  fits?(record: SearchedRecord, question: string, target: SearchedRecord): boolean;
  /**
   * The lowest acceptable mean reciprocal rank on the corpus and on the large index, as a share of what is attainable.
   */
  readonly targets?: readonly [corpus: number, large: number];
}

const lastSegment = (identifier: string): string => identifier.split('.').at(-1) ?? '';

const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}+/gu, '');

/** The words of a name, also divided where a small letter is followed by a capital. */
const partsOf = (name: string): string[] =>
  name.split(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u).flatMap(wordsOf);

const beginning = (length: number, targets: readonly [number, number]): QuestionKind => ({
  name: `first ${length} letters of the name`,
  fits: ({ name }, question) => name.slice(0, length).toLowerCase() === question,
  targets,
  compose: ({ name }) => {
    const letters = name.slice(0, length).toLowerCase();
    return name.length > length && /^[\p{L}\p{N}]+$/u.test(letters) ? letters : undefined;
  },
});

const mistaken = (kind: string, name: string): QuestionKind => ({
  name,
  isDrawn: true,
  targets: [0.98, 0.98],
  compose: (record, random) => withMistake(record.name, kind, random),
});

const mistakeNames: Readonly<Record<string, string>> = {
  missing: 'one letter missing',
  transposed: 'two letters transposed',
  replaced: 'one letter replaced',
  doubled: 'one letter doubled',
};

const pick = <T>(list: readonly T[], random: () => number): T | undefined => list[Math.floor(random() * list.length)];

const withoutAddress = (person: string | null): string => person?.replace(/<[^>]*>/g, '').trim() ?? '';

/** A question with a person's name and a word from the name of one of their packages. */
const personAndWord = (person: string | null, name: string, random: () => number): string | undefined => {
  const word = pick(
    wordsOf(name).filter((each) => each.length > 2),
    random,
  );
  const known = withoutAddress(person);
  return word === undefined || known === '' ? undefined : `${known} ${word}`;
};

const lastWord = (question: string): string => question.slice(question.lastIndexOf(' ') + 1);

const shortestInside = 4;

// Words that people add to the name they look for, but that are not part of a name.
const needless = ['tweak', 'download', 'latest', 'free', 'install', 'working', 'package', 'qvxkz'];

/** Every kind of question whose answers are judged. */
export const questionKinds: readonly QuestionKind[] = [
  { name: 'full name', targets: [0.99, 0.99], compose: ({ name }) => name },
  { name: 'full identifier', targets: [1, 1], compose: ({ identifier }) => identifier },
  {
    name: 'last segment of the identifier',
    targets: [0.99, 0.8],
    fits: ({ identifier }, question) => lastSegment(identifier) === question,
    compose: ({ identifier }) => {
      const segment = lastSegment(identifier);
      // Nobody asks for a package by a number or a single letter.
      return segment !== identifier && /^\p{L}.{2}/u.test(segment) ? segment : undefined;
    },
  },
  beginning(3, [0.97, 0.95]),
  beginning(4, [0.97, 0.95]),
  beginning(5, [0.97, 0.95]),
  {
    name: 'words swapped',
    compose: ({ name }) => {
      const words = wordsOf(name);
      return words.length < 2 ? undefined : [...words.slice(1), words[0]].join(' ');
    },
  },
  {
    name: 'author and one word',
    fits: ({ name, author }, question, target) =>
      author === target.author && wordsOf(name).includes(lastWord(question)),
    compose: ({ name, author }, random) => personAndWord(author, name, random),
  },
  {
    name: 'maintainer and one word, of what has no author',
    targets: [0.86, 0.86],
    fits: ({ name, author, maintainer }, question, target) =>
      author === null && maintainer === target.maintainer && wordsOf(name).includes(lastWord(question)),
    compose: ({ name, author, maintainer }, random) =>
      author === null ? personAndWord(maintainer, name, random) : undefined,
  },
  {
    name: 'end of a word',
    targets: [0.88, 0.88],
    fits: ({ name }, question) => name.toLowerCase().includes(question),
    compose: ({ name }, random) => {
      const word = pick(
        wordsOf(name).filter((each) => each.length > shortestInside && /^\p{L}+$/u.test(each)),
        random,
      );
      if (word === undefined) return undefined;
      return word.slice(1 + Math.floor(random() * Math.min(3, word.length - shortestInside)));
    },
  },
  {
    name: 'one word too many',
    targets: [0.95, 0.95],
    compose: ({ name, identifier, author, maintainer, description }, random) => {
      const word = pick(needless, random) ?? '';
      const texts = [name, identifier, author, maintainer, description].join(' ').toLowerCase();
      if (texts.includes(word)) return undefined;
      return random() < 0.5 ? `${name} ${word}` : `${word} ${name}`;
    },
  },
  {
    name: 'three words of the description',
    targets: [0.85, 0.85],
    // Packages from one source often share a description.
    fits: ({ description }, _, target) => description === target.description,
    compose: ({ description }, random) => {
      const words = new Set(wordsOf(description ?? '').filter((word) => word.length > 3));
      return words.size < 3
        ? undefined
        : shuffle([...words], random)
            .slice(0, 3)
            .join(' ');
    },
  },
  {
    name: 'inside Chinese and Japanese text',
    targets: [0.94, 0.94],
    fits: ({ name, description }, question) => `${name} ${description ?? ''}`.includes(question),
    compose: ({ name, description }, random) => {
      const runs = `${name} ${description ?? ''}`.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{4,}/gu);
      const run = [...(pick(runs ?? [], random) ?? '')];
      if (run.length === 0) return undefined;
      const start = Math.floor(random() * (run.length - 3));
      return run.slice(start, start + 4).join('');
    },
  },
  ...Object.keys(mistakes).map((kind) => mistaken(kind, mistakeNames[kind] ?? kind)),
  {
    name: 'words joined',
    targets: [0.98, 0.98],
    compose: ({ name }) => {
      const words = wordsOf(name);
      return words.length < 2 ? undefined : words.join('');
    },
  },
  {
    name: 'words split',
    targets: [0.98, 0.98],
    compose: ({ name }) => {
      const parts = partsOf(name);
      return parts.length < 2 ? undefined : parts.join(' ');
    },
  },
  {
    name: 'upper case',
    targets: [1, 1],
    compose: ({ name }) => (name === name.toUpperCase() ? undefined : name.toUpperCase()),
  },
  {
    name: 'without diacritics',
    targets: [1, 1],
    compose: ({ name }) => (plain(name) === name ? undefined : plain(name)),
  },
];
