import { buildOf } from '../../compatibility/builds.ts';
import type { PackageState } from '../../contract/package-states.ts';
import { type Chosen, type FacetCounts, type FacetName, facetNames } from '../../results/chosen-facets.ts';
import type { FoundPackage } from '../../results/found.ts';
import type { Fit } from '../../results/meant.ts';
import { readCard, readSummary } from '../../results/search-content.ts';
import { joinWords, pastedPackage, splitParts, splitWords, withoutMarks } from '../../results/words.ts';
import { addressOf } from './address.ts';
import { correct } from './names.ts';
import { entryFile, visit } from './pagefind-files.ts';

// The search index among the files (Pagefind), which answers if there is no function.

/** The data of a package in it. */
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

/** The loaded index, and its entry, which identifies it. */
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
// The first index is requested before it is needed; later ones must not come from a cache.
let tag = visit;

const load = async (): Promise<OpenIndex> => {
  const { createInstance } = (await import(/* @vite-ignore */ addressOf('pagefind/pagefind.js'))) as PagefindScript;
  const pagefind = createInstance({
    metaCacheTag: tag,
    // The prefix of the addresses of its results, which are stored relative to the root of the site.
    baseUrl: addressOf(''),
    excerptLength: 0,
    // A worker would be one more script to load before the first answer, and searching takes a few milliseconds.
    noWorker: true,
    // What matters is whether a word is in the name or elsewhere, not how long the description is.
    ranking: {
      termSimilarity: 12,
      pageLength: 0,
      termFrequency: 0,
      termSaturation: 0.5,
      metaWeights: { title: 12, id: 4 },
    },
  });
  await pagefind.init();
  // Pagefind has just read it.
  return { pagefind, entry: await readEntry(tag, 'force-cache') };
};

/** Loads the search, on the first call only. If that failed, a later call tries again. */
const openIndex = (): Promise<OpenIndex> => {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    tag = String(Date.now());
    throw error;
  });
  return loading;
};

/**
 * Whether there is another index now: a build may have replaced this one, whose files are then gone. The next query
 * uses the new one.
 *
 * @throws Error if the host does not answer
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

/** Loads the search, and the parts of its index for queries with this beginning. */
export const preparePagefind = async (beginning: string): Promise<void> => {
  const { pagefind } = await openIndex();
  if (beginning !== '') await pagefind.preload(beginning);
};

// How close a name is to the query; smaller is closer.
const distance = (question: string, { meta }: Fragment): number => {
  const name = meta.title.toLowerCase();
  if (name === question || meta.id.toLowerCase() === question) return 0;
  if (name.startsWith(question)) return 1;
  return name.includes(` ${question}`) ? 2 : 3;
};

// Pagefind ranks by words. Among its best results, names that equal or begin with the query come first, the shortest
// leading.
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

// Pagefind silently shortens a word that finds nothing until it finds something unrelated: "zzzzqq" finds everything
// that begins with "z". Its results then do not contain the word. If it shortened none, all results contain all words;
// half are enough to tell, because it may fold some letters differently.
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
      // A package for all architectures is for this one, too. For devices, the index lists each architecture of a
      // package.
      const isForAll = name === 'architecture' && buildOf(value) === undefined;
      return [[name, isForAll ? { any: [value, 'all'] } : value]];
    }),
  );

/** The answer of the files. */
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

/** The order of results, besides relevance. */
export interface Ordering {
  readonly sort?: Order | undefined;
  /** Packages for this architecture, and for all, come first. */
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
 * Asks, and asks again if another index has replaced the one that was asked. Pagefind ignores the parts of its index
 * that it cannot load, and finds nothing there, so if nothing was found, this checks that the host answers.
 *
 * @throws Error if it does not
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

/** A query as Pagefind divides it: it treats "_" as a letter, and full-width letters as different ones. */
const plain = (text: string): string =>
  withoutMarks(text)
    .normalize('NFKC')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();

/** How many results of each variant of a query are read to find out whether it matches. */
const probed = 3;

/**
 * The results for the query without one of its parts: of the variants, one that equals a name, or else the one with the
 * fewest results.
 */
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
 * Searches the files. Without words it lists everything that passes the filters. `headLength` is how many are read at
 * once and sorted by closeness. If nothing matches, one typing mistake in a name is forgiven, and then one word too
 * many.
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
