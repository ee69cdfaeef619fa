import { ChangesLost, isAbsent } from './errors.ts';
import { type AskOptions, pauseFor, type Requests } from './requests.ts';
import type { ChangeList, Generation, PackageChange } from './types.ts';

/** A change of a package, and the generation that it came with. */
export interface Change extends PackageChange {
  readonly number: number;
  readonly date: string;
}

/**
 * A known generation, such as a Generation or the last Change. After a service was restored from a backup, it gives
 * numbers out again; the date then shows that it is another generation.
 */
export interface KnownGeneration {
  readonly number: number;
  readonly date?: string;
}

export interface ChangesOptions extends AskOptions {
  /** The last known generation, or only its number. Changes after it are returned. */
  readonly since: KnownGeneration | number;
}

export interface FollowOptions extends ChangesOptions {
  /** Milliseconds between two requests for news. A minute by default. */
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

/** How many of the latest change lists a service keeps. */
const keptLists = 100;

/** Throws ChangesLost if no change lists lead from the known generation to the one in force. */
const assertLeads = async (
  requests: Requests,
  base: string,
  { number, date }: KnownGeneration,
  inForce: Generation,
  options: AskOptions,
): Promise<void> => {
  const isAhead = number > inForce.number;
  // If the known generation's own list is too old to be kept, the following lists show whether they continue it.
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
 * The changes between a known generation and the one in force, oldest first. Returns the generation in force, or the
 * known one if that is newer: among several servers or caches, one may lag behind.
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
    // The first generation has no predecessor.
    if (previous !== number - 1 && number > 1)
      throw new ChangesLost(`What generation ${number} changed is not known as a whole`);
    for (const change of packages) yield { ...change, number, date };
  }
  return inForce.number < known.number ? known : inForce;
}

const knownOf = (since: ChangesOptions['since']): KnownGeneration =>
  typeof since === 'number' ? { number: since } : since;

/**
 * The changes of packages from a generation to the one in force, oldest first. Returns the number of the generation in
 * force.
 *
 * @throws ChangesLost if the service no longer has all changes since then, or its numbers have started again
 */
export async function* readChanges(
  requests: Requests,
  base: string,
  { since, ...options }: ChangesOptions,
): AsyncGenerator<Change, number> {
  const { number } = yield* readOn(requests, base, knownOf(since), options);
  return number;
}

/** The same, and future changes as they come, until the signal ends it or a request fails. */
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
