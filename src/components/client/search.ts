import { architectureOf } from '../../compatibility/builds.ts';
import type { PackageOrder } from '../../contract/parameters.ts';
import { type BeginningList, beginningLists } from '../../results/beginning-lists.ts';
import { type Chosen, countFacets, type FacetCounts } from '../../results/chosen-facets.ts';
import { fitsFirst } from '../../results/fits-first.ts';
import type { FoundPackage } from '../../results/found.ts';
import { type Fit, readFit } from '../../results/meant.ts';
import { addressOf } from './address.ts';
import { IndexAnswer, orElse } from './index-answers.ts';
import { answers, mayAsk } from './index-presence.ts';
import type { Order, Ordering } from './pagefind.ts';
import { preloadPagefind } from './pagefind-files.ts';
import { withStatements } from './stated.ts';
import { deviceBuild, mayRun } from './visitor-device.ts';
import { runsWebAssembly } from './web-assembly.ts';

// One search of two sources: the index that the function answers from, and the one that is among the files.

/** What was found. */
export interface Results {
  /** How many packages are known to fit, of `isMore` than those. */
  readonly total: number;
  readonly isMore: boolean;
  /** How many of them are known to have but a part of the question. */
  readonly parts: number;
  readonly fit: Fit;
  /** Packages from one place to another; fewer where there are no more. */
  read(from: number, to: number): Promise<readonly FoundPackage[]>;
  /** How many there are of what else they may be narrowed to; `isPart` where only the best were counted. */
  count(): Promise<{ readonly counts: FacetCounts; readonly isPart: boolean }>;
}

const fromIndex = async (
  text: string,
  chosen: Chosen,
  wanted: number,
  sort: PackageOrder,
  isForDevice: boolean,
): Promise<Results> => {
  const answer = new IndexAnswer(text, chosen, sort, isForDevice);
  // Without a device too they keep their places: what is read later of a package may be more than what was read first.
  const arrange = fitsFirst(isForDevice ? ({ runs }) => mayRun(runs ?? '') : () => false);
  await answer.reach(wanted);
  let known: readonly FoundPackage[] = [];
  let arranged: readonly FoundPackage[] = [];
  const read = () => {
    const { found } = answer;
    if (found !== known) arranged = arrange(found);
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
    read: async (from, to) => {
      await answer.reach(to);
      return withStatements(read().slice(from, to));
    },
    count: async () => {
      const { found, isMore } = await answer.all();
      return { counts: countFacets(found, chosen), isPart: isMore };
    },
  };
};

const orders: Readonly<Record<NonNullable<PackageOrder>, Order>> = {
  name: { name: 'asc' },
  newest: { updated: 'desc' },
  downloads: { downloads: 'desc' },
};

/** Thrown where this browser cannot search the files. Its message is for the visitor. */
export class Unable extends Error {
  override name = 'Unable';
}

const loadFiles = async (text = '') => {
  if (!runsWebAssembly()) {
    const isAnswered = text === '' && mayAsk();
    throw new Unable(
      isAnswered ? 'Type at least two letters.' : 'The search could not be loaded. Without a server it takes iOS 16.',
    );
  }
  // Beside what calls it, and not after that.
  preloadPagefind();
  return import('./pagefind.ts');
};

const fromFiles = async (text: string, chosen: Chosen, wanted: number, order: Ordering): Promise<Results> => {
  const { searchFiles } = await loadFiles(text);
  const { count, ...answer } = await searchFiles(text, wanted, chosen, order);
  return { ...answer, isMore: false, parts: 0, count: async () => ({ counts: await count(), isPart: false }) };
};

/** Makes ready what will answer, for questions that begin so. */
export const prepare = async (beginning = ''): Promise<void> => {
  if (await answers()) return;
  const { preparePagefind } = await loadFiles();
  await preparePagefind(beginning);
};

/**
 * What a text of two letters begins, where the files answer; undefined where they have no list for it. It comes in one
 * small file, long before what else the files are searched with is loaded and ready.
 */
export const findBeginning = async (text: string): Promise<BeginningList | undefined> => {
  const beginning = beginningLists.answers(text) ? beginningLists.of(text) : undefined;
  if (beginning === undefined || (await answers())) return undefined;
  const response = await fetch(addressOf(beginningLists.file(beginning))).catch(() => undefined);
  // Some hosts answer for a file that is not there with a page.
  return response?.ok ? ((await response.json().catch(() => undefined)) as BeginningList | undefined) : undefined;
};

/**
 * Searches packages. The index answers a text; without one the files do, which know of all packages. `isForDevice`: what
 * may run on the visitor's device comes first, where one is known. Throws Superseded where a newer question took its place.
 */
export const search = (
  text: string,
  wanted: number,
  chosen: Chosen = {},
  sort?: PackageOrder,
  isForDevice = false,
): Promise<Results> => {
  const build = isForDevice ? deviceBuild() : undefined;
  const architecture = build && architectureOf(build);
  const files = () => fromFiles(text, chosen, wanted, { sort: sort && orders[sort], architecture });
  return text !== '' && mayAsk() ? orElse(fromIndex(text, chosen, wanted, sort, build !== undefined), files) : files();
};
