import { createHash, randomUUID } from 'node:crypto';
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
import { Conflict, DestinationBusy } from './upload-error.ts';

/** The clocks of a claim, in milliseconds. */
export interface ClaimTimes {
  /** Between two signs of life. */
  readonly renewMs: number;
  /** Without a sign of life for so long an upload counts as dead. No clocks of two machines are compared. */
  readonly silentMs: number;
  readonly pollMs: number;
  /** Where a destination cannot refuse the second of two that write at once, the wait until both would know. */
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

// Many machines have one name, and containers that of their machine; the number of a process means something only where it
// was given: on Linux, since a machine was started and among the processes that see each other.
const whereProcessesAreNumbered = (): string =>
  [
    os.hostname(),
    readOptional(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    readOptional(() => readlinkSync('/proc/self/ns/pid')),
  ].join('\n');

/** Anybody may read a bucket, so the record tells machines apart and does not name them. */
export const thisHost: string = createHash('sha256').update(whereProcessesAreNumbered()).digest('hex').slice(0, 16);

const describe = ({ host, pid, since }: Holder): string =>
  `process ${pid} on ${host === thisHost ? 'this' : 'another'} machine, since ${since}`;

// Of a process of this machine one can know that it is gone. Where its number is that of one which runs here, our own
// perhaps, as in another container, one cannot.
const isDead = ({ host, pid }: Holder): boolean => host === thisHost && !isAlive(pid);

const busy = (title: string, holder: Holder): DestinationBusy =>
  new DestinationBusy(
    `Another upload to ${title} is under way (${describe(holder)}): wait for it to end, then upload again.`,
  );

/**
 * The right to write at a destination, which one upload has at a time. It stands in the record there, is renewed while
 * the upload works, and passes on to the next where it is not.
 */
export class Claim {
  readonly #destination: Destination;
  readonly #times: ClaimTimes;
  readonly #holder: Holder;
  #record: UploadRecord;
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
    held: { holder: Holder; record: UploadRecord; tag: string; turn: number },
  ) {
    this.#destination = destination;
    this.#times = times;
    this.#holder = held.holder;
    this.#record = held.record;
    this.#tag = held.tag;
    this.#turn = held.turn;
    this.#timer = setInterval(() => {
      // What is being written is a sign of life, and a store that is slow is not to be asked ever more.
      if (this.#waiting === 0) this.renew().catch(() => {});
    }, times.renewMs);
    this.#timer.unref();
  }

  /**
   * Takes the right to write, where need be after the one who had it has shown no sign of life for a while.
   *
   * @throws DestinationBusy where another upload is under way
   */
  static async take(destination: Destination, times: ClaimTimes, onWait: (holder: string) => void): Promise<Claim> {
    const holder = { id: randomUUID(), host: thisHost, pid: process.pid, since: new Date().toISOString() };
    let watched: { readonly tag: string; readonly since: number } | undefined;
    for (let conflicts = 0; ; ) {
      const found = await destination.read(recordName);
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
          if (!(await destination.read(recordName))?.bytes.equals(bytes)) continue;
        }
        return new Claim(destination, times, { holder, record, tag, turn });
      } catch (error) {
        // Somebody else was quicker; who it is stands there now.
        if (!(error instanceof Conflict)) throw error;
        if (++conflicts > mostConflicts) {
          throw new DestinationBusy(`Others keep writing ${recordName} at ${destination.title}: upload again later.`);
        }
      }
    }
  }

  get record(): UploadRecord {
    return this.#record;
  }

  /**
   * To be awaited before each file. After so long a sleep that another upload may have taken over, it asks.
   *
   * @throws DestinationBusy where the right to write was lost
   */
  async assertFresh(): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    if (performance.now() - this.#renewed > this.#times.silentMs / 2) await this.renew();
  }

  /** Shows a sign of life, and makes sure that the right to write is held still. */
  renew(): Promise<void> {
    return this.#write({}, this.#holder);
  }

  /** Notes what the next upload has to know. */
  update(change: Partial<UploadRecord>): Promise<void> {
    return this.#write(change, this.#holder);
  }

  /** Gives the right to write up. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#lost === undefined) await this.#write({}, null);
  }

  // One after the other, each with what the one before has noted.
  #write(change: Partial<UploadRecord>, holder: Holder | null): Promise<void> {
    const work = this.#writing.then(async () => {
      if (this.#lost !== undefined) throw this.#lost;
      const record = { ...this.#record, ...change };
      try {
        // A destination that knows no conditions would let this overwrite what another has written.
        const found = this.#destination.isSure() ? undefined : await this.#destination.read(recordName);
        if (found !== undefined && found.tag !== this.#tag) throw new Conflict();
        const bytes = formatRecord({ ...record, format: 1, holder, turn: this.#turn + 1 });
        this.#tag = await this.#destination.replace(recordName, bytes, this.#tag);
        this.#turn++;
        this.#record = record;
        this.#renewed = performance.now();
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
        this.#lost = new DestinationBusy(
          `Another upload to ${this.#destination.title} has taken over, because this one seemed dead: nothing more was sent. Upload again when it has ended.`,
        );
        throw this.#lost;
      }
    });
    this.#waiting++;
    this.#writing = work.catch(() => {}).finally(() => this.#waiting--);
    return work;
  }
}
