import { setTimeout as sleep } from 'node:timers/promises';
import type { DownloadCount } from '../../src/contract/records.ts';
import type { CounterLimits } from '../downloads/counting.ts';
import type { Report } from '../downloads/download-marks.ts';
import { type MarkOf, openOutbox } from './downloads-outbox.ts';
import { composeCount, openSharedDownloads } from './shared-downloads.ts';

/** What bounds the counters of a server that has them in common with others. Milliseconds. */
export interface SharedLimits extends CounterLimits {
  /** The most counts that wait to be sent; further reports are refused. */
  readonly unsent: number;
  /** How long counts wait for others to be sent with. */
  readonly sendInterval: number;
  /** How long a database that is away is left alone. */
  readonly retryInterval: number;
  /** How long a report waits for the key of the day, once a day, or where the database was away. */
  readonly keyTimeout: number;
}

/** How often a count is read at most, where batches go their way meanwhile. */
const mostReadings = 3;

/** Told when the database goes away, with the reason, and when it is back. */
export type TellAway = (reason: string | undefined) => void;

/** The counters that several servers have in common. */
interface SharedStore {
  add(day: string, reports: readonly Report[]): Promise<number[]>;
  read(day: string, id: string): Promise<DownloadCount>;
  tidy(day: string): Promise<boolean>;
  probe(): void;
  close(): Promise<void>;
}

/**
 * Counts in a database that several servers have in common. What is reported is on this machine's disk before it is
 * answered, and is sent in batches, each of which counts once however often it has to be sent; so who reports waits for no
 * network, and while the database is away counts are kept, up to a bound. That another server had the same report of the
 * same client and day is told by marks that the database compares; while it cannot be asked for the key of the day, each
 * server tells by itself.
 */
export const openSharedStore = (file: string, url: string, limits: SharedLimits, tell: TellAway): SharedStore => {
  const outbox = openOutbox(file, limits);
  const shared = openSharedDownloads(url, limits);
  let key: { readonly day: string; readonly markOf: MarkOf } | undefined;
  let awayUntil = 0;
  let isAway = false;
  let isClosed = false;
  let fetching: Promise<void> | undefined;
  let sends = 0;
  let sending: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let today = '';

  const note = (error: unknown): void => {
    awayUntil = performance.now() + limits.retryInterval;
    if (!isAway) tell(error instanceof Error ? error.message || error.name : String(error));
    isAway = true;
  };
  const noting = async <T>(asked: Promise<T>): Promise<T> => {
    try {
      return await asked;
    } catch (error) {
      note(error);
      throw error;
    }
  };
  const noteBack = (): void => {
    if (isAway) tell(undefined);
    isAway = false;
  };
  const assertThere = (): void => {
    if (isAway && performance.now() < awayUntil) throw new Error('The database of the download counters is away');
  };

  const sendAll = async (): Promise<void> => {
    sends++;
    try {
      if (key?.day !== today) key = { day: today, markOf: await shared.markOf(today) };
      for (let batch = outbox.next(); batch !== undefined; batch = outbox.next()) {
        if (await shared.take(today, batch)) outbox.confirm(batch);
        else outbox.rename();
      }
      noteBack();
    } catch (error) {
      note(error);
    }
  };
  const send = (): Promise<void> => {
    sending ??= sendAll().finally(() => {
      sending = undefined;
      if (outbox.size > 0) schedule();
    });
    return sending;
  };
  const schedule = (): void => {
    if (isClosed) return;
    timer ??= setTimeout(
      () => {
        timer = undefined;
        void send();
      },
      isAway ? Math.max(1, awayUntil - performance.now()) : limits.sendInterval,
    );
  };

  const fetchKey = async (day: string): Promise<void> => {
    try {
      key = { day, markOf: await shared.markOf(day) };
    } catch (error) {
      note(error);
    }
  };
  const markOf = async (day: string): Promise<MarkOf | undefined> => {
    today = day;
    if (key?.day !== day && !(isAway && performance.now() < awayUntil)) {
      fetching ??= fetchKey(day).finally(() => (fetching = undefined));
      await Promise.race([fetching, sleep(limits.keyTimeout, undefined, { ref: false })]);
    }
    return key?.day === day ? key.markOf : undefined;
  };

  return {
    add: async (day, reports) => {
      const counts = outbox.add(day, reports, await markOf(day));
      schedule();
      return counts;
    },
    read: async (day, id) => {
      today = day;
      for (let attempt = 1; ; attempt++) {
        await sending;
        assertThere();
        const before = sends;
        const unsent = outbox.read(id);
        const counted = await noting(shared.read(id));
        noteBack();
        // A batch that went its way meanwhile may be in both places.
        if (sends === before || attempt === mostReadings) return composeCount(id, day, limits, counted, unsent);
      }
    },
    tidy: async (day) => {
      today = day;
      outbox.tidy(day);
      assertThere();
      // What is folded is told by days that were counted, so these come first; and what an earlier process left is sent.
      while (outbox.size > 0) {
        await send();
        assertThere();
      }
      return noting(shared.tidy(day));
    },
    probe: outbox.probe,
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await sending;
      // What cannot be sent stays on the disk until the next start.
      if (outbox.size > 0 && !isAway) await sendAll();
      outbox.close();
      await shared.close();
    },
  };
};
