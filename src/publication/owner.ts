import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { LockedError, lockOutput, lockState } from '../catalog/lock.ts';
import { shellWord } from '../contract/shell-word.ts';
import { writeWholeFile } from '../disk/whole-file.ts';
import { readContent } from './folder-content.ts';
import { OutputFolder } from './output-folder.ts';

const ownerSchema = z.strictObject({
  /** The identifier of the state folder that it is published from. */
  state: z.string(),
  /** What its repositories come from. */
  source: z.enum(['manifest', 'sample']),
});

/** From where an output folder is published. */
export type Owner = Readonly<z.infer<typeof ownerSchema>>;

/** An output folder that is published from another state folder, or holds what no build published. */
export class OutputTaken extends Error {
  override readonly name = 'OutputTaken';
}

/** The folder of what is not published, in an output folder or a mirror: a name that no document has. */
export const ownName = '.debdex';
const ownFolder = (out: string): string => path.join(out, ownName);
const ownerName = `${ownName}/owner.json`;
const ownerPath = (out: string): string => path.join(out, ownerName);

const writeOwner = (output: OutputFolder, owner: Owner): void => output.write(ownerName, `${JSON.stringify(owner)}\n`);

const readOwner = (out: string): Owner | undefined => {
  try {
    return ownerSchema.parse(JSON.parse(readFileSync(ownerPath(out), 'utf8')));
  } catch {
    return undefined;
  }
};

/** What the repositories come from that an output folder holds; undefined where that was never noted. */
export const readPublishedSource = (out: string): Owner['source'] | undefined => readOwner(out)?.source;

/** The identifier of a state folder, which it keeps wherever it is moved. */
const readStateIdentifier = (state: string): string => {
  const file = path.join(state, 'identifier');
  try {
    const text = readFileSync(file, 'utf8').trim();
    if (text !== '') return text;
  } catch {
    // The first build of this folder.
  }
  const identifier = randomUUID();
  // Lost, it would have the folder taken for somebody else's, whose output it is.
  writeWholeFile(file, `${identifier}\n`, { durable: true });
  return identifier;
};

/** Whether something else than the bundled sample was published into an output folder. */
export const holdsPublication = (out: string): boolean => readOwner(out)?.source === 'manifest';

/** Whether a build publishes into an output folder at this moment. */
export const isBeingPublished = (out: string): boolean => {
  if (!existsSync(ownFolder(out))) return false;
  try {
    lockOutput(ownFolder(out), out)();
    return false;
  } catch (error) {
    // Where it cannot even be asked (a folder that is read only), nobody publishes.
    return error instanceof LockedError;
  }
};

/** Whether builds publish into a folder, or did. */
export const isOutputOfBuilds = (folder: string): boolean => existsSync(ownerPath(folder));

const takeOverCommand = (out: string, state: string): string =>
  `npm run accept -- --state ${shellWord(state)} --take-over ${shellWord(out)}`;

/**
 * Checks, before anything is written into an output folder, that builds published what it holds: a build replaces and
 * removes what it finds there.
 *
 * @throws OutputTaken where it holds something else, or the copy that a mirror keeps
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
  /** Notes that it is published from the state folder from now on; to be called before anything else is written there. */
  readonly claim: () => void;
  readonly release: () => void;
}

/**
 * Keeps other builds out of an output folder until `release` is called.
 *
 * @throws LockedError where another build is publishing into it
 * @throws OutputTaken where it was published from another state folder, or holds what no build published
 */
export const takeOutput = (out: string, state: string, source: Owner['source']): TakenOutput => {
  // First, since the lock is a file of that folder too.
  assertFree(out, state);
  const release = lockOutput(ownFolder(out), out);
  try {
    const owner = readOwner(out);
    const identifier = readStateIdentifier(state);
    if (owner !== undefined && owner.state !== identifier) {
      throw new OutputTaken(
        `${out} was published from another state folder than ${state}. Name the --out or --state that belong together; if this state is to publish there from now on, say so with ${takeOverCommand(out, state)}`,
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
 * Notes that an output folder is published from a state folder, and does this work while no other build uses either: what
 * ends meanwhile leaves no folder that nobody owns. Throws as `takeOutput` does, and what the work throws.
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
 * Takes the operator's word that an output folder belongs to this state folder from now on, with all that it holds.
 * Returns false where it does already, or holds nothing that anybody published or put there.
 *
 * @throws LockedError where a build is publishing into it
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
