import { hash, randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../catalog/lock.ts';
import type { Destination } from './destination.ts';
import {
  formatRecord,
  type Holder,
  newRecord,
  parseRecord,
  recordName,
  type UploadRecord,
  withoutHolder,
} from './record.ts';
import { Conflict, DestinationBusy, notKept, otherTags, UploadError } from './upload-error.ts';

/** The intervals of a claim, in milliseconds. */
export interface ClaimTimes {
  /** Between two renewals. */
  readonly renewMs: number;
  /**
   * How long without a renewal until an upload counts as dead. It is measured with one clock, so that clocks of two
   * machines are never compared.
   */
  readonly silentMs: number;
  readonly pollMs: number;
  /**
   * How long to wait until two uploads that write at once would see each other, if a destination cannot refuse the
   * second.
   */
  readonly settleMs: number;
}

export const usualTimes: ClaimTimes = { renewMs: 10_000, silentMs: 30_000, pollMs: 2000, settleMs: 2000 };

const mostConflicts = 20;

const readOptional = (read: () => string): string => {
  try {
    return read();
  } catch {
    return '';
  }
};

// Several machines may have one name, and a container may have that of its machine. A process id is unique only where
// it was given out: on Linux, since the machine started and in the same PID namespace.
const whereProcessesAreNumbered = (): string =>
  [
    os.hostname(),
    readOptional(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    readOptional(() => readlinkSync('/proc/self/ns/pid')),
  ].join('\n');

/** A digest, because anybody may read a bucket: the record tells machines apart without naming them. */
export const thisHost: string = hash('sha256', whereProcessesAreNumbered()).slice(0, 16);

const describe = ({ host, pid, since }: Holder): string =>
  `process ${pid} on ${host === thisHost ? 'this' : 'another'} machine, since ${since}`;

// Only of a process on this machine can we know that it has ended. If a process with its id runs here, perhaps our own,
// we cannot: it may be another one, as in another container.
const isDead = ({ host, pid }: Holder): boolean => host === thisHost && !isAlive(pid);

const busy = (title: string, holder: Holder): DestinationBusy =>
  new DestinationBusy(
    `Another upload to ${title} is under way (${describe(holder)}): wait for it to end, then upload again.`,
  );

const contested = (title: string): DestinationBusy =>
  new DestinationBusy(`Others keep writing ${recordName} at ${title}: upload again later.`);

/**
 * The right to write at a destination, which only one upload has at a time. It is recorded there and renewed while the
 * upload works; without renewals the next upload takes it over.
 */
export class Claim {
  readonly #destination: Destination;
  readonly #times: ClaimTimes;
  readonly #holder: Holder;
  #record: UploadRecord;
  /** The record as it was written last. */
  #bytes: Buffer;
  #tag: string;
  #turn: number;
  #renewed = performance.now();
  #lost: Error | undefined;
  #writing: Promise<void> = Promise.resolve();
  #waiting = 0;
  readonly #timer: NodeJS.Timeout;

  private constructor(
    destination: Destination,
    times: ClaimTimes,
    held: { holder: Holder; record: UploadRecord; bytes: Buffer; tag: string; turn: number },
  ) {
    this.#destination = destination;
    this.#times = times;
    this.#holder = held.holder;
    this.#record = held.record;
    this.#bytes = held.bytes;
    this.#tag = held.tag;
    this.#turn = held.turn;
    this.#timer = setInterval(() => {
      // A write in progress is a renewal, too, and a slow store should not get ever more requests.
      if (this.#waiting === 0) this.renew().catch(() => {});
    }, times.renewMs);
    this.#timer.unref();
  }

  /**
   * Takes the right to write, if need be after its holder has not renewed it for a while.
   *
   * @throws DestinationBusy if another upload is in progress; UploadError if the destination keeps nothing, or its tags
   * are not its own
   */
  static async take(destination: Destination, times: ClaimTimes, onWait: (holder: string) => void): Promise<Claim> {
    const holder = { id: randomUUID(), host: thisHost, pid: process.pid, since: new Date().toISOString() };
    let watched: { readonly tag: string; readonly since: number } | undefined;
    let refused: Buffer | undefined;
    for (let conflicts = 0; ; ) {
      const found = await destination.read(recordName);
      if (found !== undefined && refused?.equals(found.bytes)) throw otherTags(destination.title, recordName);
      const before = found && parseRecord(found.bytes, destination.title);
      if (found !== undefined && before?.holder && !isDead(before.holder)) {
        if (watched !== undefined && watched.tag !== found.tag) throw busy(destination.title, before.holder);
        if (watched === undefined) onWait(describe(before.holder));
        watched ??= { tag: found.tag, since: performance.now() };
        if (performance.now() - watched.since <= times.silentMs) {
          await sleep(times.pollMs);
          continue;
        }
      }
      const turn = (before?.turn ?? 0) + 1;
      const record = before === undefined ? newRecord : withoutHolder(before);
      const bytes = formatRecord({ ...record, format: 1, holder, turn });
      try {
        const tag = await destination.replace(recordName, bytes, found?.tag);
        if (!destination.isSure()) {
          await sleep(times.settleMs);
          const kept = await destination.read(recordName);
          if (kept?.bytes.equals(bytes) !== true) {
            if (++conflicts <= mostConflicts) continue;
            if (kept === undefined) throw notKept(destination.title, recordName);
            throw contested(destination.title);
          }
        }
        return new Claim(destination, times, { holder, record, bytes, tag, turn });
      } catch (error) {
        // Another upload was quicker; the record now says which one.
        if (!(error instanceof Conflict)) throw error;
        if (++conflicts > mostConflicts) throw contested(destination.title);
        // Whoever writes it alters it.
        refused = found?.bytes;
      }
    }
  }

  get record(): UploadRecord {
    return this.#record;
  }

  /**
   * Must be awaited before each file. If this process slept so long that another upload may have taken over, it renews
   * the claim first.
   *
   * @throws DestinationBusy if the right to write was lost
   */
  async assertFresh(): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    if (performance.now() - this.#renewed > this.#times.silentMs / 2) await this.renew();
  }

  /** Renews the claim, and makes sure that it is still ours. */
  renew(): Promise<void> {
    return this.#write({}, this.#holder);
  }

  /** Records what the next upload has to know. */
  update(change: Partial<UploadRecord>): Promise<void> {
    return this.#write(change, this.#holder);
  }

  /** Gives up the right to write. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#lost === undefined) await this.#write({}, null);
  }

  async #whyLost(): Promise<Error> {
    const { title } = this.#destination;
    const found = await this.#destination.read(recordName);
    if (found === undefined) {
      return new UploadError(
        `${title} has ${recordName} no more: somebody removed it, perhaps with all that was sent, while this upload was under way. Nothing more was sent; upload again with --verify.`,
      );
    }
    if (found.bytes.equals(this.#bytes)) return otherTags(title, recordName);
    return new DestinationBusy(
      `Another upload to ${title} has taken over, because this one seemed dead: nothing more was sent. Upload again when it has ended.`,
    );
  }

  // Writes one record after another, each with what was recorded before.
  #write(change: Partial<UploadRecord>, holder: Holder | null): Promise<void> {
    const work = this.#writing.then(async () => {
      if (this.#lost !== undefined) throw this.#lost;
      const record = { ...this.#record, ...change };
      try {
        // At a destination that does not support conditions, this could overwrite what another upload has written.
        const found = this.#destination.isSure() ? undefined : await this.#destination.read(recordName);
        if (found !== undefined && found.tag !== this.#tag) throw new Conflict();
        const bytes = formatRecord({ ...record, format: 1, holder, turn: this.#turn + 1 });
        this.#tag = await this.#destination.replace(recordName, bytes, this.#tag);
        this.#bytes = bytes;
        this.#turn++;
        this.#record = record;
        this.#renewed = performance.now();
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
        this.#lost = await this.#whyLost();
        throw this.#lost;
      }
    });
    this.#waiting++;
    this.#writing = work.catch(() => {}).finally(() => this.#waiting--);
    return work;
  }
}
