import { ChangesLost, isAbsent } from './errors.ts';
import { type AskOptions, pauseFor, type Requests } from './requests.ts';
import type { ChangeList, Generation, PackageChange } from './types.ts';

/** A change of a package, and the generation that it came with. */
export interface Change extends PackageChange {
  readonly number: number;
  readonly date: string;
}

/**
 * A generation that is known: a Generation, or the last Change, is one. Of a service that was restored from a backup, and
 * gives numbers anew, its date tells that it is another one now.
 */
export interface KnownGeneration {
  readonly number: number;
  readonly date?: string;
}

export interface ChangesOptions extends AskOptions {
  /** The last generation that is known, or its number alone: what came after it is given. */
  readonly since: KnownGeneration | number;
}

export interface FollowOptions extends ChangesOptions {
  /** Milliseconds between two questions whether anything is new. A minute unless told otherwise. */
  readonly interval?: number;
}

const generationPath = 'v2/generation.json';

/** The generation in force. */
export const readGeneration = async (requests: Requests, base: string, options: AskOptions): Promise<Generation> =>
  (await requests.get(`${base}/${generationPath}`, options)) as Generation;

const readList = async (requests: Requests, base: string, number: number, options: AskOptions): Promise<ChangeList> => {
  try {
    return (await requests.get(`${base}/v2/changes/${number}.json`, options)) as ChangeList;
  } catch (error) {
    if (!isAbsent(error)) throw error;
    throw new ChangesLost(`The changes of generation ${number} are kept no longer`, { cause: error });
  }
};

/** So many of the last lists a service keeps. */
const keptLists = 100;

/** Throws ChangesLost where nothing leads from the generation that is known to the one in force. */
const assertLeads = async (
  requests: Requests,
  base: string,
  { number, date }: KnownGeneration,
  inForce: Generation,
  options: AskOptions,
): Promise<void> => {
  const isAhead = number > inForce.number;
  // What is too old to be kept is told by the lists after it.
  if (!isAhead && (date === undefined || number < 1 || inForce.number - number >= keptLists)) return;
  const older = new ChangesLost(`The service is at generation ${inForce.number}, which is older than ${number}`);
  const read = () =>
    readList(requests, base, number, options).catch((error: unknown) => {
      throw isAhead && error instanceof ChangesLost ? older : error;
    });
  const found = number === inForce.number ? inForce : await read();
  if (date !== undefined && found.date !== date)
    throw new ChangesLost(`Generation ${number} is another than it was: the service began anew before it`);
};

/**
 * The changes from after a generation that is known to the one in force, oldest first; returns the latter, or the one that
 * is known where that is newer: of several servers, or caches, one may be behind.
 */
async function* readOn(
  requests: Requests,
  base: string,
  known: KnownGeneration,
  options: AskOptions,
): AsyncGenerator<Change, KnownGeneration> {
  const inForce = await readGeneration(requests, base, options);
  await assertLeads(requests, base, known, inForce, options);
  for (let number = known.number + 1; number <= inForce.number; number++) {
    const { date, previous, packages } = await readList(requests, base, number, options);
    // Before the first there was nothing.
    if (previous !== number - 1 && number > 1)
      throw new ChangesLost(`What generation ${number} changed is not known as a whole`);
    for (const change of packages) yield { ...change, number, date };
  }
  return inForce.number < known.number ? known : inForce;
}

const knownOf = (since: ChangesOptions['since']): KnownGeneration =>
  typeof since === 'number' ? { number: since } : since;

/**
 * What became of packages since a generation, oldest first, up to the generation in force; returns the number of that.
 * Throws ChangesLost where that lies further back than is kept or known, or the numbers have begun anew.
 */
export async function* readChanges(
  requests: Requests,
  base: string,
  { since, ...options }: ChangesOptions,
): AsyncGenerator<Change, number> {
  const { number } = yield* readOn(requests, base, knownOf(since), options);
  return number;
}

/** The same, and whatever comes, until the signal ends it or a question fails. */
export async function* followChanges(
  requests: Requests,
  base: string,
  { since, interval = 60_000, ...options }: FollowOptions,
): AsyncGenerator<Change, void> {
  for (let known = knownOf(since); ; ) {
    known = yield* readOn(requests, base, known, options);
    await pauseFor(interval, options.signal);
  }
}
