/** One limit: its value, what it bounds, and why it is neither smaller nor larger. */
interface Limit {
  readonly value: number;
  readonly unit: 'bytes' | 'bytes per second' | 'bytes per byte' | 'characters' | 'milliseconds' | 'pieces';
  /** What it bounds. */
  readonly of: string;
  readonly reason: string;
}

const mebibyte = 2 ** 20;
const hour = 3_600_000;

const of =
  (unit: Limit['unit']) =>
  (value: number, what: string, reason: string): Limit => ({ value, unit, of: what, reason });
const [bytes, characters, ms, pieces] = [of('bytes'), of('characters'), of('milliseconds'), of('pieces')];

/**
 * The most that a stranger's repository may cost: connections, a visit, what is read of its files, and what is
 * published of it. Findings and failures name the limit that was met. `docs/limits.md` is this table in words.
 */
export const limitTable = {
  lookupsAtOnce: pieces(256, 'host names resolved at once', 'As many as a crawl has visits under way.'),
  lookupWaitMs: ms(2000, 'the wait for a turn to resolve a name', 'It passes only where we are at fault.'),
  lookupMs: ms(8000, 'resolving one name', 'Three queries, each repeated after longer.'),
  offlineMs: ms(
    5000,
    'silence of our name servers before names are asked for one at a time',
    'A network comes up in less.',
  ),
  connectMs: ms(10_000, 'connecting, with TLS', 'Two repetitions of a lost packet.'),
  headersMs: ms(20_000, 'a request until the headers of its answer', 'Resolving and connecting included.'),
  totalMs: ms(300_000, 'a request with its redirects and its body', 'Beyond what a visit may take.'),
  minBytesPerSecond: of('bytes per second')(4096, 'the slowest body', 'Any modem of this century is faster.'),
  graceMs: ms(10_000, 'waiting that is forgiven during a body', 'A server that wakes up takes seconds.'),
  headerBytes: bytes(32_768, 'the headers of an answer', 'Four times what usual servers send at most.'),
  framingBytes: bytes(
    mebibyte,
    'what an answer takes besides nine times its body',
    'Extensions of chunks reach nobody, and nobody sends them.',
  ),
  redirects: pieces(5, 'redirects of a request', 'apt and browsers meet two or three.'),
  connectionsPerHost: pieces(2, 'connections to one host', 'What apt opens.'),
  repositoryMs: ms(180_000, 'a visit to one repository', 'All that one stranger can delay a run by.'),
  placeMs: ms(
    1000,
    'silence of an origin that keeps its place among those worked on',
    'The dead must not hold up the living.',
  ),
  visitsUnderWay: pieces(
    256,
    'visits under way, those without a place among them',
    'No more than names that are resolved at once.',
  ),
  repetitions: pieces(4, 'requests repeated in a visit', 'One glitch is forgiven, an outage is not.'),
  retryPauseMs: ms(1000, 'the first pause before a repetition', 'It doubles with each.'),
  waitMs: ms(5000, 'a pause asked for that is waited for', 'A longer one is kept by a later run.'),
  holdMs: ms(24 * hour, 'a pause asked for at all', 'A year would be a mistake.'),
  extrasMs: ms(24 * hour, 'the age of what Release does not vouch for', 'Signatures and endpoints seldom change.'),
  releaseBytes: bytes(10_000_000, 'a Release or InRelease as received', 'Thirty times that of Ubuntu.'),
  releaseFieldBytes: bytes(
    4096,
    'a field of Release as published',
    'Each record repeats what a repository says of itself.',
  ),
  releaseWorkMs: ms(
    20_000,
    'reading one long Release, or judging its signature',
    'Ten megabytes of anything take a second or two.',
  ),
  signatureBytes: bytes(32_768, 'the signatures of a Release', 'A usual one has a kilobyte.'),
  signatures: pieces(16, 'signatures of a Release that are looked at', 'Debian signs with three keys.'),
  endpointBytes: bytes(4096, 'payment_endpoint as received', 'It holds one address.'),
  indexBytes: bytes(256 * mebibyte, 'a Packages index as received', 'Twenty times that of all of Debian.'),
  textBytes: bytes(1024 * mebibyte, 'a Packages index decompressed', 'Fifteen times that of all of Debian.'),
  ratio: of('bytes per byte')(250, 'what an index decompresses to', 'Indexes reach thirty.'),
  codecPieces: pieces(
    1000,
    'frames or blocks of a compressed index, besides one for each kilobyte of it',
    'No compressor writes such crumbs, each of which costs as much as a large one.',
  ),
  stanzaBytes: bytes(mebibyte, 'a stanza', 'The longest of Debian has a tenth of it.'),
  stanzaFields: pieces(2000, 'fields of a stanza, and lines that are none', 'Thirty times what any ever had.'),
  identifierCharacters: characters(
    255,
    'a package identifier, version or architecture',
    'File names on disks end there.',
  ),
  lineCharacters: characters(4096, 'a name, address, author or file name', 'A path on most systems.'),
  fieldCharacters: characters(32_768, 'any other field of a package', 'Past the longest description ever met.'),
  providesCharacters: characters(
    131_072,
    'Provides of a package',
    'Provides of librust-winapi-dev in Debian has 75,639.',
  ),
  recordBytes: bytes(65_536, 'one package record as published', 'Four times the longest ever met.'),
  recordsPerRepository: pieces(150_000, 'records of a repository', 'Twice those of Debian or Ubuntu.'),
  recordsPerPackage: pieces(2000, 'records of one package in a repository', 'A nightly build for five years.'),
  providesPerPackage: pieces(2000, 'names that a package provides', 'A quarter more than the most of Debian.'),
  providesPerRepository: pieces(
    200_000,
    'names that the packages of a repository provide',
    'Five times those of Debian.',
  ),
  orderedRelations: pieces(
    4_000_000,
    'relations of an index that are read for the order of what they name',
    'Eight times those of Debian.',
  ),
  orderedNames: pieces(500_000, 'names of an index whose order is remembered', 'Twice those of Debian.'),
  packageBytes: bytes(16 * mebibyte, 'all records of one package in a repository', 'Somebody has to download them.'),
  sections: pieces(500, 'sections of a repository', 'People choose from a few dozen.'),
  embeddedBytes: bytes(16_384, 'what each record says of its repository', 'Each record repeats it.'),
  depictionMs: ms(7 * 24 * hour, 'the age of a depiction until it is asked for again', 'Texts seldom change.'),
  depictionRetryMs: ms(24 * hour, 'the wait after a depiction did not arrive', 'An outage of a day costs one request.'),
  depictionsPerVisit: pieces(20, 'depictions asked for in a visit', 'A thousand are there after fifty builds.'),
  depictionsPerRepository: pieces(5000, 'depictions of a repository', 'Four times the packages of the largest.'),
  depictionBytes: bytes(256 * 1024, 'a depiction as received', 'Ten times a long one.'),
  depictionViews: pieces(500, 'views of a depiction that are looked at', 'A long list of changes has a hundred.'),
  depictionDepth: pieces(8, 'stacks of views within each other', 'Two are usual.'),
  depictionCharacters: characters(
    16_384,
    'the text of a depiction that is kept',
    'More than a page that loads at once can hold.',
  ),
  depictionScreenshots: pieces(16, 'screenshots of a depiction', 'The App Store allows ten.'),
  publishedBytes: bytes(512 * mebibyte, 'all records of a repository as published', 'Twice what Debian would have.'),
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof limitTable;

/** The value of each limit, by its name. */
export const limits = Object.fromEntries(
  Object.entries(limitTable).map(([name, { value }]) => [name, value]),
) as Readonly<Record<LimitName, number>>;

// Without Intl.NumberFormat, which takes tens of milliseconds to create: every program reads this table when it starts.
const grouped = (value: number): string => String(value).replace(/(?<=\d)(?=(?:\d{3})+$)/g, ',');

/** A number with its unit, as people read it. */
export const amountOf = (name: LimitName, value: number = limits[name]): string => {
  const { unit } = limitTable[name];
  return unit === 'pieces' ? grouped(value) : `${grouped(value)} ${unit}`;
};

/** The limit that was met, for the evidence of a finding. `value` replaces the usual one if a run has another. */
export const limitNote = (name: LimitName, value?: number): string => `limit ${name}: ${amountOf(name, value)}`;
