import { SafetyListInvalid } from '../functions/node/safety-file.ts';
import { LockedError } from '../src/catalog/lock.ts';
import { ManifestError } from '../src/crawl/read-manifest.ts';
import { PartlyPublished } from '../src/pipeline/build.ts';
import type { BuildResult } from '../src/pipeline/build-result.ts';
import { isDiskFull, NoRoom } from '../src/pipeline/disk-room.ts';
import { isDown } from '../src/pipeline/outcomes.ts';
import { StateBlocked } from '../src/pipeline/state-files.ts';
import { NoFolder } from '../src/publication/folder-content.ts';
import { OutputTaken } from '../src/publication/owner.ts';
import { NoBundle } from '../src/site/bundle.ts';
import { RemovalsHeld } from '../src/snapshots/removals.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { CommandFailure, describeRefusal, UsageError } from './options.ts';

// Failures in which no request reached the origin at all. Every other failure is some kind of answer.
const unreachedCodes: ReadonlySet<string> = new Set(['no-network', 'dns', 'connection', 'timeout', 'backing-off']);

/**
 * The end of a build that published nothing, because nothing is known of any repository. `stoppedBy` is what stopped
 * it, if it did not visit all of them.
 */
export const emptyBuildFailure = (
  { outcomes }: Pick<BuildResult, 'outcomes'>,
  stoppedBy: string | undefined,
): CommandFailure => {
  // If some were not visited, nothing can be said about all of them.
  if (stoppedBy !== undefined) {
    return new CommandFailure(
      'It was stopped before any repository was read, and nothing is known of any from before.',
    );
  }
  return outcomes.length > 0 && outcomes.every(({ code }) => code !== null && unreachedCodes.has(code))
    ? new CommandFailure(
        'No repository could be reached, and nothing is known of any from before. Nothing was published.',
        exitCodes.unreachable,
      )
    : new CommandFailure(
        'Nothing usable came out: no repository could be crawled, now or before. Nothing was published.',
      );
};

/**
 * The exit code of a build that published. `allowed` is how many repositories may be stale or failed, as a share
 * (`40%`) or a count (`12`). If there are more, that code wins over the one for something that waits for the operator's
 * decision, which the summary mentions in any case.
 */
export const computeExitCode = ({ lastBuild }: Pick<BuildResult, 'lastBuild'>, allowed: string): ExitCode => {
  const { repositories } = lastBuild;
  const number = Number.parseFloat(allowed);
  const most = allowed.endsWith('%') ? (number * repositories.length) / 100 : number;
  if (repositories.filter(isDown).length > most) return exitCodes.manyStale;
  return repositories.some(({ heldBack }) => heldBack.length > 0) ? exitCodes.needsWord : exitCodes.done;
};

const stillStands = 'What was published before still stands';
const partlyStands =
  'Documents and search are of this build already, and the pages may be of the one before until a build ends well';

/**
 * The error that ended a build, as one with a sentence and an exit code. The code is `stoppedCode` if a signal stopped
 * it, because that may have interrupted other operations, too.
 */
export const toCommandFailure = (error: unknown, stoppedCode?: number): Error => {
  if (error instanceof UsageError || error instanceof CommandFailure) return error;
  if (error instanceof ManifestError || error instanceof SafetyListInvalid) return new UsageError(error.message);
  if (error instanceof RemovalsHeld) return new CommandFailure(error.message, exitCodes.needsWord);
  if (error instanceof LockedError) return new CommandFailure(error.message, exitCodes.busy);
  if (error instanceof OutputTaken) return new CommandFailure(error.message, exitCodes.needsWord);
  if ([NoRoom, StateBlocked, NoBundle, NoFolder].some((kind) => error instanceof kind)) {
    return new CommandFailure((error as Error).message, exitCodes.failed);
  }
  const isPartly = error instanceof PartlyPublished;
  const reason = isPartly ? error.cause : error;
  const stands = isPartly ? partlyStands : stillStands;
  const cause = reason instanceof Error ? reason : new Error(String(reason));
  if (isDiskFull(reason)) {
    // Many small files may take all inodes of a disk that has room by its bytes.
    const message = `The disk is full (${cause.message}), or has no inodes left ("df -i"). ${stands}: make room and build again.`;
    return new CommandFailure(message, exitCodes.failed);
  }
  // The message of a system error is enough. Anything else is our fault, and the stack says where.
  const evidence = 'syscall' in cause ? describeRefusal(cause) : (cause.stack ?? cause.message);
  return new CommandFailure(`The build failed: ${evidence}\n${stands}.`, stoppedCode ?? exitCodes.failed, {
    cause: reason,
  });
};
