import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { LockedError, lockOutput } from '../catalog/lock.ts';
import { documentPath } from '../contract/paths.ts';
import { OutputFolder } from './output-folder.ts';
import { writeStateFile } from './state-file.ts';

const ownerSchema = z.strictObject({
  /** The identifier of the state folder that it is published from. */
  state: z.string(),
  /** What its repositories come from. */
  source: z.enum(['manifest', 'sample']),
});

/** From where an output folder is published. */
export type Owner = Readonly<z.infer<typeof ownerSchema>>;

/** An output folder that is published from another state folder, or holds what a sample must not replace. */
export class OutputTaken extends Error {
  override readonly name = 'OutputTaken';
}

// Beside what is published, under a name that no document has.
const ownName = '.debdex';
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
  writeStateFile(file, `${identifier}\n`);
  return identifier;
};

/**
 * Whether something else than the bundled sample was ever published into an output folder. Earlier versions did not
 * note what they published; the sample is then known by its repositories, which lie beside its documents.
 */
export const holdsPublication = (out: string): boolean => {
  const owner = readOwner(out);
  if (owner !== undefined) return owner.source !== 'sample';
  return existsSync(path.join(out, documentPath.landing)) && !existsSync(path.join(out, 'sample'));
};

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
 * @throws OutputTaken where it was published from another state folder
 */
export const takeOutput = (out: string, state: string, source: Owner['source']): TakenOutput => {
  const release = lockOutput(ownFolder(out), out);
  try {
    const owner = readOwner(out);
    const identifier = readStateIdentifier(state);
    if (owner !== undefined && owner.state !== identifier) {
      throw new OutputTaken(
        `${out} was published from another state folder than ${state}. Name the --out or --state that belong together; if this state is to publish there from now on, say so with npm run accept -- --state ${state} --take-over ${out}`,
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
 * Takes the operator's word that an output folder belongs to this state folder from now on. Returns false where it does
 * already, or belongs to none.
 *
 * @throws LockedError where a build is publishing into it
 */
export const takeOverOutput = (out: string, state: string): boolean => {
  if (!existsSync(ownerPath(out))) return false;
  const release = lockOutput(ownFolder(out), out);
  try {
    const owner = readOwner(out);
    const identifier = readStateIdentifier(state);
    if (owner === undefined || owner.state === identifier) return false;
    const output = new OutputFolder(out);
    writeOwner(output, { ...owner, state: identifier });
    output.sweep();
    return true;
  } finally {
    release();
  }
};
