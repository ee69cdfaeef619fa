interface Limit {
  readonly value: number;
  readonly unit: 'bytes' | 'ms' | 'connections' | 'requests' | 'headers';
  /** Why the limit has this value. */
  readonly reason: string;
}

const of =
  (unit: Limit['unit']) =>
  (value: number, reason: string): Limit => ({ value, unit, reason });
const [bytes, ms, connections] = [of('bytes'), of('ms'), of('connections')];

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

/** Every limit of the server. Together they bound how much memory and time one client, and all of them, can hold. */
export const limitTable = {
  requestLine: bytes(
    72 * kilobyte,
    'A multi lookup of 2,000 identifiers needs 64 KB. Counted percent-encoded; above it 414.',
  ),
  headers: bytes(
    32 * kilobyte,
    'Browsers and proxies stay below 16 KB. Counted without the request line; above it 431.',
  ),
  longHeads: bytes(
    32 * megabyte,
    'Of heads in all, each counted from 8 KB on, until their requests are answered; above it 503.',
  ),
  clientLongHeads: bytes(
    8 * megabyte,
    'Of one client: a hundred of the longest multi lookups. Not of a proxy of ours. Above it 429.',
  ),
  headerCount: of('headers')(200, 'Node would drop the rest without a word; above it 431.'),
  headersTimeout: ms(10_000, 'For request line and headers to arrive; after it 408.'),
  requestTimeout: ms(30_000, 'For the whole request to arrive; after it 408.'),
  timeoutInterval: ms(2000, 'How often these two are looked after.'),
  keepAliveTimeout: ms(
    65_000,
    'How long an idle connection stays: longer than the 60 s of common proxies, which may reuse it.',
  ),
  socketTimeout: ms(70_000, 'Without a byte in either direction: longer than keep-alive.'),
  lingerTimeout: ms(
    2000,
    'What a refused client still sends is thrown away this long, so that it can read why it was refused.',
  ),
  connections: connections(4096, 'In all. For one more, an idle one of whoever has the most is closed.'),
  clientConnections: connections(
    256,
    'Of one IPv4 address or IPv6 /64: a browser opens 6, some dozens of people share an address.',
  ),
  siteConnections: connections(1024, 'Of one IPv6 /48, which is what one customer may be given (RFC 6177).'),
  clientRequests: of('requests')(
    256,
    'Under way at once for one client: what it may have of connections, for those behind a proxy. Above it 429.',
  ),
  unreadBytes: bytes(
    64 * megabyte,
    'Of answers in all that their readers have not taken. Above it, who has the most loses a reader that stands still.',
  ),
  clientUnreadBytes: bytes(
    24 * megabyte,
    'Of one client: four of the largest answers (5 MB), uncompressed, at a time; three eighths of all. ' +
      'From half of it on it is asked to wait: 429.',
  ),
  readerPatience: ms(
    5000,
    'Without a step of a reader, after which it makes room for another answer to the same client.',
  ),
  pieceBytes: bytes(64 * kilobyte, 'Of an answer given to the connection at a time.'),
  readerTimeout: ms(30_000, 'For a reader to take the next piece: nobody slower than 2 KB a second stays.'),
  drainTimeout: ms(6000, 'For answers under way when the server stops: process managers wait 10 s.'),
} as const satisfies Record<string, Limit>;

/** The values of the limits, in the units of the table. */
export type ServerLimits = { readonly [Name in keyof typeof limitTable]: number };

/** The limits of the table, except those that are given. */
export const chooseLimits = (given: Partial<ServerLimits> = {}): ServerLimits => ({
  ...(Object.fromEntries(Object.entries(limitTable).map(([name, { value }]) => [name, value])) as ServerLimits),
  ...given,
});
