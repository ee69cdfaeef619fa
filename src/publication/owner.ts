import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { LockedError, lockOutput, lockState } from '../catalog/lock.ts';
import { acceptCommand } from '../contract/accept-command.ts';
import { shellWord } from '../contract/shell-word.ts';
import { findEntry } from '../disk/find-entry.ts';
import { readJsonFile } from '../disk/json-file.ts';
import { writeWholeFile } from '../disk/whole-file.ts';
import { readContent } from './folder-content.ts';
import { OutputFolder } from './output-folder.ts';

const ownerSchema = z.strictObject({
  /** The identifier of the state folder that it is published from. */
  state: z.string(),
  /** Where its repositories come from. */
  source: z.enum(['manifest', 'sample']),
});

/** What an output folder is published from. */
export type Owner = Readonly<z.infer<typeof ownerSchema>>;

/** An output folder that is published from another state folder, or contains something that no build published. */
export class OutputTaken extends Error {
  override readonly name = 'OutputTaken';
}

/** The folder for unpublished files in an output folder or a mirror. No document has this name. */
export const ownName = '.debdex';
const ownFolder = (out: string): string => path.join(out, ownName);
const ownerName = `${ownName}/owner.json`;
const ownerPath = (out: string): string => path.join(out, ownerName);

const writeOwner = (output: OutputFolder, owner: Owner): void => output.write(ownerName, `${JSON.stringify(owner)}\n`);

const readOwner = (out: string): Owner | undefined => readJsonFile(ownerPath(out), ownerSchema);

/** Where the repositories in an output folder come from; undefined if that was never recorded. */
export const readPublishedSource = (out: string): Owner['source'] | undefined => readOwner(out)?.source;

/** The identifier of a state folder, which it keeps when it is moved. @throws any error of the system if it cannot be read */
const readStateIdentifier = (state: string): string => {
  const file = path.join(state, 'identifier');
  try {
    const text = readFileSync(file, 'utf8').trim();
    if (text !== '') return text;
  } catch (error) {
    // This is the first build of this folder. One that cannot be read now, as that of another user, may be whole.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const identifier = randomUUID();
  // If it were lost, its own output folder would seem to belong to somebody else.
  writeWholeFile(file, `${identifier}\n`, { durable: true });
  return identifier;
};

/** Whether anything other than the bundled sample was published into an output folder. */
export const holdsPublication = (out: string): boolean => readOwner(out)?.source === 'manifest';

/** Whether a build is publishing into an output folder at this moment. */
export const isBeingPublished = (out: string): boolean => {
  if (!existsSync(ownFolder(out))) return false;
  try {
    lockOutput(ownFolder(out), out)();
    return false;
  } catch (error) {
    // If that cannot even be checked (in a read-only folder), nobody is publishing.
    return error instanceof LockedError;
  }
};

/** Whether builds publish into a folder, or did. @throws any error of the system if this user may not see it */
export const isOutputOfBuilds = (folder: string): boolean =>
  findEntry(folder) !== undefined && statSync(ownerPath(folder), { throwIfNoEntry: false }) !== undefined;

const takeOverCommand = (out: string, state: string): string => acceptCommand(state, `--take-over ${shellWord(out)}`);

/**
 * Checks, before anything is written into an output folder, that its content comes from builds, because a build
 * replaces and removes what it finds there.
 *
 * @throws OutputTaken if it contains something else, or the copy of a mirror
 */
const assertFree = (out: string, state: string): void => {
  if (isOutputOfBuilds(out)) return;
  const content = readContent(out);
  if (content.length === 0) return;
  const some = content.length > 3 ? `${content.slice(0, 3).join(', ')} and more` : content.join(', ');
  throw new OutputTaken(
    `${out} holds ${some}, which no build published there and a build would replace or remove: nothing was changed. Name an empty folder; or, where all of it may go, say so with ${takeOverCommand(out, state)}`,
  );
};

/** An output folder that no other build writes to. */
export interface TakenOutput {
  readonly output: OutputFolder;
  /**
   * Records that it is published from the state folder from now on. To be called before anything else is written there.
   */
  readonly claim: () => void;
  readonly release: () => void;
}

/**
 * Keeps other builds out of an output folder until `release` is called.
 *
 * @throws LockedError if another build is publishing into it
 * @throws OutputTaken if it was published from another state folder, or contains something that no build published
 */
export const takeOutput = (out: string, state: string, source: Owner['source']): TakenOutput => {
  // This comes first, because the lock is a file in that folder, too.
  assertFree(out, state);
  const release = lockOutput(ownFolder(out), out);
  try {
    const owner = readOwner(out);
    const identifier = readStateIdentifier(state);
    if (owner !== undefined && owner.state !== identifier) {
      throw new OutputTaken(
        `${out} was published from another state folder than ${state}, or that has lost its file "identifier" since. Name the --out or --state that belong together, or restore that file; if this state is to publish there from now on, say so with ${takeOverCommand(out, state)}`,
      );
    }
    const output = new OutputFolder(out);
    const claim = () => {
      if (owner?.source !== source) writeOwner(output, { state: identifier, source });
    };
    return { output, claim, release };
  } catch (error) {
    release();
    throw error;
  }
};

/**
 * Records that an output folder is published from a state folder, and does this work while no other build uses either.
 * If the process ends meanwhile, no folder is left without an owner. Throws as `takeOutput` does, and what the work
 * throws.
 */
export const whileClaimed = async <T>(
  out: string,
  state: string,
  source: Owner['source'],
  work: () => Promise<T>,
): Promise<T> => {
  const unlock = lockState(state);
  try {
    const { claim, release } = takeOutput(out, state, source);
    try {
      claim();
      return await work();
    } finally {
      release();
    }
  } finally {
    unlock();
  }
};

/**
 * By the operator's order, assigns an output folder with all of its content to this state folder. Returns false if it
 * already is, or contains nothing that anybody published or put there.
 *
 * @throws LockedError if a build is publishing into it
 */
export const takeOverOutput = (out: string, state: string): boolean => {
  if (!isOutputOfBuilds(out) && readContent(out).length === 0) return false;
  const release = lockOutput(ownFolder(out), out);
  try {
    const owner = readOwner(out);
    const identifier = readStateIdentifier(state);
    if (owner?.state === identifier) return false;
    const output = new OutputFolder(out);
    writeOwner(output, { source: owner?.source ?? 'manifest', state: identifier });
    output.sweep();
    return true;
  } finally {
    release();
  }
};
