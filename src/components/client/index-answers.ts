import { inPartHeader } from '../../contract/answer-headers.ts';
import type { PackageOrder } from '../../contract/parameters.ts';
import { searchPage } from '../../contract/search-page.ts';
import { type Chosen, facetNames } from '../../results/chosen-facets.ts';
import { type FoundPackage, type FoundRecord, toPackages, withParts } from '../../results/found.ts';
import { readTraits, type ToldTraits, traitsFile } from '../../results/index-traits.ts';
import { patience } from '../../results/patience.ts';
import { addressOf } from './address.ts';
import { rest, rests } from './index-presence.ts';

// The search index, asked through the API while somebody types: one request at a time, and none if it does not answer,
// or asks to be left alone.

/** How many records a page has: few enough for the function to read them in one step. */
const pageOfRecords = 32;
/** Of how many records the filters' values are counted. */
const countedRecords = 250;
/** The least milliseconds between two requests. Nobody types faster for long. */
const gap = 40;
const mostKept = 60;
const mostPages = 6;
/** Of so many small pages, a large one is sooner there. */
const manyPages = 3;
/** For each further step of results, so many pages are looked through for some that fit. */
const pagesOfStep = 2;

/** A newer query has replaced this one. */
export class Superseded extends Error {
  override name = 'Superseded';
}

/** The index does not answer, so the files are searched. */
class Away extends Error {
  override name = 'Away';
}

interface Page {
  readonly records: readonly FoundRecord[];
  readonly isMore: boolean;
}

const kept = new Map<string, Page>();
let underWay: AbortController | undefined;
let begun = -gap;

const readPage = async (response: Response): Promise<Page> => {
  const isJson = /^application\/json\b/.test(response.headers.get('content-type') ?? '');
  if (!response.ok || !isJson) {
    const { status } = response;
    if (status === 429) rest(Math.min(Number(response.headers.get('retry-after')) || rests.busy, 600));
    // If it refuses one query, it can still answer others.
    else if (status !== 400) rest(status < 500 || status === 501 ? rests.absent : rests.failed);
    throw new Away(`status ${status}`);
  }
  const { data, refs } = (await response.json()) as { data?: unknown; refs?: { nextPage?: string } };
  if (!Array.isArray(data)) {
    rest(rests.absent);
    throw new Away('no list');
  }
  const parts = Number(response.headers.get(inPartHeader));
  return { records: withParts(data as FoundRecord[], parts), isMore: refs?.nextPage !== undefined };
};

const fetchPage = async (query: string): Promise<Page> => {
  const known = kept.get(query);
  if (known !== undefined) return known;
  underWay?.abort();
  const own = new AbortController();
  underWay = own;
  const wait = begun + gap - performance.now();
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  if (own.signal.aborted) throw new Superseded();
  begun = performance.now();
  try {
    const response = await fetch(addressOf(`v2/jailbreak/package/search?${query}`), { signal: own.signal });
    const page = await readPage(response);
    kept.set(query, page);
    for (const oldest of kept.keys()) {
      if (kept.size <= mostKept) break;
      kept.delete(oldest);
    }
    return page;
  } catch (error) {
    if (own.signal.aborted) throw new Superseded();
    if (error instanceof Away) throw error;
    // Perhaps nothing else answers either: whoever asks the files finds out.
    throw new Away('no answer', { cause: error });
  } finally {
    if (underWay === own) underWay = undefined;
  }
};

const parametersOf = (text: string, chosen: Chosen, sort: PackageOrder, limit: number, page: number): string => {
  const parameters = new URLSearchParams({ q: text, limit: String(limit) });
  for (const name of facetNames) {
    // What the page calls a section is a kind in the index.
    if (chosen[name] !== undefined) parameters.set(name === 'section' ? 'kind' : name, chosen[name]);
  }
  if (sort !== undefined) parameters.set('sort', sort);
  if (page > 1) parameters.set('page', String(page));
  return parameters.toString();
};

let told: Promise<ToldTraits> | undefined;

/** What is known of the repositories. Without an answer, rows say less. */
const readTold = (): Promise<ToldTraits> => {
  const onPage = document.querySelector<HTMLElement>('[data-stale]')?.dataset;
  told ??= (onPage ? Promise.resolve(onPage) : fetch(addressOf(traitsFile)).then((response) => response.json())).catch(
    () => {
      told = undefined;
      return {};
    },
  );
  return told;
};

/** The index's answer to one query, which is read page by page as needed. */
export class IndexAnswer {
  readonly #text: string;
  readonly #chosen: Chosen;
  readonly #sort: PackageOrder;
  readonly #fits: ((one: FoundPackage) => boolean) | undefined;
  readonly #placed: number;
  /** How many records a page has. */
  readonly #limit: number;
  readonly #records: FoundRecord[] = [];
  /** The packages of these records; made on demand. */
  #found: readonly FoundPackage[] | undefined;
  #traits = readTraits({}, false);
  #pages = 0;
  #isMore = true;

  /**
   * `wanted`: how many packages are read at first. `fits`: those are wanted that only this browser can select, so more are
   * read at once. The index could select them by `architecture` and `firmware`, but what the browser keeps is sent to
   * nobody (src/contract/kept.ts). `placed`: so many are shown already, whether they fit or not.
   */
  constructor(
    text: string,
    chosen: Chosen,
    sort: PackageOrder,
    wanted: number,
    fits: ((one: FoundPackage) => boolean) | undefined,
    placed: number,
  ) {
    this.#fits = fits;
    this.#placed = placed;
    // Who comes back to a long list does not wait for one small page after another.
    this.#limit = fits !== undefined || wanted > manyPages * pageOfRecords ? countedRecords : pageOfRecords;
    this.#text = text;
    this.#chosen = chosen;
    this.#sort = sort;
  }

  /** The packages that are known so far. It is the same array until there are more. */
  get found(): readonly FoundPackage[] {
    this.#found ??= toPackages(this.#records, this.#traits, this.#chosen.architecture);
    return this.#found;
  }

  get isMore(): boolean {
    return this.#isMore;
  }

  /**
   * Whether more is read for that many packages. Who asks for more, and has not seen so many that fit, waits for further
   * pages in which there may be some.
   */
  #isShortOf(wanted: number): boolean {
    if (!this.#isMore) return false;
    if (this.found.length < wanted) return true;
    const [fits, placed] = [this.#fits, this.#placed];
    const steps = Math.ceil((wanted - (placed || searchPage.step)) / searchPage.step);
    // Nothing comes after a partial match that matches the whole query.
    const isLooked =
      fits === undefined || this.#pages > steps * pagesOfStep || this.#records.some(({ isPart }) => isPart);
    return !isLooked && this.found.filter((one, place) => place < placed || fits(one)).length < wanted;
  }

  /** Reads until that many packages are known, or all. Throws Superseded, or an error if the index does not answer. */
  async reach(wanted: number): Promise<void> {
    const reading = readTold();
    for (let asked = 0; asked < mostPages && this.#isShortOf(wanted); asked++) {
      const page = await fetchPage(parametersOf(this.#text, this.#chosen, this.#sort, this.#limit, this.#pages + 1));
      this.#pages++;
      this.#traits = readTraits(await reading, document.querySelector('#device-bar') !== null);
      this.#records.push(...page.records);
      this.#found = undefined;
      this.#isMore = page.isMore;
    }
  }

  /** The first packages without filters, by which the filters' values are counted, and whether there are more. */
  async all(): Promise<{ readonly found: readonly FoundPackage[]; readonly isMore: boolean }> {
    const nothing = facetNames.every((name) => this.#chosen[name] === undefined);
    if (nothing && !this.#isMore) return { found: this.found, isMore: false };
    const page = await fetchPage(parametersOf(this.#text, {}, undefined, countedRecords, 1));
    // Partial matches are added if a page has room for them, and this page has more room than those of the list.
    const hasParts = this.#records.some(({ isPart }) => isPart);
    const counted = hasParts ? page.records : page.records.filter(({ isPart }) => !isPart);
    return { found: toPackages(counted, this.#traits), isMore: page.isMore && counted.length === page.records.length };
  }
}

/**
 * The index's answer or, if it does not answer or takes too long, that of the files. A browser that cannot search the
 * files keeps waiting.
 *
 * @throws Superseded if a newer query has replaced this one
 */
export const orElse = <T>(fromIndex: Promise<T>, fromFiles: () => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    let asked = false;
    let isUnanswered = false;
    const askFiles = () => {
      if (asked) return;
      asked = true;
      fromFiles().then(
        (answer) => {
          // Otherwise the connection is away, and may be back at the next query.
          if (isUnanswered) rest(rests.failed);
          resolve(answer);
        },
        // A late answer is better than none.
        (error: unknown) => fromIndex.then(resolve, () => reject(error)),
      );
    };
    const slow = () => {
      rest(rests.slow);
      askFiles();
    };
    const timer = setTimeout(slow, patience);
    fromIndex
      .then(resolve, (error: unknown) => {
        if (error instanceof Superseded) reject(error);
        else {
          isUnanswered = error instanceof Away && error.cause !== undefined;
          askFiles();
        }
      })
      .finally(() => clearTimeout(timer));
  });
