import { readLastBuild } from '../src/catalog/last-build.ts';
import { LockedError, lockState } from '../src/catalog/lock.ts';
import { shellWord } from '../src/contract/shell-word.ts';
import { acceptRepository, listWaiting } from '../src/crawl/operator-word.ts';
import { findEntry } from '../src/disk/find-entry.ts';
import { assertStateFiles, StateBlocked } from '../src/pipeline/state-files.ts';
import { readContent } from '../src/publication/folder-content.ts';
import { takeOverOutput } from '../src/publication/owner.ts';
import { acceptRemovals, listHeldRemovals } from '../src/snapshots/removals.ts';
import { openStore, SnapshotError } from '../src/snapshots/store.ts';
import { assertApart } from './assert-apart.ts';
import { buildOptions } from './build-options.ts';
import { aloneEndings, exitCodes } from './exit-codes.ts';
import { type Command, CommandFailure, runCommand, UsageError } from './options.ts';

const command = {
  name: 'accept',
  summary:
    'Without a slug: lists what builds held back, and why. With one: accepts everything held back of that repository (a shrunken index, an older Release, another key).',
  operand: '[SLUG]',
  options: {
    state: buildOptions.state,
    removals: {
      type: 'boolean',
      help: 'Accept that many repositories left the manifest at once.',
    },
    'take-over': {
      type: 'string',
      value: 'DIR',
      help: 'Accept that the output folder DIR, published from another state folder or filled by hand, belongs to this state folder from now on, with everything in it.',
    },
  },
  endings: aloneEndings('there was nothing to accept, or it could not be', 'a build is at work there'),
} as const satisfies Command;

// What builds leave in a state folder: each that was used has at least one of these, and `history` may be all that was
// restored. An empty folder is one where somebody begins, with --take-over.
const marks: ReadonlySet<string> = new Set(['build.lock', 'history', 'identifier', 'removals.json', 'snapshots']);

/**
 * Throws a CommandFailure if a folder is no state folder. Nothing would be held back there, and all would seem well.
 */
const assertState = (state: string): void => {
  const found = findEntry(state);
  // Taking the lock would make the folder, and --state may be mistyped.
  if (found === undefined)
    throw new CommandFailure(`There is no state folder ${state}: build first, or name another --state.`);
  const names = found.isDirectory() ? readContent(state) : ['a file'];
  if (names.length > 0 && !names.some((name) => marks.has(name)))
    throw new CommandFailure(`${state} is no state folder: name the one that builds have as --state.`);
};

// What cannot be read would seem to hold nothing back.
const assertKept = (state: string): void => {
  try {
    assertStateFiles(state);
  } catch (error) {
    throw error instanceof StateBlocked ? new CommandFailure(error.message) : error;
  }
};

// The suggested command must find this state folder again.
const callOf = (state: string, word: string): string => {
  const isUsual = state === (process.env.DEBDEX_STATE || buildOptions.state.default);
  return `npm run accept -- ${isUsual ? '' : `--state ${shellWord(state)} `}${word}`;
};

// This writes nothing, so a build may be running.
const list = async (state: string): Promise<string> => {
  const store = openStore(state);
  // What left the manifest is kept for a month, and no build asks for a word about it.
  const built = readLastBuild(state)?.repositories.map(({ slug }) => slug);
  const slugs = (await store.list()).filter((slug) => built?.includes(slug) ?? true);
  const waiting = await listWaiting(store, slugs);
  const removals = listHeldRemovals(state);
  let text = waiting.map(({ slug, code, reason }) => `${slug}\n  ${code}: ${reason}\n`).join('');
  if (waiting.length > 0) text += `\nTake what is held back of one of them with: ${callOf(state, 'SLUG')}\n`;
  if (removals.length > 0) {
    text += `\nNo longer in the manifest, and kept for now: ${removals.join(', ')}\n`;
    text += `Let them go with: ${callOf(state, '--removals')}\n`;
  }
  return text === '' ? `Nothing is held back in ${state}.\n` : text.trimStart();
};

const takeRemovals = (state: string): string => {
  const slugs = acceptRemovals(state);
  if (slugs.length === 0) throw new CommandFailure(`No removal is held back in ${state}.`);
  return `The next build lets go of ${slugs.join(', ')}.\n`;
};

const takeRepository = async (state: string, slug: string): Promise<string> => {
  try {
    const words = await acceptRepository(openStore(state), slug);
    if (words.length === 0) throw new CommandFailure(`Nothing of ${slug} is held back in ${state}.`);
    return `${words.join('\n')}\n`;
  } catch (error) {
    throw error instanceof SnapshotError ? new CommandFailure(error.message) : error;
  }
};

const takeOutput = (state: string, out: string): string => {
  if (!findEntry(out)?.isDirectory()) throw new CommandFailure(`There is no folder ${out}.`);
  if (!takeOverOutput(out, state)) throw new CommandFailure(`${out} belongs to no other state folder than ${state}.`);
  return `${out} is published from ${state} from now on.\n`;
};

await runCommand(command, async ({ state, removals, 'take-over': out }, slug) => {
  const words = [removals, slug !== undefined, out !== undefined].filter(Boolean).length;
  if (words > 1) throw new UsageError('give one of SLUG, --removals and --take-over');
  assertState(state);
  assertKept(state);
  if (out !== undefined) assertApart({ state, out });
  if (words === 0) {
    process.stdout.write(await list(state));
    return;
  }
  let unlock: (() => void) | undefined;
  try {
    unlock = lockState(state);
    if (out !== undefined) process.stdout.write(takeOutput(state, out));
    else process.stdout.write(slug === undefined ? takeRemovals(state) : await takeRepository(state, slug));
  } catch (error) {
    throw error instanceof LockedError ? new CommandFailure(error.message, exitCodes.busy) : error;
  } finally {
    unlock?.();
  }
});
