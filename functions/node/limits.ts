/** The unit of a limit. */
type Unit = 'bytes' | 'ms' | 'connections' | 'requests' | 'headers';

interface Limit {
  readonly value: number;
  readonly unit: Unit;
  /** Why the limit has this value. */
  readonly reason: string;
}

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

/** Every limit of the server. Together they bound how much memory and time one client, and all of them, can hold. */
export const limitTable = {
  requestLine: {
    value: 72 * kilobyte,
    unit: 'bytes',
    reason: 'A multi lookup of 2,000 identifiers needs 64 KB. Counted percent-encoded; above it 414.',
  },
  headers: {
    value: 32 * kilobyte,
    unit: 'bytes',
    reason: 'Browsers and proxies stay below 16 KB. Counted without the request line; above it 431.',
  },
  longHeads: {
    value: 32 * megabyte,
    unit: 'bytes',
    reason: 'Of heads in all, each counted from 8 KB on, until their requests are answered; above it 503.',
  },
  clientLongHeads: {
    value: 8 * megabyte,
    unit: 'bytes',
    reason: 'Of one client: a hundred of the longest multi lookups. Not of a proxy of ours. Above it 429.',
  },
  headerCount: { value: 200, unit: 'headers', reason: 'Node would drop the rest without a word; above it 431.' },
  headersTimeout: { value: 10_000, unit: 'ms', reason: 'For request line and headers to arrive; after it 408.' },
  requestTimeout: { value: 30_000, unit: 'ms', reason: 'For the whole request to arrive; after it 408.' },
  timeoutInterval: { value: 2000, unit: 'ms', reason: 'How often these two are looked after.' },
  keepAliveTimeout: {
    value: 65_000,
    unit: 'ms',
    reason: 'How long an idle connection stays: longer than the 60 s of common proxies, which may reuse it.',
  },
  socketTimeout: { value: 70_000, unit: 'ms', reason: 'Without a byte in either direction: longer than keep-alive.' },
  lingerTimeout: {
    value: 2000,
    unit: 'ms',
    reason: 'What a refused client still sends is thrown away this long, so that it can read why it was refused.',
  },
  connections: {
    value: 4096,
    unit: 'connections',
    reason: 'In all. For one more, an idle one of whoever has the most is closed.',
  },
  clientConnections: {
    value: 256,
    unit: 'connections',
    reason: 'Of one IPv4 address or IPv6 /64: a browser opens 6, some dozens of people share an address.',
  },
  siteConnections: {
    value: 1024,
    unit: 'connections',
    reason: 'Of one IPv6 /48, which is what one customer may be given (RFC 6177).',
  },
  clientRequests: {
    value: 256,
    unit: 'requests',
    reason:
      'Under way at once for one client: what it may have of connections, for those behind a proxy. Above it 429.',
  },
  unreadBytes: {
    value: 64 * megabyte,
    unit: 'bytes',
    reason:
      'Of answers in all that their readers have not taken. Above it, who has the most loses a reader that stands still.',
  },
  clientUnreadBytes: {
    value: 24 * megabyte,
    unit: 'bytes',
    reason:
      'Of one client: four of the largest answers (5 MB), uncompressed, at a time; three eighths of all. ' +
      'From half of it on it is asked to wait: 429.',
  },
  readerPatience: {
    value: 5000,
    unit: 'ms',
    reason: 'Without a step of a reader, after which it makes room for another answer to the same client.',
  },
  pieceBytes: { value: 64 * kilobyte, unit: 'bytes', reason: 'Of an answer given to the connection at a time.' },
  readerTimeout: {
    value: 30_000,
    unit: 'ms',
    reason: 'For a reader to take the next piece: nobody slower than 2 KB a second stays.',
  },
  drainTimeout: {
    value: 6000,
    unit: 'ms',
    reason: 'For answers under way when the server stops: process managers wait 10 s.',
  },
} as const satisfies Record<string, Limit>;

/** The values of the limits, in the units of the table. */
export type ServerLimits = { readonly [Name in keyof typeof limitTable]: number };

/** The limits of the table, except those that are given. */
export const chooseLimits = (given: Partial<ServerLimits> = {}): ServerLimits => ({
  ...(Object.fromEntries(Object.entries(limitTable).map(([name, { value }]) => [name, value])) as ServerLimits),
  ...given,
});
