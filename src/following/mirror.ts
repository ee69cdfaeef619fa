import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockMirror } from '../catalog/lock.ts';
import { changesFolder, type Generation, generationPath, portionsFolder } from '../contract/generation.ts';
import { apiRoot } from '../contract/paths.ts';
import { makeFolder } from '../disk/make-folder.ts';
import { isEntrance } from '../publication/entrances.ts';
import { readContent } from '../publication/folder-content.ts';
import { readGeneration } from '../publication/generation-in-force.ts';
import { putGenerationInForce, replaceSignature, signaturePathOf } from '../publication/generation-signature.ts';
import { removeOld } from '../publication/old-generations.ts';
import { OutputFolder } from '../publication/output-folder.ts';
import { isOutputOfBuilds, ownName } from '../publication/owner.ts';
import { askPatiently, assertComplete, type Taking, takeAll, takeCatalog } from './mirror-files.ts';
import { placeInventory, readHeld, takeInventory } from './mirror-inventory.ts';
import { isUnderWay, markUnderWay, unmarkUnderWay } from './mirror-mark.ts';
import {
  hasOtherHistory,
  type ListSource,
  listGone,
  planByChanges,
  planByInventory,
  takeEarlierLists,
} from './mirror-plan.ts';
import { Superseded } from './mirror-refusals.ts';
import { assertNotOlder, type FoundGeneration, SourceError, unaskedNotModified } from './source.ts';

/** What to mirror, and where to. */
export interface MirrorOptions extends Taking {
  /** The folder of the mirror, which is itself a publication. */
  readonly folder: string;
}

/** What a mirror took. */
export interface MirrorSummary {
  readonly generation: Generation;
  /** How the present generation was reached from the last one; `none` if it was there already. */
  readonly by: 'none' | 'changes' | 'inventory';
  readonly fetched: number;
  readonly removed: number;
}

const mostTries = 10;

// A server, and any cache in front of it, may answer with old files for a moment after a new generation came into
// force: our own for a quarter of a second. The pauses add up to some nine seconds.
const firstPauseMs = 50;
const longestPauseMs = 2_000;
/** From which try on it is told, because until then every generation may look so for a moment. */
const firstToldTry = 4;

/** The folder contains something that no mirror put there. The message says what to do. */
export class FolderTaken extends Error {
  override readonly name = 'FolderTaken';
}

// A mirror removes what its publication does not name, and a build what it does not know.
const assertOurs = (folder: string, output: OutputFolder): void => {
  if (isOutputOfBuilds(output.root))
    throw new FolderTaken(
      `${folder} is the output folder of builds, which a mirror would put into disorder: name another folder.`,
    );
  // A mirror that lost the name of its generation continues with the files that it has.
  if (isUnderWay(output) || existsSync(output.resolve(apiRoot)) || readContent(output.root).length === 0) return;
  throw new FolderTaken(`${folder} holds something, and no publication: nothing was taken. Name an empty folder.`);
};

/**
 * Updates a folder to the generation in force of a publication: by the change lists, if they lead there from the
 * folder's content, else by the inventory. Files appear whole, those that others name before those, and
 * `generation.json` last. Then files that are gone are removed. An interrupted mirror continues with what it has. If
 * what is read does not belong to one generation, it is read again, after growing pauses.
 *
 * @throws SourceError if the publication cannot be taken, FolderTaken if the folder contains something else,
 * LockedError if another mirror is running there; NetworkError
 */
export const mirror = async (options: MirrorOptions): Promise<MirrorSummary> => {
  const output = new OutputFolder(options.folder);
  assertOurs(options.folder, output);
  makeFolder(output.root);
  const unlock = lockMirror(output.resolve(ownName), options.folder);
  try {
    return await bringUpToDate(output, options);
  } finally {
    unlock();
  }
};

const bringUpToDate = async (output: OutputFolder, options: MirrorOptions): Promise<MirrorSummary> => {
  const { pause = sleep, onRetry } = options;
  for (let tries = 1; ; tries++) {
    output.sweep();
    const found = await askPatiently(() => options.source.readGeneration(), options);
    if (found === undefined) throw unaskedNotModified(options.source.base);
    try {
      return await bringTo(found, output, options);
    } catch (error) {
      if (!(error instanceof Superseded)) throw error;
      if (tries === mostTries)
        throw new SourceError(
          'changing',
          `${options.source.base} holds other files than it says, or changes faster than it can be read (${mostTries} tries; at last: ${error.message}). Try again later.`,
        );
      if (tries >= firstToldTry)
        onRetry?.(`${options.source.base} does not hold what it says (${error.message}). It is read again.`);
    } finally {
      output.sweep();
    }
    await pause(Math.min(longestPauseMs, firstPauseMs * 2 ** (tries - 1)));
  }
};

const bringTo = async (
  found: FoundGeneration,
  output: OutputFolder,
  options: MirrorOptions,
): Promise<MirrorSummary> => {
  const { generation, text, jws } = found;
  const { source, folder } = options;
  const local = readGeneration(output);
  const isSame = local !== undefined && readFileSync(output.resolve(generationPath.current)).equals(text);
  const wasKilled = isUnderWay(output);
  if (isSame && !wasKilled) {
    await renewSignature(found, output);
    return { generation, by: 'none', fetched: 0, removed: 0 };
  }
  if (!isSame) assertNotOlder(generation, local, { base: source.base, folder });
  const lists: ListSource = {
    readChanges: (number, maxBytes) => askPatiently(() => source.readChanges(number, maxBytes), options),
  };
  const former = local && readHeld(output, local);
  const held = wasKilled ? undefined : former;
  const account = await takeInventory(generation, output, options);
  const isOther = local !== undefined && !isSame && (await hasOtherHistory(local, generation, output, lists));
  const plan =
    (held && !isOther ? await planByChanges(generation, local, { held, all: account.inventory }, lists) : undefined) ??
    (await planByInventory(generation, output, { held, all: account.inventory }, lists));
  // Called before the first file of a generation exists whose other files are missing. If the mirror is then killed, or
  // finds another generation, this shows that there may be files that no later generation names.
  const begin = async () => {
    await markUnderWay(output);
    placeInventory(account, output);
  };
  if (plan.isFirst) await begin();
  const taken = await takeAll(plan, output, options);
  const earlier = isOther ? await takeEarlierLists(generation, output, lists) : undefined;
  assertComplete(plan, taken, generation);
  const catalog = await takeCatalog(generation.catalog, wasKilled, output, options);
  if (!plan.isFirst) await begin();
  const fresh = [...taken.keys()].filter((file) => output.lookUp(file) === undefined);
  const changed = [...taken.keys()].filter((file) => output.lookUp(file) !== undefined);
  changed.sort((one, other) => Number(isEntrance(one)) - Number(isEntrance(other)));
  if (!plan.isFirst) {
    for (const file of [...fresh, ...changed]) output.placeNoted(taken.get(file)?.temporary ?? '', file);
  }
  if (catalog !== undefined) output.placeNoted(catalog, generation.catalog.path);
  // Files from a killed mirror may not have been flushed.
  if (held === undefined) for (const file of [...plan.kept.keys(), generation.catalog.path]) output.note(file);
  // From these, everything that follows this mirror, including other mirrors, learns that it cannot continue from
  // there.
  if (earlier !== undefined) {
    output.prune(changesFolder);
    for (const [file, temporary] of earlier) output.placeNoted(temporary, file);
  }
  for (const list of plan.lists) output.write(generationPath.changes(list.number), JSON.stringify(list));
  await putGenerationInForce(output, text, jws);
  // An edge host takes portions for minutes, and one that began with the former generation still asks for these. They
  // go with the next one, as in the output folder of builds.
  const mayBeRead = (file: string): boolean => file.startsWith(`${portionsFolder}/`) && former?.has(file) === true;
  const gone = listGone(plan, output).filter((file) => !mayBeRead(file));
  for (const file of gone) removeFile(file, output);
  removeOld(output, generation);
  unmarkUnderWay(output);
  return { generation, by: plan.by, fetched: taken.size, removed: gone.length };
};

const removeFile = (file: string, output: OutputFolder): void => {
  rmSync(output.resolve(file), { force: true });
  output.removeEmptyAbove(file);
};

/** Updates the signature of the generation in force, which may have another key now, or be gone. */
const renewSignature = async ({ text, jws }: FoundGeneration, output: OutputFolder): Promise<void> => {
  const isThere = (file: string): boolean => {
    const present = output.lookUp(file)?.isFile() ? readFileSync(output.resolve(file)) : undefined;
    return jws === undefined ? present === undefined : present?.equals(jws) === true;
  };
  if (isThere(generationPath.signature) && isThere(signaturePathOf(text))) return;
  await replaceSignature(output, text, jws);
};
