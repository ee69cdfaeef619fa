import { errorChain } from '../log/error-chain.ts';
import type { BuildNews } from '../notifying/notifier.ts';
import type { BuildInput } from './build-input.ts';
import type { BuildResult } from './build-result.ts';
import { isDiskFull, NoRoom } from './disk-room.ts';
import { isDown } from './outcomes.ts';
import { assertStateFiles } from './state-files.ts';

/** The result of a build for the operator. */
const newsOf = ({ outcomes, lastBuild }: BuildResult, entries: Telling['entries']): BuildNews => {
  // A repository that is left alone for a while was not asked, so there is no news of it.
  const visited = new Set(outcomes.flatMap(({ slug, code }) => (code === 'backing-off' ? [] : [slug])));
  const aliases = new Map(entries.map((one) => [one.slug, one.aliases]));
  return {
    repositories: lastBuild.repositories.map((one) => ({
      slug: one.slug,
      aliases: aliases.get(one.slug) ?? [],
      down: isDown(one),
      isVisited: visited.has(one.slug),
      since: one.since,
      code: one.code,
      reason: one.reason,
      heldBack: one.heldBack,
    })),
  };
};

type Telling = Pick<BuildInput, 'state' | 'entries' | 'now' | 'notifier'>;

const nothingUsable = 'No repository gave anything usable, now or before.';

/** The last step: notifies the operator of changes, if configured. */
export const tellOfBuild = async ({ state, entries, now, notifier }: Telling, result: BuildResult): Promise<void> => {
  const failure = { name: 'nothing-usable', reason: nothingUsable };
  await notifier?.tell(state, result.statistics === undefined ? { failure } : newsOf(result, entries), now());
};

/**
 * Distinguishes failures, so that another one is reported again. Most are just an "Error", so this uses the system's
 * code. A full disk is the same failure wherever it occurs.
 */
const kindOf = (error: Error): string => {
  if ([error, error.cause].some(isDiskFull)) return NoRoom.name;
  return errorChain(error)
    .map(({ name, code }) => code ?? name)
    .join(' ');
};

/** The same for a failed build. */
export const tellOfFailure = async (
  { state, now, notifier }: Omit<Telling, 'entries'>,
  error: unknown,
): Promise<void> => {
  const failed = error instanceof Error ? error : new Error(String(error));
  await notifier?.tell(state, { failure: { name: kindOf(failed), reason: failed.message } }, now());
};

/**
 * Checks the state folder as `assertStateFiles` does, before anything of a build reads it, and notifies the operator of
 * what is in the way. No lock is taken and no build recorded, because it may be either of these files.
 *
 * @throws what `assertStateFiles` throws
 */
export const assertUsableState = async (input: Omit<Telling, 'entries'>): Promise<void> => {
  try {
    assertStateFiles(input.state);
  } catch (error) {
    await tellOfFailure(input, error);
    throw error;
  }
};
