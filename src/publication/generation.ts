import { existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import type { FileDigest } from '../catalog/pieces.ts';
import { type ChangeList, changesFolder, type Generation, generationPath } from '../contract/generation.ts';
import { makeFolder } from '../disk/make-folder.ts';
import { writeFramedCopy } from './framed-copy.ts';
import {
  findInventory,
  inventoryPath,
  keepGeneration,
  readGeneration,
  readGenerationBefore,
  readKeptNumber,
} from './generation-in-force.ts';
import { putGenerationInForce, renewSignature } from './generation-signature.ts';
import { comparePaths, digestFile, type InventorySummary, readInventory, writeInventory } from './inventory.ts';
import { isPublished, publishNamed } from './named-files.ts';
import { removeOld } from './old-generations.ts';
import type { OutputFolder } from './output-folder.ts';
import { forgetPendingChanges } from './package-changes.ts';
import { publishInventory } from './publish-inventory.ts';
import type { Signer } from './signature.ts';

/** Files that are unchanged since the generation in force, and belong to the next one, too. */
export interface StandingFiles {
  readonly count: number;
  has(path: string): boolean;
}

/** What a generation consists of. */
export interface GenerationInput {
  readonly output: OutputFolder;
  /** The state folder, which keeps the inventory of the generation in force. */
  readonly state: string;
  readonly now: Date;
  /** The catalog in force: its file, and its digests. */
  readonly catalog: FileDigest & { readonly file: string };
  /** The paths of all published files, except those about generations, in any order. */
  readonly paths: Iterable<string>;
  /** Further files, which are not examined; only if `isInventoryKnown`. */
  readonly standing?: StandingFiles | undefined;
  /** Whether an existing file of the generation in force that is not among these belongs to this one, too. */
  readonly isCarried?: (path: string) => boolean;
  /** Whether a file was written since the generation in force; undefined if that is not known. */
  readonly isTouched: ((path: string) => boolean) | undefined;
  /** What changed of packages since the generation in force; undefined if that is not known. */
  readonly packages: ChangeList['packages'] | undefined;
  /** The catalog as rows, if it is published in this form: its list, which is among `paths`, as are the portions. */
  readonly portions?: Generation['portions'];
  readonly signer?: Signer | undefined;
}

/** The greatest number of any generation of which something is left. */
const greatestNumber = (output: OutputFolder): number => {
  const folder = output.resolve(changesFolder);
  if (!existsSync(folder)) return 0;
  return Math.max(0, ...readdirSync(folder).map((name) => Number(/^(\d+)\.json$/.exec(name)?.[1] ?? 0)));
};

/** Whether the files exist that a generation names: its catalog, and those that list its files. */
const standsWhole = (output: OutputFolder, { catalog, documents }: Generation): boolean =>
  existsSync(output.resolve(catalog.path)) &&
  [documents.inventory, documents.differences].every((file) => file === undefined || isPublished(output, file));

/**
 * Whether the numbers alone show that these files are those of a generation: the same catalog gives the same documents,
 * none was written since, and there are as many.
 */
const isUnchanged = (
  before: Generation,
  paths: ReadonlySet<string>,
  { output, catalog, standing, isTouched }: GenerationInput,
): boolean =>
  before.catalog.sha256 === catalog.sha256 &&
  before.documents.count === paths.size + (standing?.count ?? 0) &&
  isTouched !== undefined &&
  !paths.values().some(isTouched) &&
  standsWhole(output, before);

/** Writes the inventory of these files, using the one in force if that is known. */
const writeNextInventory = (
  file: string,
  paths: ReadonlySet<string>,
  known: string | undefined,
  { output, standing, isCarried, isTouched }: GenerationInput,
): InventorySummary => {
  let found = 0;
  const summary = writeInventory(file, {
    paths: [...paths].sort(comparePaths),
    before: known === undefined ? [] : readInventory(known),
    isCarried: (path) => {
      if (standing?.has(path) === true) {
        found++;
        return true;
      }
      return isCarried?.(path) === true && existsSync(output.resolve(path));
    },
    isTouched: isTouched ?? (() => true),
    digestOf: (path) => digestFile(output.resolve(path)),
  });
  if (found !== (standing?.count ?? 0)) {
    throw new Error(
      'The inventory in the state folder does not tell of all that stands. Build again: nothing is taken from it then.',
    );
  }
  return summary;
};

/** The result of publishing a generation. */
interface Published {
  readonly generation: Generation;
  readonly isNew: boolean;
  readonly changes?: InventorySummary;
}

/**
 * Publishes the existing files of the output folder as a generation, unless it is the one in force. To be called when
 * all of them exist, and before anything that is gone is removed. Returns the generation that is then in force, and
 * whether it is new.
 *
 * Whenever this ends, `generation.json` describes the last generation or this one, and everything that it names exists.
 * If it is unknown what was published before, or what changed of packages, `previous` is null, and followers take
 * everything again.
 */
export const publishGeneration = async (input: GenerationInput): Promise<Published> => {
  try {
    return await publish(input);
  } finally {
    input.output.sweep();
  }
};

const publish = async (input: GenerationInput): Promise<Published> => {
  const { output, state, catalog, signer } = input;
  const before = readGeneration(output);
  const last = readGenerationBefore(output, state);
  const inventory = inventoryPath(state);
  makeFolder(path.dirname(inventory));
  const found = last && findInventory(state, last);
  if (found !== undefined && found !== inventory) renameSync(found, inventory);
  const known = found === undefined ? undefined : inventory;
  const paths = new Set(input.paths);
  if (before !== undefined && known !== undefined && isUnchanged(before, paths, input)) {
    // With the same catalog no package changed, whatever is pending.
    forgetPendingChanges(state);
    await renewSignature(output, signer);
    return { generation: before, isNew: false };
  }
  const next = `${inventory}.next`;
  const summary = writeNextInventory(next, paths, known, input);
  const hasSame = before?.documents.digest === summary.digest && before.catalog.sha256 === catalog.sha256;
  if (before !== undefined && hasSame && standsWhole(output, before)) {
    renameSync(next, inventory);
    forgetPendingChanges(state);
    await renewSignature(output, signer);
    return { generation: before, isNew: false };
  }
  const number = Math.max(before?.number ?? greatestNumber(output), readKeptNumber(state)) + 1;
  const date = input.now.toISOString();
  const isKnown = known !== undefined && input.packages !== undefined;
  const previous = isKnown ? (last?.number ?? null) : null;
  const target = generationPath.catalog(catalog.sha256);
  const compressed = await publishNamed(output, target, () => writeFramedCopy(output, state, { ...catalog, target }));
  const listed = await publishInventory(output, next, summary, before);
  const documents = { written: [...summary.written], removed: [...summary.removed] };
  const changes: ChangeList = { format: 1, number, date, previous, documents, packages: input.packages ?? [] };
  output.write(generationPath.changes(number), JSON.stringify(changes));
  const generation: Generation = {
    format: 1,
    number,
    date,
    previous,
    catalog: {
      path: target,
      sha256: catalog.sha256,
      size: statSync(catalog.file).size,
      compressed_size: compressed,
    },
    documents: { count: summary.count, digest: summary.digest, ...listed },
    changes: generationPath.changes(number),
    ...(input.portions === undefined ? {} : { portions: input.portions }),
  };
  const text = JSON.stringify(generation);
  await putGenerationInForce(output, text, await signer?.sign(Buffer.from(text)));
  renameSync(next, inventory);
  forgetPendingChanges(state);
  keepGeneration(state, text);
  removeOld(output, generation);
  return { generation, isNew: true, changes: summary };
};
