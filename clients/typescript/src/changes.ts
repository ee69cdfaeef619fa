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
  if (last < since) throw new ChangesLost(`The service is at generation ${last}, which is older than ${since}`);
  for (let number = since + 1; number <= last; number++) {
    const { date, previous, packages } = await readList(requests, base, number, options);
    // Before the first there was nothing.
    if (previous !== number - 1 && number > 1)
      throw new ChangesLost(`What generation ${number} changed is not known as a whole`);
    for (const change of packages) yield { ...change, number, date };
  }
  return last;
}

/** The same, and whatever comes, until the signal ends it or a question fails. */
export async function* followChanges(
  requests: Requests,
  base: string,
  { since, interval = 60_000, ...options }: FollowOptions,
): AsyncGenerator<Change, void> {
  for (let known = since; ; ) {
    known = yield* readChanges(requests, base, { since: known, ...options });
    await pauseFor(interval, options.signal);
  }
}
