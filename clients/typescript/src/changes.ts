import { ChangesLost, isAbsent } from './errors.ts';
import { type AskOptions, pauseFor, type Requests } from './requests.ts';
import type { ChangeList, Generation, PackageChange } from './types.ts';

/** A change of a package, and the generation that it came with. */
export interface Change extends PackageChange {
  readonly number: number;
  readonly date: string;
}

export interface ChangesOptions extends AskOptions {
  /** The number of the last generation that is known: what came after it is given. */
  readonly since: number;
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

/** When a generation was published; undefined where that is kept no longer. */
const readDate = (requests: Requests, base: string, number: number, options: AskOptions): Promise<string | undefined> =>
  readList(requests, base, number, options).then(
    ({ date }) => date,
    (error: unknown) => {
      if (error instanceof ChangesLost) return undefined;
      throw error;
    },
  );

const lostBy = (last: number, since: number): ChangesLost =>
  new ChangesLost(`The service is at generation ${last}, which is older than ${since}`);

/** The changes from after one generation to another, oldest first. */
async function* readLists(
  requests: Requests,
  base: string,
  { since, last, ...options }: ChangesOptions & { readonly last: number },
): AsyncGenerator<Change, void> {
  for (let number = since + 1; number <= last; number++) {
    const { date, previous, packages } = await readList(requests, base, number, options);
    // Before the first there was nothing.
    if (previous !== number - 1 && number > 1)
      throw new ChangesLost(`What generation ${number} changed is not known as a whole`);
    for (const change of packages) yield { ...change, number, date };
  }
}

/**
 * What became of packages since a generation, oldest first, up to the generation in force. Throws ChangesLost where
 * that lies further back than is kept or known, or the numbers have begun anew.
 */
export async function* readChanges(
  requests: Requests,
  base: string,
  { since, ...options }: ChangesOptions,
): AsyncGenerator<Change, number> {
  const { number: last } = await readGeneration(requests, base, options);
  if (last < since) throw lostBy(last, since);
  yield* readLists(requests, base, { since, last, ...options });
  return last;
}

/**
 * The same, and whatever comes, until the signal ends it or a question fails. A service that was restored from a backup gives
 * numbers anew that it gave before: what was followed is then known by its date to be another generation.
 */
export async function* followChanges(
  requests: Requests,
  base: string,
  { since, interval = 60_000, ...options }: FollowOptions,
): AsyncGenerator<Change, void> {
  let known: { readonly number: number; readonly date?: string } = { number: since };
  const assertSame = (date: string | undefined) => {
    if (known.date !== undefined && date !== undefined && known.date !== date)
      throw new ChangesLost(`Generation ${known.number} is another than it was: the service began anew before it`);
  };
  for (;;) {
    const { number, date } = await readGeneration(requests, base, options);
    if (number < known.number) throw lostBy(number, known.number);
    if (number === known.number) assertSame(date);
    else if (known.date !== undefined) await readDate(requests, base, known.number, options).then(assertSame);
    yield* readLists(requests, base, { since: known.number, last: number, ...options });
    known = { number, date };
    await pauseFor(interval, options.signal);
  }
}
