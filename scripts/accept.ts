import { existsSync } from 'node:fs';
import path from 'node:path';
import { LockedError, lockState } from '../src/catalog/lock.ts';
import { acceptRepository } from '../src/crawl/accept.ts';
import { openSnapshotStore, SnapshotError } from '../src/snapshots/store.ts';
import { buildOptions } from './build-options.ts';
import { type Command, CommandFailure, runCommand } from './options.ts';

const command = {
  name: 'accept',
  summary: 'Takes what the last build held back of a repository: a shrunken index, an older Release, another key.',
  operand: 'SLUG',
  options: { state: buildOptions.state },
} as const satisfies Command;

const lock = (state: string): (() => void) => {
  try {
    return lockState(state);
  } catch (error) {
    throw error instanceof LockedError ? new CommandFailure(error.message) : error;
  }
};

await runCommand(command, async ({ state }, slug) => {
  // Taking the lock would make the folder, and a slip of the pen in --state should not.
  if (!existsSync(state))
    throw new CommandFailure(`There is no state folder ${state}: build first, or name another --state.`);
  const unlock = lock(state);
  try {
    const words = await acceptRepository(openSnapshotStore(path.join(state, 'snapshots')), slug);
    if (words.length === 0) throw new CommandFailure(`Nothing of ${slug} is held back in ${state}.`);
    process.stdout.write(`${words.join('\n')}\n`);
  } catch (error) {
    throw error instanceof SnapshotError ? new CommandFailure(error.message) : error;
  } finally {
    unlock();
  }
});
