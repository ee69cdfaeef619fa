import { setTimeout as sleep } from 'node:timers/promises';
import type { DownloadCount } from '../../src/contract/records.ts';
import type { CounterLimits } from '../downloads/counting.ts';
import type { Report } from '../downloads/download-marks.ts';
import { type MarkOf, openOutbox } from './downloads-outbox.ts';
import { composeCount, openSharedDownloads } from './shared-downloads.ts';

/** Limits of a server's counters in a shared database. Times are in milliseconds. */
export interface SharedLimits extends CounterLimits {
  /** The most counts that may wait to be sent. Further reports are refused. */
  readonly unsent: number;
  /** How long counts wait, so that they are sent together. */
  readonly sendInterval: number;
  /** How long to wait before using a database again that was unavailable. */
  readonly retryInterval: number;
  /** How long a report waits for the key of the day: once a day, and after the database was unavailable. */
  readonly keyTimeout: number;
}

/** How often a count is read at most, if batches are sent meanwhile. */
const mostReadings = 3;

/** Called with the reason when the database becomes unavailable, and with undefined when it is available again. */
export type TellAway = (reason: string | undefined) => void;

/** Counters that several servers share. */
interface SharedStore {
  add(day: string, reports: readonly Report[]): Promise<number[]>;
  read(day: string, id: string): Promise<DownloadCount>;
  tidy(day: string): Promise<boolean>;
  probe(): void;
  close(): Promise<void>;
}

/**
 * Counts in a database that several servers share. A report is written to this machine's disk before it is answered,
 * and sent in batches, each of which counts once however often it has to be sent. So a report waits for no network, and
 * while the database is unavailable counts are kept, up to a limit. Marks, which the database compares, show that
 * another server has counted the same client and day. While the key of the day cannot be read, each server judges that
 * by itself.
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
        // A batch that was sent meanwhile may have been counted in both places.
        if (sends === before || attempt === mostReadings) return composeCount(id, day, limits, counted, unsent);
      }
    },
    tidy: async (day) => {
      today = day;
      outbox.tidy(day);
      assertThere();
      // Days are added to the totals by what has been counted, so this is sent first, including what an earlier process
      // left.
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
      // What cannot be sent stays on disk until the next start.
      if (outbox.size > 0 && !isAway) await sendAll();
      outbox.close();
      await shared.close();
    },
  };
};
