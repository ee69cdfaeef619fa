import { architectureOf } from '../../compatibility/builds.ts';
import type { PackageOrder } from '../../contract/parameters.ts';
import { type BeginningList, beginningLists, type FirstRows } from '../../results/beginning-lists.ts';
import { type Chosen, countFacets, type FacetCounts } from '../../results/chosen-facets.ts';
import { fitsFirst } from '../../results/fits-first.ts';
import type { FoundPackage, ListedPackage } from '../../results/found.ts';
import { type Fit, readFit } from '../../results/meant.ts';
import { addressOf } from './address.ts';
import { IndexAnswer, orElse } from './index-answers.ts';
import { readEntry } from './index-entry.ts';
import { answers, mayAsk } from './index-presence.ts';
import type { Ordering } from './search-files.ts';
import { withStatements } from './stated.ts';
import { deviceBuild, hasDevice, mayRun } from './visitor-device.ts';

// One search over two sources: the index through the function, and the one among the files.

/** The results of a search. */
export interface Results {
  /** How many packages are known to match. `isMore`: there are more than those. */
  readonly total: number;
  readonly isMore: boolean;
  /** How many of them are known to match only a part of the query. */
  readonly parts: number;
  readonly fit: Fit;
  /** Whether the files answered, whose order is another than that of the index. */
  readonly isOfFiles: boolean;
  /** The packages between two positions; fewer if there are no more. */
  read(from: number, to: number): Promise<readonly ListedPackage[]>;
  /** How many packages have each value of each filter. `isPart`: only the best were counted. */
  count(): Promise<{ readonly counts: FacetCounts; readonly isPart: boolean }>;
}

const fromIndex = async (
  text: string,
  chosen: Chosen,
  wanted: number,
  sort: PackageOrder,
  isForDevice: boolean,
  placed: number,
): Promise<Results> => {
  const fits = isForDevice ? ({ runs }: FoundPackage) => mayRun(runs ?? '') : undefined;
  const answer = new IndexAnswer(text, chosen, sort, wanted, fits, placed);
  // Packages keep their places even without a device, because later reads may know more about a package than the first.
  const arrange = fitsFirst(fits ?? (() => false));
  await answer.reach(wanted);
  arrange(answer.found.slice(0, placed), 0);
  let shown = placed;
  let known: readonly FoundPackage[] = [];
  let arranged: readonly FoundPackage[] = [];
  const read = () => {
    const { found } = answer;
    if (found !== known) arranged = arrange(found, shown);
    known = found;
    return arranged;
  };
  return {
    get total() {
      return read().length;
    },
    get parts() {
      return read().filter(({ isPart }) => isPart).length;
    },
    get isMore() {
      return answer.isMore;
    },
    fit: readFit(text, answer.found),
    isOfFiles: false,
    read: async (from, to) => {
      await answer.reach(to);
      const some = read().slice(from, to);
      shown = Math.max(shown, to);
      return hasDevice() ? withStatements(some) : some;
    },
    count: async () => {
      const { found, isMore } = await answer.all();
      return { counts: countFacets(found, chosen), isPart: isMore };
    },
  };
};

const loadFiles = () => {
  // At the same time as the script that reads it. An error is reported to whoever asks for it there.
  readEntry().catch(() => {});
  return import('./search-files.ts');
};

const fromFiles = async (text: string, chosen: Chosen, order: Ordering): Promise<Results> => {
  const { searchFiles } = await loadFiles();
  const { count, ...answer } = await searchFiles(text, chosen, order);
  return {
    ...answer,
    isMore: false,
    parts: 0,
    isOfFiles: true,
    count: async () => ({ counts: await count(), isPart: false }),
  };
};

/** Prepares the source that will answer, for queries with this beginning. */
export const prepare = async (beginning = ''): Promise<void> => {
  if (await answers()) return;
  const { prepareFiles } = await loadFiles();
  await prepareFiles(beginning);
};

/** `none` if there is no such file; undefined if the host does not answer, which may be asked again. */
const load = async <T>(letters: string, none: T): Promise<T | undefined> => {
  const response = await fetch(addressOf(beginningLists.file(letters))).catch(() => undefined);
  if (response === undefined) return undefined;
  // Some hosts answer for a missing file with a page.
  const read = response.ok ? await response.json().catch(() => undefined) : undefined;
  return (read as T | undefined) ?? none;
};

let firstLetter: string | undefined;
let firstRows: FirstRows = {};

/** Reads what is shown for each second letter, while it is typed. */
export const readFirstRows = async (text: string): Promise<void> => {
  const letter = beginningLists.letterOf(text);
  if (letter === undefined || letter === firstLetter) return;
  firstLetter = letter;
  firstRows = {};
  const read = await load<FirstRows>(letter, {});
  if (letter !== firstLetter) return;
  if (read === undefined) firstLetter = undefined;
  else firstRows = read;
};

let loaded: { readonly beginning: string; readonly list: Promise<BeginningList | undefined> } | undefined;

/** What is shown for the first two letters of a text, if it has been read. */
export const firstOfBeginning = (text: string): BeginningList => {
  const [letter, second = ''] = beginningLists.of(text) ?? '';
  return (letter === firstLetter ? firstRows[second] : undefined) ?? [];
};

/**
 * Packages whose names, or words of names, begin with the first two letters of a text, the closest first; none if there
 * is no list of them. They come in one small file, before the index answers and long before the files can be searched.
 */
export const readBeginning = async (text: string): Promise<BeginningList> => {
  const beginning = beginningLists.of(text);
  if (beginning === undefined) return [];
  if (loaded?.beginning !== beginning) loaded = { beginning, list: load<BeginningList>(beginning, []) };
  const asked = loaded;
  const list = await asked.list;
  if (list === undefined && loaded === asked) loaded = undefined;
  return list ?? [];
};

/** The same for a text of two letters that only the files answer, which have nothing better; undefined for any other. */
export const findBeginning = async (text: string): Promise<BeginningList | undefined> => {
  const list = readBeginning(text);
  if (!beginningLists.answers(text) || (await answers())) return undefined;
  return (await list).length === 0 ? undefined : list;
};

/**
 * Searches packages. The index answers a text; without one, the files do, which know all packages. `isForDevice`: if
 * the visitor's device is known, packages that may run on it come first. `placed`: of so many, which the index names
 * first, it is already shown which may run. Throws Superseded if a newer query has replaced this one.
 */
export const search = (
  text: string,
  wanted: number,
  chosen: Chosen = {},
  sort?: PackageOrder,
  isForDevice = false,
  placed = 0,
): Promise<Results> => {
  const build = isForDevice ? deviceBuild() : undefined;
  const architecture = build && architectureOf(build);
  const files = () => fromFiles(text, chosen, { sort, architecture });
  const mayFit = architecture !== undefined && (chosen.architecture ?? architecture) === architecture;
  return text !== '' && mayAsk() ? orElse(fromIndex(text, chosen, wanted, sort, mayFit, placed), files) : files();
};
