import type { Chosen, FacetCounts } from '../../results/chosen-facets.ts';
import { type IndexOrder, partFile } from '../../results/file-index.ts';
import { FileIndexSearch } from '../../results/file-index-search.ts';
import type { Fit } from '../../results/meant.ts';
import type { RowCard } from '../../results/row.ts';
import { joinWords, pastedPackage, splitParts, splitWords } from '../../results/words.ts';
import { addressOf } from './address.ts';
import { readEntry } from './index-entry.ts';
import { containing, correct } from './names.ts';

// The search index among the files, which answers if there is no function.

interface OpenIndex {
  readonly index: FileIndexSearch;
  /** The text of its entry, which identifies it. */
  readonly text: string;
}

let opened: OpenIndex | undefined;

/** Opens the index that was read last; `isAnew` reads which one is there now. */
const openIndex = async (isAnew = false): Promise<OpenIndex> => {
  const { entry, text } = await readEntry(isAnew);
  if (opened?.text === text) return opened;
  const index = new FileIndexSearch(entry, async (kind, name, isAnew) => {
    const response = await fetch(addressOf(partFile(kind, name)), { cache: isAnew ? 'reload' : 'default' });
    if (!response.ok) throw new Error(`${response.status}`);
    return response.json();
  });
  opened = { index, text };
  return opened;
};

/** Loads the search, and the parts of its index for queries with this beginning. */
export const prepareFiles = async (beginning: string): Promise<void> => {
  const { index } = await openIndex();
  await index.prepare(beginning);
};

/** The order of results, besides relevance. */
export interface Ordering {
  readonly sort?: IndexOrder | 'name' | undefined;
  /** Packages for this architecture, and for all, come first. */
  readonly architecture?: string | undefined;
}

interface Question {
  /** What is looked for, or several things that may be meant, the best first. */
  readonly texts: readonly string[];
  readonly chosen: Chosen;
  readonly order: Ordering;
}

/** The answer of the files. */
export interface FileAnswer {
  readonly total: number;
  readonly fit: Fit;
  readonly read: (from: number, to: number) => Promise<readonly RowCard[]>;
  readonly count: () => Promise<FacetCounts>;
}

const askIndex = async (
  { index }: OpenIndex,
  { texts, chosen, order: { sort, architecture } }: Question,
): Promise<FileAnswer> => {
  const [first = [], ...others] = await Promise.all(texts.map((text) => index.find(text)));
  // Of each the best before the rest of any.
  const best = others.flatMap((numbers) => numbers.slice(0, 1));
  const found = others.length === 0 ? first : [...new Set([...first.slice(0, 1), ...best, ...first, ...others.flat()])];
  const narrowed = await index.filter(found, chosen);
  const sorted =
    sort === undefined
      ? narrowed
      : sort === 'name'
        ? [...narrowed].sort((a, b) => a - b)
        : await index.sort(narrowed, sort);
  const isOpen = architecture !== undefined && chosen.architecture === undefined;
  const fitting = new Set(isOpen ? await index.filter(sorted, { architecture }) : []);
  const numbers = fitting.size === 0 ? sorted : [...fitting, ...sorted.filter((one) => !fitting.has(one))];
  return {
    total: numbers.length,
    fit: { kind: 'asked' },
    read: (from, to) => index.rows(numbers.slice(from, to)),
    count: () => index.count(found, chosen),
  };
};

/** Answers a question from an index. */
type Way = (open: OpenIndex, question: Question) => Promise<FileAnswer>;

/** Answers, and answers again if another index has replaced the one that was asked, whose files are then gone. */
const answer = async (index: OpenIndex, question: Question, way: Way): Promise<FileAnswer> => {
  const orAnew = async <T>(answered: Promise<T>, renew: (now: OpenIndex) => Promise<T>): Promise<T> => {
    try {
      return await answered;
    } catch (error) {
      const now = await openIndex(true);
      if (now !== index) return renew(now);
      throw error;
    }
  };
  const renewed = (now: OpenIndex) => way(now, question);
  const { read, count, ...found } = await orAnew(renewed(index), renewed);
  return {
    ...found,
    read: (from, to) => orAnew(read(from, to), async (now) => (await renewed(now)).read(from, to)),
    count: () => orAnew(count(), async (now) => (await renewed(now)).count()),
  };
};

/**
 * Asks. If nothing was found, this checks that there is no other index, and that the host answers.
 *
 * @throws Error if it does not
 */
const ask = async (question: Question): Promise<FileAnswer> => {
  const index = await openIndex();
  const answered = await answer(index, question, askIndex);
  if (answered.total > 0) return answered;
  const now = await openIndex(true);
  return now === index ? answered : answer(now, question, askIndex);
};

/**
 * The results for the query without one of its parts: of the variants, one that equals a name, or else the one with the
 * fewest results. Those for all of it if there are none.
 */
const askInPart: Way = async (open, question) => {
  const [text = ''] = question.texts;
  const parts = splitParts(text);
  const rests = parts
    .map((part) => parts.filter((other) => other !== part).flat())
    .filter((words) => words.some((word) => word.length > 1));
  const found = await Promise.all(
    rests.map(async (words) => {
      const answered = await askIndex(open, { ...question, texts: [words.join(' ')] });
      const [first] = await answered.read(0, 1);
      return { answered, isName: first !== undefined && joinWords(first.name) === words.join('') };
    }),
  );
  const [best] = found
    .filter(({ answered }) => answered.total > 0)
    .sort((a, b) => Number(b.isName) - Number(a.isName) || a.answered.total - b.answered.total);
  return best === undefined ? askIndex(open, question) : { ...best.answered, fit: { kind: 'part' } };
};

/**
 * Searches the files. Without words it lists everything that passes the filters. If nothing matches, one typing mistake
 * in a name is forgiven; then a single word may be inside another, and one of several may be too many.
 */
export const searchFiles = async (typed: string, chosen: Chosen, order: Ordering = {}): Promise<FileAnswer> => {
  const text = pastedPackage(typed) ?? typed;
  const question = { chosen, order };
  const asked = await ask({ ...question, texts: [text] });
  if (asked.total > 0) return asked;
  const spelt = await correct(text).catch(() => []);
  if (spelt.length > 0) {
    const corrected = await ask({ ...question, texts: spelt });
    if (corrected.total > 0) {
      const [first] = await corrected.read(0, 1);
      const name = first?.name ?? '';
      const isName = spelt.some((one) => joinWords(one) === joinWords(name));
      return { ...corrected, fit: { kind: 'corrected', meant: isName ? name : (spelt[0] as string) } };
    }
  }
  const [word = '', ...more] = splitWords(text);
  if (more.length > 0) return answer(await openIndex(), { ...question, texts: [text] }, askInPart);
  const around = await containing(word).catch(() => []);
  return around.length > 0 ? ask({ ...question, texts: around }) : asked;
};
