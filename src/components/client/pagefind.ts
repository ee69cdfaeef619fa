import { buildOf } from '../../compatibility/builds.ts';
import type { PackageState } from '../../contract/package-states.ts';
import { type Chosen, type FacetCounts, type FacetName, facetNames } from '../../results/chosen-facets.ts';
import type { FoundPackage } from '../../results/found.ts';
import type { Fit } from '../../results/meant.ts';
import { readCard, readSummary } from '../../results/search-content.ts';
import { joinWords, pastedPackage, splitParts, splitWords } from '../../results/words.ts';
import { addressOf } from './address.ts';
import { correct } from './names.ts';
import { entryFile, visit } from './pagefind-files.ts';

// The index that is among the files, which answers where nothing but files is there: Pagefind.

/** What it holds about a package. */
interface Fragment {
  readonly content: string;
  /** As it was given to Pagefind. */
  readonly raw_url: string;
  readonly meta: { readonly title: string; readonly id: string };
  readonly filters: Readonly<Record<string, readonly string[]>>;
}

type Filters = Readonly<Record<string, string | { readonly any: readonly string[] }>>;
type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;
export type Order = Readonly<Record<string, 'asc' | 'desc'>>;

interface Answer {
  readonly results: readonly { readonly id: string; readonly data: () => Promise<Fragment> }[];
  readonly filters: Counts;
}

interface Pagefind {
  init(): Promise<void>;
  filters(): Promise<Counts>;
  preload(text: string): Promise<void>;
  search(text: string | null, query: { readonly filters?: Filters; readonly sort?: Order }): Promise<Answer>;
}

interface PagefindScript {
  createInstance(options: object): Pagefind;
}

/** The index that answers, and its entry, which another index has another of. */
interface OpenIndex {
  readonly pagefind: Pagefind;
  readonly entry: string;
}

const readEntry = async (tag: string, cache: RequestCache = 'default'): Promise<string> => {
  const response = await fetch(addressOf(entryFile(tag)), { cache });
  if (!response.ok) throw new Error(`${response.status}`);
  return response.text();
};

let loading: Promise<OpenIndex> | undefined;
// The first one is asked for before there is anything to load it for; later ones are not to come out of a cache.
let tag = visit;

const load = async (): Promise<OpenIndex> => {
  const { createInstance } = (await import(/* @vite-ignore */ addressOf('pagefind/pagefind.js'))) as PagefindScript;
  const pagefind = createInstance({
    metaCacheTag: tag,
    // What the addresses of its results begin with; they are kept as from the root of a host.
    baseUrl: addressOf(''),
    excerptLength: 0,
    // A worker would be one more script to load before the first answer; searching takes a few milliseconds.
    noWorker: true,
    // What matters is where a word stands, in the name or elsewhere, not how long a description goes on.
    ranking: {
      termSimilarity: 12,
      pageLength: 0,
      termFrequency: 0,
      termSaturation: 0.5,
      metaWeights: { title: 12, id: 4 },
    },
  });
  await pagefind.init();
  // It has just been read for that.
  return { pagefind, entry: await readEntry(tag, 'force-cache') };
};

/** Loads the search, on the first call only; a later call tries again where that failed. */
const openIndex = (): Promise<OpenIndex> => {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    tag = String(Date.now());
    throw error;
  });
  return loading;
};

/**
 * Whether another index answers now: a build may have put it in the place of this one, whose files are gone then. The
 * next question goes to the other.
 *
 * @throws Error where the host does not answer
 */
const isReplaced = async ({ entry }: OpenIndex): Promise<boolean> => {
  const asked = loading;
  const now = String(Date.now());
  const present = await readEntry(now);
  if (loading === asked && (await asked)?.entry !== present) {
    loading = undefined;
    tag = now;
  }
  return present !== entry;
};

/** Loads the search, and of its index what answers questions that begin so. */
export const preparePagefind = async (beginning: string): Promise<void> => {
  const { pagefind } = await openIndex();
  if (beginning !== '') await pagefind.preload(beginning);
};

// How close a name is to the question, the closest first.
const distance = (question: string, { meta }: Fragment): number => {
  const name = meta.title.toLowerCase();
  if (name === question || meta.id.toLowerCase() === question) return 0;
  if (name.startsWith(question)) return 1;
  return name.includes(` ${question}`) ? 2 : 3;
};

// Pagefind weighs words; among its best the name that is or begins with the question comes first, short ones leading.
const byCloseness = (question: string, found: readonly Fragment[]): Fragment[] =>
  found
    .map((one) => ({ one, rank: distance(question, one), length: one.meta.title.length }))
    .sort((a, b) => a.rank - b.rank || (a.rank < 3 ? a.length - b.length : 0))
    .map(({ one }) => one);

const toPackage = ({ raw_url, meta, filters, content }: Fragment): FoundPackage => {
  const { icon, ...card } = readCard(raw_url);
  return {
    ...card,
    id: meta.id,
    name: meta.title,
    summary: readSummary(content),
    icon: icon !== undefined && /^https?:\/\//.test(icon) ? icon : undefined,
    repositories: filters.repository ?? [],
    kinds: [card.kind],
    states: (filters.state ?? []) as readonly PackageState[],
    prices: [card.paid ? 'paid' : 'free'],
    said: content,
  };
};

// Pagefind shortens a word that finds nothing until it finds something, which is then something else: "zzzzqq" finds all
// that begins with "z". It says nothing of it, but what it found holds no such word. Where it shortened none, all it found
// holds all of them; half are enough to tell, as it may fold some letters otherwise than we do.
const isShortened = (text: string, head: readonly Fragment[]): boolean => {
  const words = splitWords(text);
  const holding = head.filter(({ content, meta }) => {
    const said = joinWords(`${meta.title} ${content}`);
    return words.every((word) => said.includes(word));
  });
  return holding.length * 2 < head.length;
};

const filtersOf = (chosen: Chosen, without?: FacetName): Filters =>
  Object.fromEntries(
    facetNames.flatMap((name) => {
      const value = chosen[name];
      if (value === undefined || name === without) return [];
      // What is for all architectures is for this one too; of devices the index names each that it is for.
      const isForAll = name === 'architecture' && buildOf(value) === undefined;
      return [[name, isForAll ? { any: [value, 'all'] } : value]];
    }),
  );

/** What the files answer. */
export interface FileAnswer {
  readonly total: number;
  readonly fit: Fit;
  readonly read: (from: number, to: number) => Promise<readonly FoundPackage[]>;
  readonly count: () => Promise<FacetCounts>;
}

const none: FileAnswer = {
  total: 0,
  fit: { kind: 'asked' },
  read: async () => [],
  count: async () => Object.fromEntries(facetNames.map((name) => [name, new Map()])) as never,
};

const countFacets = async (pagefind: Pagefind, text: string | null, chosen: Chosen): Promise<FacetCounts> => {
  await pagefind.filters();
  const counted = async (name: FacetName) => {
    const { filters } = await pagefind.search(text, { filters: filtersOf(chosen, name) });
    return [name, new Map(Object.entries(filters[name] ?? {}).filter(([, count]) => count > 0))] as const;
  };
  return Object.fromEntries(await Promise.all(facetNames.map(counted))) as Record<FacetName, Map<string, number>>;
};

/** How results are put in order, besides by how they fit. */
export interface Ordering {
  readonly sort?: Order | undefined;
  /** What is for this architecture comes first, and what is for all. */
  readonly architecture?: string | undefined;
}

interface Question {
  readonly text: string;
  readonly headLength: number;
  readonly chosen: Chosen;
  readonly order: Ordering;
}

const askIndex = async (
  { pagefind }: OpenIndex,
  { text, headLength, chosen, order: { sort, architecture } }: Question,
): Promise<FileAnswer> => {
  const question = text === '' ? null : text;
  const find = async (narrowed: Chosen) => {
    const filters = filtersOf(narrowed);
    return (await pagefind.search(question, { filters, ...(sort === undefined ? {} : { sort }) })).results;
  };
  const isOpen = architecture !== undefined && chosen.architecture === undefined;
  const fitting = isOpen ? await find({ ...chosen, architecture }) : [];
  const isFitting = new Set(fitting.map(({ id }) => id));
  const results = [...fitting, ...(await find(chosen)).filter(({ id }) => !isFitting.has(id))];
  const head = await Promise.all(results.slice(0, headLength).map((result) => result.data()));
  if (question !== null && head.length > 0 && isShortened(text, head)) return none;
  const first = question === null || sort !== undefined ? head : byCloseness(text.toLowerCase(), head);
  return {
    total: results.length,
    fit: { kind: 'asked' },
    read: async (from, to) => {
      const rest = results.slice(Math.max(from, headLength), to).map((result) => result.data());
      return [...first.slice(from, to), ...(await Promise.all(rest))].map(toPackage);
    },
    count: () => countFacets(pagefind, question, chosen),
  };
};

/**
 * Asks, and asks anew where another index has taken the place of the one that was asked. Pagefind passes over what it
 * cannot load of its index, and finds nothing there: so where nothing was found it is made sure that the host answers.
 *
 * @throws Error where it does not
 */
const ask = async (question: Question): Promise<FileAnswer> => {
  const index = await openIndex();
  const again = async () => askIndex(await openIndex(), question);
  const orAgain = async <T>(answer: Promise<T>, renew: () => Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      if (await isReplaced(index)) return renew();
      throw error;
    }
  };
  const answer = await orAgain(askIndex(index, question), again);
  if (answer.total === 0) return (await isReplaced(index)) ? again() : answer;
  const read = (from: number, to: number) => orAgain(answer.read(from, to), async () => (await again()).read(from, to));
  return { ...answer, read };
};

/** A question as Pagefind takes it apart: to it "_" is a letter, and letters of full width are others. */
const plain = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();

/** So many results of each rest of a question are read to tell whether it is found. */
const probed = 3;

/** What all that was typed but one thing finds: of these rests the one that something is called, else which finds least. */
const askInPart = async ({ text, ...question }: Question): Promise<FileAnswer | undefined> => {
  const parts = splitParts(text);
  const rests = parts
    .map((part) => parts.filter((other) => other !== part).flat())
    .filter((words) => words.some((word) => word.length > 1));
  const index = await openIndex();
  const found = await Promise.all(
    rests.map(async (words) => {
      const rest = words.join(' ');
      const { total, read } = await askIndex(index, { ...question, text: rest, headLength: probed });
      const [first] = await read(0, 1);
      return { rest, total, isName: first !== undefined && joinWords(first.name) === words.join('') };
    }),
  );
  const [best] = found
    .filter(({ total }) => total > 0)
    .sort((a, b) => Number(b.isName) - Number(a.isName) || a.total - b.total);
  return best && { ...(await ask({ ...question, text: best.rest })), fit: { kind: 'part' } };
};

/**
 * Searches the files; without words it lists what the filters let through. `headLength` is how many are read at once and
 * put in order of closeness. Where nothing fits, one typing mistake in a name is forgiven, and then one word too many.
 */
export const searchFiles = async (
  typed: string,
  headLength: number,
  chosen: Chosen,
  order: Ordering = {},
): Promise<FileAnswer> => {
  const text = pastedPackage(typed) ?? typed;
  const question = { headLength, chosen, order };
  const answer = await ask({ ...question, text });
  if (answer.total > 0 || text === '') return answer;
  const words = plain(text);
  const asWords = words === '' || words === text ? answer : await ask({ ...question, text: words });
  if (asWords.total > 0) return asWords;
  const spelt = await correct(text).catch(() => undefined);
  const corrected = spelt === undefined ? answer : await ask({ ...question, text: spelt });
  if (spelt === undefined || corrected.total === 0) {
    return (await askInPart({ ...question, text: text.normalize('NFKC') })) ?? answer;
  }
  const [first] = await corrected.read(0, 1);
  const meant = first !== undefined && joinWords(first.name) === joinWords(spelt) ? first.name : spelt;
  return { ...corrected, fit: { kind: 'corrected', meant } };
};
