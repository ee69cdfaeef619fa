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
  const address = '/pagefind/pagefind.js';
  const pagefind = (await import(/* @vite-ignore */ address)) as Pagefind;
  await pagefind.options({
    excerptLength: 0,
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

/** Searches; the answer counts everything and reads only what is asked for. */
export const search = async (text: string, query: Query = {}): Promise<Answer> => {
  const pagefind = await loadPagefind();
  return pagefind.search(text === '' ? null : text, query);
};
