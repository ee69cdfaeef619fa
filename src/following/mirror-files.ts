import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Generation } from '../contract/generation.ts';
import { NetworkError } from '../net/network-error.ts';
import { computePause } from '../net/retry.ts';
import { eachAtOnce } from '../publication/each-at-once.ts';
import { comparePaths, formatEntry } from '../publication/inventory.ts';
import type { OutputFolder } from '../publication/output-folder.ts';
import { digestPlain } from './digest-plain.ts';
import type { Plan } from './mirror-plan.ts';
import { assertTelling, Superseded } from './mirror-refusals.ts';
import { type PublicationSource, SourceError } from './source.ts';

const usualConcurrency = 16;

/** How often a file is requested in total if it fails temporarily. The pauses add up to eight to fifteen seconds. */
const mostTries = 6;
const firstPauseMs = 500;
/** A longer requested pause is not waited for. */
const longestPauseMs = 60_000;

/** Where files come from, and how they are taken. */
export interface Taking {
  readonly source: PublicationSource;
  /** How many files are taken at the same time. */
  readonly concurrency?: number;
  readonly onProgress?: (done: number, total: number) => void;
  /** Called with the reason, a sentence, whenever something is asked for again after a pause. */
  readonly onRetry?: (reason: string) => void;
  /** Resolves after that many milliseconds. For tests, which need not wait. */
  readonly pause?: (milliseconds: number) => Promise<unknown>;
}

/** A file that waits for its name. */
export interface Taken {
  readonly temporary: string;
  readonly sha256: string;
}

/** Asks the source, and asks again after a temporary failure. */
export const askPatiently = async <T>(ask: () => Promise<T>, taking: Taking): Promise<T> => {
  const { source, pause = sleep, onRetry } = taking;
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      const isPassing = (error instanceof NetworkError || error instanceof SourceError) && error.transient;
      const asked = error instanceof SourceError ? (error.retryAt?.getTime() ?? 0) - Date.now() : 0;
      if (!isPassing || tries === mostTries || asked > longestPauseMs) throw error;
      const reason =
        error instanceof NetworkError ? `${source.base} could not be read: ${error.message}.` : error.message;
      onRetry?.(`${reason} It is tried again${asked > firstPauseMs ? `, in ${Math.ceil(asked / 1000)} s` : ''}.`);
      await pause(Math.max(asked, computePause(firstPauseMs, tries)));
    }
  }
};

/**
 * Takes a file into a new temporary file, with patience: among many thousands a few fail, and an incomplete generation
 * is not kept. Undefined if the file does not exist.
 */
const takePatiently = (
  file: string,
  output: OutputFolder,
  taking: Taking,
  maxBytes?: number,
): Promise<Taken | undefined> =>
  askPatiently(async () => {
    const temporary = output.temporary();
    try {
      const sha256 = await taking.source.take(file, temporary, maxBytes);
      return sha256 === undefined ? undefined : { temporary, sha256 };
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }, taking);

/** Takes the files that a plan wants. Those of a first copy get their names at once. */
export const takeAll = async (
  { wanted, isFirst }: Plan,
  output: OutputFolder,
  taking: Taking,
): Promise<Map<string, Taken>> => {
  const { concurrency = usualConcurrency, onProgress } = taking;
  const taken = new Map<string, Taken>();
  await eachAtOnce(wanted, { concurrency, count: wanted.size }, async ([file, expected]) => {
    const found = await takePatiently(file, output, taking);
    if (found === undefined) throw new Superseded(`${file} is not there`);
    if (found.sha256 !== expected) throw new Superseded(`${file} has other bytes`);
    taken.set(file, found);
    // So an interrupted first copy continues with what it has.
    if (isFirst) output.placeNoted(found.temporary, file);
    onProgress?.(taken.size, wanted.size);
  });
  return taken;
};

/** Compares what there is with what the generation says about all of its files together. */
export const assertComplete = ({ kept }: Plan, taken: ReadonlyMap<string, Taken>, { documents }: Generation): void => {
  const all = new Map(kept);
  for (const [file, { sha256 }] of taken) all.set(file, sha256);
  const digest = createHash('sha256');
  for (const file of [...all.keys()].sort(comparePaths))
    digest.update(formatEntry({ path: file, sha256: all.get(file) ?? '' }));
  if (digest.digest('hex') !== documents.digest) throw new Superseded('its files are not those of its generation');
};

/** Takes a file as it is, with at most that many bytes. Returns where it waits for its name. */
export const takeWhole = async (
  file: string,
  output: OutputFolder,
  taking: Taking,
  maxBytes?: number,
): Promise<string> => {
  assertTelling(file);
  const found = await takePatiently(file, output, taking, maxBytes);
  if (found === undefined) throw new Superseded(`${file} is missing`);
  return found.temporary;
};

/**
 * Takes the catalog of a generation, unless it exists already. Returns where it waits for its name. With `isDoubtful`,
 * an existing one may be incomplete, because of a power cut before it was flushed.
 */
export const takeCatalog = async (
  { path, sha256, size }: Generation['catalog'],
  isDoubtful: boolean,
  output: OutputFolder,
  taking: Taking,
): Promise<string | undefined> => {
  assertTelling(path);
  const standing = output.resolve(path);
  if (existsSync(standing) && (!isDoubtful || (await digestPlain(standing, size)) === sha256)) return undefined;
  const temporary = await takeWhole(path, output, taking);
  if ((await digestPlain(temporary, size)) !== sha256) throw new Superseded(`${path} is cut short or another`);
  return temporary;
};
