import { addressOf } from './address.ts';

/** What the index holds about a package. */
export interface Found {
  readonly url: string;
  readonly meta: {
    readonly title: string;
    readonly id: string;
    readonly version: string;
    readonly place: string;
    readonly kind: string;
    readonly summary?: string;
    readonly icon?: string;
    readonly paid?: string;
    /** What it states of devices with iOS; undefined where the index has none for them. */
    readonly runs?: string;
  };
}

export interface Query {
  readonly filters?: Readonly<Record<string, string>>;
  readonly sort?: Readonly<Record<string, 'asc' | 'desc'>>;
}

interface Answer {
  readonly results: readonly { readonly data: () => Promise<Found> }[];
}

interface Pagefind {
  options(options: object): Promise<void>;
  init(): Promise<void>;
  search(text: string | null, query: Query): Promise<Answer>;
}

let loading: Promise<Pagefind> | undefined;

const load = async (): Promise<Pagefind> => {
  const address = addressOf('pagefind/pagefind.js');
  const pagefind = (await import(/* @vite-ignore */ address)) as Pagefind;
  await pagefind.options({
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
  return pagefind;
};

/** Loads the search, on the first call only; a later call tries again where that failed. */
export const loadPagefind = (): Promise<Pagefind> => {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
};

// How close a name is to the question, the closest first.
const distance = (question: string, { meta }: Found): number => {
  const name = meta.title.toLowerCase();
  if (name === question || meta.id.toLowerCase() === question) return 0;
  if (name.startsWith(question)) return 1;
  return name.includes(` ${question}`) ? 2 : 3;
};

// Pagefind weighs words; among its best the name that is or begins with the question comes first, short ones leading.
const byCloseness = (question: string, found: readonly Found[]): Found[] =>
  found
    .map((one) => ({ one, rank: distance(question, one), length: one.meta.title.length }))
    .sort((a, b) => a.rank - b.rank || (a.rank < 3 ? a.length - b.length : 0))
    .map(({ one }) => one);

/** An answer: how many packages there are, and their descriptions, read in portions as they are wanted. */
export interface Results {
  readonly total: number;
  readonly read: (from: number, to: number) => Promise<readonly Found[]>;
}

/**
 * Searches. Without words it lists what the filters let through. `headLength` is how many are read at once and put in
 * order of closeness.
 */
export const search = async (text: string, headLength: number, query: Query = {}): Promise<Results> => {
  const pagefind = await loadPagefind();
  const { results } = await pagefind.search(text === '' ? null : text, query);
  const head = await Promise.all(results.slice(0, headLength).map((result) => result.data()));
  const first = text === '' || query.sort !== undefined ? head : byCloseness(text.toLowerCase(), head);
  return {
    total: results.length,
    read: async (from, to) => {
      const rest = results.slice(Math.max(from, headLength), to).map((result) => result.data());
      return [...first.slice(from, to), ...(await Promise.all(rest))];
    },
  };
};
