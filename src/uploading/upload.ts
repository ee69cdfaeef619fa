import {
  bringGeneration,
  listChanges,
  listDue,
  listInventory,
  makePlanFor,
  type UploadOptions,
  type UploadSummary,
} from './bring-generation.ts';
import { Claim, usualTimes } from './claim.ts';
import { type LocalGeneration, Superseded } from './local-publication.ts';
import { assertNotNewer, assertOurs, hasSignature, readState, type State } from './state.ts';
import { Transfer } from './transfer.ts';
import { Conflict, DestinationBusy } from './upload-error.ts';

export type { UploadOptions, UploadSummary } from './bring-generation.ts';

/**
 * Brings a destination to the generation in force in an output folder, and sends only files that it does not have.
 * Files that others name are sent first, `generation.json` last; removed files stay for a while, and a later upload
 * removes them. Whenever this ends, readers have the former generation or this one, and the next upload continues where
 * it stopped.
 *
 * @throws UploadError if it cannot be done; errors of the system
 */
export const upload = async (options: UploadOptions): Promise<UploadSummary> => {
  const { publication, destination, times = usualTimes, onWait = () => {} } = options;
  const first = publication.read();
  const state = await readState(destination);
  if (!options.force) {
    await assertOurs(state, destination);
    assertNotNewer(state, first, destination, publication.folder);
  }
  if (!options.verify && isUpToDate(state, first, options)) {
    return { generation: first.generation, sent: 0, bytes: 0, found: 0, removed: 0, kept: state.retired.size };
  }
  if (options.dryRun) return rehearse(first, state, options);
  const claim = await Claim.take(destination, times, (holder) =>
    onWait(`Another upload may be under way (${holder}): waiting for a sign of life from it.`),
  );
  try {
    return await bringUpToDate(first, claim, options);
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    throw new DestinationBusy(`Somebody else has written to ${destination.title} meanwhile: upload again.`);
  } finally {
    // If this fails, the record does not matter: the next upload finds out by itself.
    await claim.release().catch(() => {});
  }
};

const bringUpToDate = async (first: LocalGeneration, claim: Claim, options: UploadOptions): Promise<UploadSummary> => {
  const { publication, destination, onWait = () => {} } = options;
  const transfer = new Transfer(options);
  await destination.begin();
  for (let local = first; ; local = publication.read()) {
    const state = { ...(await readState(destination)), record: claim.record };
    if (!options.force) assertNotNewer(state, local, destination, publication.folder);
    try {
      return await bringGeneration(local, state, claim, transfer, options);
    } catch (error) {
      if (!(error instanceof Superseded)) throw error;
      await publication.waitForNext(local, error.message, () =>
        onWait(`A build is publishing into ${publication.folder}: waiting for its generation.`),
      );
    }
  }
};

const isUpToDate = (state: State, local: LocalGeneration, options: UploadOptions): boolean => {
  const { current, record, retired } = state;
  if (current === undefined || record === undefined || record.intended.length > 0) return false;
  if (!current.text.equals(local.text) || !hasSignature(state, local) || listDue(retired, options).length > 0)
    return false;
  const forms = new Set([...local.inventory.keys()].map((file) => options.destination.formOf(file)));
  return forms.symmetricDifference(new Set(record.forms)).size === 0;
};

const rehearse = async (local: LocalGeneration, state: State, options: UploadOptions): Promise<UploadSummary> => {
  const { planned, gone } = await makePlanFor(local, state, options);
  const transfer = new Transfer(options);
  for (const turn of await transfer.order(planned)) transfer.rehearse(turn);
  const { generation } = local;
  for (const file of [
    ...listInventory(generation),
    generation.catalog.path,
    ...(await listChanges(generation, state, options)),
  ]) {
    await transfer.sendAccount(file, undefined);
  }
  const due = listDue(state.retired, options).length;
  const kept = new Set([...state.retired.keys(), ...gone.keys()]).size - due;
  return { generation: local.generation, ...transfer.tally, removed: due, kept };
};
