import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Generation, generationPath, keptCatalogs, keptChangeLists } from '../contract/generation.ts';
import { signaturePathOf } from '../publication/generation-signature.ts';
import type { Claim, ClaimTimes } from './claim.ts';
import type { Destination } from './destination.ts';
import { fileOf, type LocalGeneration, type LocalPublication, Superseded } from './local-publication.ts';
import { makePlan, Naming, type Plan } from './plan.ts';
import { formatRetired, newRecord, type Retired, type RetiredEntry, retiredName } from './record.ts';
import { hasSignature, readInventories, type State } from './state.ts';
import type { Tally, Transfer } from './transfer.ts';

/** What to upload, and the destination. */
export interface UploadOptions {
  readonly publication: LocalPublication;
  readonly destination: Destination;
  /** How many files are sent at once; if undefined, as many as is usual for the destination. */
  readonly concurrency?: number | undefined;
  /** How long files that are no longer published stay at the destination, in milliseconds. */
  readonly keepRemovedMs: number;
  /** Only report what would be done. */
  readonly dryRun?: boolean;
  /** Upload even if the destination has a newer generation, or contains something else. */
  readonly force?: boolean;
  /** Look at every file at the destination instead of relying on what is recorded there. */
  readonly verify?: boolean;
  readonly now?: () => Date;
  readonly times?: ClaimTimes;
  readonly onProgress?: (done: number, total: number) => void;
  /** Called with the reason, a sentence, if the upload has to wait for something else. */
  readonly onWait?: (reason: string) => void;
}

/** What an upload did or, in a dry run, would do. */
export interface UploadSummary extends Tally {
  readonly generation: Generation;
  readonly removed: number;
  /** How many files are no longer published and stay for a while. */
  readonly kept: number;
}

/** The most generations between two uploads: a year of hourly builds. */
const mostSteps = 10_000;

const nowOf = ({ now = () => new Date() }: UploadOptions): Date => now();

/** The names of files that are no longer published and have stayed long enough. */
export const listDue = (retired: Retired, options: UploadOptions): string[] => {
  const before = new Date(nowOf(options).getTime() - options.keepRemovedMs).toISOString();
  return [...retired].filter(([, { since }]) => since <= before).map(([name]) => name);
};

/** Makes the plan that brings a destination in this state to a generation. */
export const makePlanFor = async (
  local: LocalGeneration,
  state: State,
  { destination, verify }: UploadOptions,
): Promise<Plan> => {
  const { base, interrupted } = await readInventories(destination, state);
  const forms = new Set(state.record?.forms);
  const retired = new Set([...state.retired.values()].map(({ path }) => path));
  // Something is published there, but it is not known which files.
  const isUnknown = state.current !== undefined && base === undefined;
  // An upload that looked for every file, and did not end, has sent only some of what it missed.
  const wasDoubtful = state.record?.intended.some((one) => one.isDoubtful) === true;
  const isDoubtful = isUnknown || wasDoubtful || verify === true;
  return makePlan(local.inventory, { base, interrupted, retired, forms }, destination, isDoubtful);
};

/**
 * Whether the change lists at a destination belong to another history: after a restored backup, numbers are given out
 * again.
 */
const hasOtherHistory = async (number: number, { publication, destination }: UploadOptions): Promise<boolean> => {
  const name = generationPath.changes(number);
  if (!existsSync(path.join(publication.folder, name))) return false;
  await using ours = await publication.open(name);
  return (await destination.look(name, name, ours.sha256)) === 'other';
};

/** The change lists from the generation at a destination to this one; if they do not lead there, all that exist. */
export const listChanges = async (
  { number }: Generation,
  { current }: State,
  options: UploadOptions,
): Promise<readonly string[]> => {
  const { publication, verify } = options;
  const there = verify ? 0 : (current?.generation.number ?? 0);
  const isContinued = there > 0 && there < number && !(await hasOtherHistory(there, options));
  const oldest = Math.max(1, number - keptChangeLists + 1, isContinued ? there + 1 : 1);
  const numbers = Array.from({ length: number - oldest + 1 }, (_, index) => oldest + index);
  return numbers
    .map((each) => generationPath.changes(each))
    .filter((file) => existsSync(path.join(publication.folder, file)));
};

/** The files that list which files belong to a generation. */
export const listInventory = ({ documents: { inventory, differences } }: Generation): readonly string[] =>
  [inventory, differences].filter((file) => file !== undefined);

class Step {
  readonly #local: LocalGeneration;
  readonly #state: State;
  readonly #claim: Claim;
  readonly #transfer: Transfer;
  readonly #options: UploadOptions;
  readonly #destination: Destination;
  #retiredTag: string | undefined;

  constructor(local: LocalGeneration, state: State, claim: Claim, transfer: Transfer, options: UploadOptions) {
    this.#local = local;
    this.#state = state;
    this.#claim = claim;
    this.#transfer = transfer;
    this.#options = options;
    this.#destination = options.destination;
    this.#retiredTag = state.retiredTag;
  }

  async run(): Promise<UploadSummary> {
    const { generation } = this.#local;
    const plan = await makePlanFor(this.#local, this.#state, this.#options);
    const turns = await this.#transfer.order(plan.planned);
    if (!this.#isInForce || turns.some((turn) => turn.length > 0)) await this.#noteIntention(generation, plan);
    for (const file of listInventory(generation)) await this.#transfer.sendAccount(file, this.#claim);
    for (const turn of turns) await this.#transfer.send(turn, this.#claim);
    await this.#transfer.sendAccount(generation.catalog.path, this.#claim, generation.catalog.compressed_size);
    await this.#transfer.each(await listChanges(generation, this.#state, this.#options), (file) =>
      this.#transfer.sendAccount(file, this.#claim),
    );
    const bulk = this.#keepBulk(generation);
    const retired = await this.#retire(plan, bulk.dropped);
    const { dropped: _, ...kept } = bulk;
    await this.#claim.update({ forms: plan.forms, ...kept });
    await this.#removeAll(this.#listTakenBack(generation));
    await this.#putInForce();
    const removed = await this.#removeDue(retired);
    if (this.#claim.record.intended.length > 0) await this.#claim.update({ intended: [] });
    return { generation, ...this.#transfer.tally, removed, kept: retired.size };
  }

  // Written before the first file is sent: if this upload is killed, the next one knows what may have been sent.
  async #noteIntention(
    { documents: { digest, inventory, differences }, catalog }: Generation,
    { isDoubtful }: Plan,
  ): Promise<void> {
    const intended = this.#claim.record.intended.filter((other) => other.digest !== digest);
    const signature = this.#signaturePath;
    await this.#claim.update({
      intended: [
        ...intended,
        {
          ...{ digest, inventory, catalog: catalog.path },
          ...(differences !== undefined && { differences }),
          ...(signature !== undefined && { signature }),
          ...(isDoubtful && { isDoubtful }),
        },
      ],
    });
  }

  /** Computes which catalogs, inventories and change lists stay, and which are to be removed in time. */
  #keepBulk({ number, catalog, documents }: Generation) {
    const { record = newRecord, current } = this.#state;
    const former = current?.generation;
    const intended = this.#claim.record.intended;
    const choose = (known: readonly (string | undefined)[], unfinished: readonly string[]) => {
      const named = [...new Set(known)].filter((name) => name !== undefined);
      const kept = named.slice(0, keptCatalogs);
      return { kept, dropped: [...named.slice(keptCatalogs), ...unfinished.filter((name) => !kept.includes(name))] };
    };
    const catalogs = choose(
      [catalog.path, former?.catalog.path, ...record.catalogs],
      intended.map((one) => one.catalog),
    );
    const inventories = choose(
      [documents.inventory, former?.documents.inventory, ...record.inventories],
      intended.map((one) => one.inventory),
    );
    const differences = choose(
      [documents.differences, former?.documents.differences, ...record.differences],
      intended.flatMap((one) => one.differences ?? []),
    );
    const isSigned = this.#signaturePath !== undefined;
    const signatures = choose(isSigned ? [this.#signaturePath, ...record.signatures] : [], [
      ...(isSigned ? [] : record.signatures),
      ...intended.flatMap((one) => one.signature ?? []),
    ]);
    const lists: string[] = [];
    const firstOld = Math.max(1, (former?.number ?? number) - keptChangeLists);
    // Limited, because nothing further on was ever uploaded, and a stranger may have made up the number.
    const lastOld = Math.min(number - keptChangeLists, firstOld + mostSteps);
    for (let old = firstOld; old <= lastOld; old++) lists.push(generationPath.changes(old));
    const dropped = [catalogs, inventories, differences, signatures].flatMap((one) => one.dropped);
    return {
      ...{ catalogs: catalogs.kept, inventories: inventories.kept },
      ...{ differences: differences.kept, signatures: signatures.kept },
      dropped: [...dropped, ...lists],
    };
  }

  /** The change lists of generations that this one takes back: a follower would wait until numbers reach them again. */
  #listTakenBack({ number }: Generation): string[] {
    const last = Math.min(this.#state.current?.generation.number ?? number, number + mostSteps);
    return Array.from({ length: Math.max(0, last - number) }, (_, index) => generationPath.changes(number + 1 + index));
  }

  /** Before files lose their last mention, records those that are to be removed once readers have had time. */
  async #retire({ gone }: Plan, bulk: readonly string[]): Promise<Map<string, RetiredEntry>> {
    const since = nowOf(this.#options).toISOString();
    const naming = new Naming(this.#local.inventory, this.#destination);
    const { generation } = this.#local;
    const { number } = generation;
    const lists = Array.from({ length: keptChangeLists }, (_, index) => generationPath.changes(number - index));
    const inForce = new Set([generation.catalog.path, ...listInventory(generation), this.#signaturePath, ...lists]);
    const isInForce = (name: string) => inForce.has(name);
    const retired = new Map<string, RetiredEntry>();
    for (const [name, entry] of this.#state.retired) {
      if (naming.isWanted(name, entry.path) || isInForce(name)) continue;
      // The record may come from a clock that was ahead; the file would then stay until that time.
      retired.set(name, entry.since > since ? { ...entry, since } : entry);
    }
    for (const [name, file] of gone) retired.set(name, { path: file, since });
    for (const name of bulk) if (!retired.has(name)) retired.set(name, { path: name, since });
    if (!formatRetired(retired).equals(formatRetired(this.#state.retired))) await this.#writeRetired(retired);
    return retired;
  }

  /** Puts the generation in force: from this moment readers see it. */
  async #putInForce(): Promise<void> {
    const { text, jws } = this.#local;
    const { signature, current } = generationPath;
    if (!this.#options.publication.isInForce(this.#local)) throw new Superseded('another generation is in force');
    if (this.#isInForce && hasSignature(this.#state, this.#local)) return;
    const own = this.#signaturePath;
    // The signature is first put under the name derived from what it signs, so that a reader always finds the one that
    // matches the generation in force.
    if (jws !== undefined && own !== undefined) await this.#destination.put(own, own, fileOf(jws));
    await this.#destination.flush();
    await this.#claim.renew();
    if (jws === undefined) {
      for (const name of [signature, signaturePathOf(text)]) await this.#destination.remove(name);
    } else await this.#destination.put(signature, signature, fileOf(jws));
    if (this.#isInForce) return;
    await this.#destination.replace(current, text, this.#state.current?.tag);
    await this.#destination.flush();
  }

  /** The path of the signature under the name derived from what it signs; undefined if the generation is not signed. */
  get #signaturePath(): string | undefined {
    return this.#local.jws && signaturePathOf(this.#local.text);
  }

  get #isInForce(): boolean {
    return this.#state.current?.text.equals(this.#local.text) ?? false;
  }

  async #removeDue(retired: Map<string, RetiredEntry>): Promise<number> {
    const due = listDue(retired, this.#options);
    await this.#removeAll(due);
    for (const name of due) retired.delete(name);
    if (due.length > 0) await this.#writeRetired(retired);
    return due.length;
  }

  #removeAll(names: readonly string[]): Promise<void> {
    return this.#transfer.each(names, async (name) => {
      await this.#claim.assertFresh();
      await this.#destination.remove(name);
    });
  }

  async #writeRetired(retired: Retired): Promise<void> {
    this.#retiredTag = await this.#destination.replace(retiredName, formatRetired(retired), this.#retiredTag);
  }
}

/**
 * Brings a destination from its present state to a generation.
 *
 * @throws Superseded if the files of the generation are gone, or another generation is in force here
 * @throws Conflict if somebody else has put another generation in force at the destination
 */
export const bringGeneration = (
  local: LocalGeneration,
  state: State,
  claim: Claim,
  transfer: Transfer,
  options: UploadOptions,
): Promise<UploadSummary> => new Step(local, state, claim, transfer, options).run();
