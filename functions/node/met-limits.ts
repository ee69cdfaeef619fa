import type { ServerLimits } from './limits.ts';

// The limits at which a connection is closed or a request refused.
const refusingLimits = [
  'connections',
  'clientConnections',
  'siteConnections',
  'clientRequests',
  'unreadBytes',
  'clientUnreadBytes',
  'readerTimeout',
  'longHeads',
  'clientLongHeads',
  'requestLine',
  'headers',
  'headerCount',
  'headersTimeout',
] as const satisfies readonly (keyof ServerLimits)[];
/** One of them. */
export type RefusingLimit = (typeof refusingLimits)[number];

/** A log line about a limit that was met. */
export interface RefusalEvent {
  readonly time: string;
  readonly event: 'limit-met';
  readonly limit: RefusingLimit;
  /** The value of the limit, in the unit of the table. */
  readonly bound: number;
  /** How often it was met since the last line about it, and since the start. */
  readonly count: number;
  readonly total: number;
  /** The address or network of the last client that met it; left out if the limit is for all clients together. */
  readonly client?: string;
}

/** Counts of how often each limit was met. */
export interface Refusals {
  /** Since the start. */
  readonly counts: Readonly<Record<RefusingLimit, number>>;
  count(limit: RefusingLimit, client?: string): void;
  /** Logs what was counted since the last lines. Nothing is logged after that. */
  end(): void;
}

/** Milliseconds between two lines about the same limit, so that a flood of requests does not flood the log. */
const quietFor = 60_000;

/**
 * Counts how often each limit is met, and reports it: the first time at once, then at most once a minute for each
 * limit, with the number of times since.
 */
export const createRefusals = (
  limits: ServerLimits,
  { now, tell }: { now: () => Date; tell: (event: RefusalEvent) => void },
): Refusals => {
  const counts = Object.fromEntries(refusingLimits.map((limit) => [limit, 0])) as Record<RefusingLimit, number>;
  const told = { ...counts };
  const waiting = new Map<RefusingLimit, NodeJS.Timeout>();
  const last = new Map<RefusingLimit, string>();

  const write = (limit: RefusingLimit): void => {
    const count = counts[limit] - told[limit];
    if (count === 0) return;
    told[limit] = counts[limit];
    const client = last.get(limit);
    tell({
      time: now().toISOString(),
      event: 'limit-met',
      limit,
      bound: limits[limit],
      count,
      total: counts[limit],
      ...(client === undefined ? {} : { client }),
    });
  };

  const rest = (limit: RefusingLimit): void => {
    const timer = setTimeout(() => {
      waiting.delete(limit);
      if (counts[limit] === told[limit]) return;
      write(limit);
      rest(limit);
    }, quietFor);
    waiting.set(limit, timer.unref());
  };

  return {
    counts,
    count: (limit, client) => {
      counts[limit]++;
      if (client !== undefined) last.set(limit, client);
      if (waiting.has(limit)) return;
      write(limit);
      rest(limit);
    },
    end: () => {
      for (const timer of waiting.values()) clearTimeout(timer);
      for (const limit of refusingLimits) write(limit);
    },
  };
};
