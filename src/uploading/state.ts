import { type Generation, generationPath, generationSchema } from '../contract/generation.ts';
import { signaturePathOf } from '../publication/generation-signature.ts';
import { composeSafeInventory, type Inventory } from '../publication/published-inventory.ts';
import type { Destination } from './destination.ts';
import type { LocalGeneration } from './local-publication.ts';
import {
  type Intended,
  newRecord,
  parseRecord,
  parseRetired,
  type Retired,
  recordName,
  retiredName,
  type UploadRecord,
  withoutHolder,
} from './record.ts';
import { UploadError } from './upload-error.ts';

/** Whether the destination has exactly this signature or, if the generation has none, no signature. */
export const hasSignature = ({ signatures }: State, { jws }: LocalGeneration): boolean =>
  signatures.every((one) => (jws === undefined ? one === undefined : one?.equals(jws) === true));

/** The state of a destination according to its own files. */
export interface State {
  readonly current: { readonly generation: Generation; readonly text: Buffer; readonly tag: string } | undefined;
  /** The signature in force there, and the one under the name derived from what it signs. */
  readonly signatures: readonly (Buffer | undefined)[];
  /** Undefined if no upload was ever begun. */
  readonly record: UploadRecord | undefined;
  readonly retired: Retired;
  readonly retiredTag: string | undefined;
}

/** Reads what a destination says about itself. Throws UploadError if that is damaged. */
export const readState = async (destination: Destination): Promise<State> => {
  const [current, record, retired] = await Promise.all([
    destination.read(generationPath.current),
    destination.read(recordName),
    destination.read(retiredName),
  ]);
  const signatures = current === undefined ? [] : [generationPath.signature, signaturePathOf(current.bytes)];
  const read = await Promise.all(signatures.map((name) => destination.read(name)));
  return {
    current: current && { generation: parseCurrent(current.bytes, destination), text: current.bytes, tag: current.tag },
    signatures: read.map((one) => one?.bytes),
    record: record && withoutHolder(parseRecord(record.bytes, destination.title)),
    retired: parseRetired(retired?.bytes, destination.title),
    retiredTag: retired?.tag,
  };
};

const parseCurrent = (bytes: Buffer, { title }: Destination): Generation => {
  try {
    return generationSchema.parse(JSON.parse(bytes.toString()));
  } catch (cause) {
    throw new UploadError(
      `${generationPath.current} at ${title} is damaged, or written by another version of Debdex: update, or remove that file and upload with --force.`,
      { cause },
    );
  }
};

/**
 * Refuses to replace a newer generation: readers would take the older one for a replayed copy (P3). Throws UploadError.
 */
export const assertNotNewer = (
  { current }: State,
  { generation, text }: LocalGeneration,
  { title }: Destination,
  folder: string,
): void => {
  if (current === undefined || current.text.equals(text)) return;
  const there = current.generation;
  if (there.number < generation.number) return;
  if (there.number === generation.number && there.date <= generation.date) return;
  throw new UploadError(
    `${title} holds generation ${there.number} of ${there.date}, which is newer than the generation ${generation.number} of ${generation.date} in ${folder}: nothing was sent. Build with the state and output folders that it came from; or, where this one is to take its place, upload with --force (mirrors and replicas of it then have to begin anew).`,
  );
};

/** Refuses to upload into a destination that contains anything but a publication. Throws UploadError. */
export const assertOurs = async ({ current, record }: State, destination: Destination): Promise<void> => {
  if (current !== undefined || record !== undefined || (await destination.isEmpty())) return;
  throw new UploadError(
    `${destination.title} holds something, and no publication: nothing was sent. Name an empty place; or, where the publication is to stand among what is there, upload with --force.`,
  );
};

const readInventory = async (
  destination: Destination,
  documents: Generation['documents'] | Intended,
): Promise<Inventory | undefined> => {
  const { inventory, differences } = documents;
  const [whole, differing] = await Promise.all(
    [inventory, differences].map((name) => (name === undefined ? undefined : destination.read(name))),
  );
  return composeSafeInventory(documents, { whole: whole?.bytes, differences: differing?.bytes });
};

/** The files that exist, or may exist, at a destination. */
export const readInventories = async (
  destination: Destination,
  { current, record = newRecord }: State,
): Promise<{ readonly base: Inventory | undefined; readonly interrupted: readonly Inventory[] }> => {
  const documents = current?.generation.documents;
  const base = documents && (await readInventory(destination, documents));
  const interrupted: Inventory[] = [];
  for (const one of record.intended) {
    const read = await readInventory(destination, one);
    // If its inventory is missing, that upload was killed before it sent any other file.
    if (read !== undefined) interrupted.push(read);
  }
  return { base, interrupted };
};
