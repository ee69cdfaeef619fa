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

const of = (value: number, unit: Limit['unit'], what: string, reason: string): Limit => ({
  value,
  unit,
  of: what,
  reason,
});

/**
 * The most that a stranger's repository may cost: connections, a visit, what is read of its files, and what is
 * published of it. Findings and failures name the limit that was met. `docs/limits.md` is this table in words.
 */
export const limitTable = {
  lookupsAtOnce: of(256, 'pieces', 'host names resolved at once', 'As many as a crawl has visits under way.'),
  lookupWaitMs: of(
    2000,
    'milliseconds',
    'the wait for a turn to resolve a name',
    'It passes only where we are at fault.',
  ),
  lookupMs: of(8000, 'milliseconds', 'resolving one name', 'Three queries, each repeated after longer.'),
  offlineMs: of(
    5000,
    'milliseconds',
    'silence of our name servers before names are asked for one at a time',
    'A network comes up in less.',
  ),
  connectMs: of(10_000, 'milliseconds', 'connecting, with TLS', 'Two repetitions of a lost packet.'),
  headersMs: of(
    20_000,
    'milliseconds',
    'a request until the headers of its answer',
    'Resolving and connecting included.',
  ),
  totalMs: of(300_000, 'milliseconds', 'a request with its redirects and its body', 'Beyond what a visit may take.'),
  minBytesPerSecond: of(4096, 'bytes per second', 'the slowest body', 'Any modem of this century is faster.'),
  graceMs: of(
    10_000,
    'milliseconds',
    'waiting that is forgiven during a body',
    'A server that wakes up takes seconds.',
  ),
  headerBytes: of(32_768, 'bytes', 'the headers of an answer', 'Four times what usual servers send at most.'),
  framingBytes: of(
    mebibyte,
    'bytes',
    'what an answer takes besides nine times its body',
    'Extensions of chunks reach nobody, and nobody sends them.',
  ),
  redirects: of(5, 'pieces', 'redirects of a request', 'apt and browsers meet two or three.'),
  connectionsPerHost: of(2, 'pieces', 'connections to one host', 'What apt opens.'),
  repositoryMs: of(180_000, 'milliseconds', 'a visit to one repository', 'All that one stranger can delay a run by.'),
  placeMs: of(
    1000,
    'milliseconds',
    'silence of an origin that keeps its place among those worked on',
    'The dead must not hold up the living.',
  ),
  visitsUnderWay: of(
    256,
    'pieces',
    'visits under way, those without a place among them',
    'No more than names that are resolved at once.',
  ),
  repetitions: of(4, 'pieces', 'requests repeated in a visit', 'One glitch is forgiven, an outage is not.'),
  retryPauseMs: of(1000, 'milliseconds', 'the first pause before a repetition', 'It doubles with each.'),
  waitMs: of(5000, 'milliseconds', 'a pause asked for that is waited for', 'A longer one is kept by a later run.'),
  holdMs: of(24 * hour, 'milliseconds', 'a pause asked for at all', 'A year would be a mistake.'),
  extrasMs: of(
    24 * hour,
    'milliseconds',
    'the age of what Release does not vouch for',
    'Signatures and endpoints seldom change.',
  ),
  releaseBytes: of(10_000_000, 'bytes', 'a Release or InRelease as received', 'Thirty times that of Ubuntu.'),
  releaseFieldBytes: of(
    4096,
    'bytes',
    'a field of Release as published',
    'Each record repeats what a repository says of itself.',
  ),
  releaseWorkMs: of(
    20_000,
    'milliseconds',
    'reading one long Release, or judging its signature',
    'Ten megabytes of anything take a second or two.',
  ),
  signatureBytes: of(32_768, 'bytes', 'the signatures of a Release', 'A usual one has a kilobyte.'),
  signatures: of(16, 'pieces', 'signatures of a Release that are looked at', 'Debian signs with three keys.'),
  endpointBytes: of(4096, 'bytes', 'payment_endpoint as received', 'It holds one address.'),
  indexBytes: of(256 * mebibyte, 'bytes', 'a Packages index as received', 'Twenty times that of all of Debian.'),
  textBytes: of(1024 * mebibyte, 'bytes', 'a Packages index decompressed', 'Fifteen times that of all of Debian.'),
  ratio: of(250, 'bytes per byte', 'what an index decompresses to', 'Indexes reach thirty.'),
  codecPieces: of(
    1000,
    'pieces',
    'frames or blocks of a compressed index, besides one for each kilobyte of it',
    'No compressor writes such crumbs, each of which costs as much as a large one.',
  ),
  stanzaBytes: of(mebibyte, 'bytes', 'a stanza', 'The longest of Debian has a tenth of it.'),
  stanzaFields: of(2000, 'pieces', 'fields of a stanza, and lines that are none', 'Thirty times what any ever had.'),
  identifierCharacters: of(
    255,
    'characters',
    'a package identifier, version or architecture',
    'File names on disks end there.',
  ),
  lineCharacters: of(4096, 'characters', 'a name, address, author or file name', 'A path on most systems.'),
  fieldCharacters: of(32_768, 'characters', 'any other field of a package', 'Past the longest description ever met.'),
  providesCharacters: of(
    131_072,
    'characters',
    'Provides of a package',
    'Provides of librust-winapi-dev in Debian has 75,639.',
  ),
  recordBytes: of(65_536, 'bytes', 'one package record as published', 'Four times the longest ever met.'),
  recordsPerRepository: of(150_000, 'pieces', 'records of a repository', 'Twice those of Debian or Ubuntu.'),
  recordsPerPackage: of(2000, 'pieces', 'records of one package in a repository', 'A nightly build for five years.'),
  providesPerPackage: of(2000, 'pieces', 'names that a package provides', 'A quarter more than the most of Debian.'),
  providesPerRepository: of(
    200_000,
    'pieces',
    'names that the packages of a repository provide',
    'Five times those of Debian.',
  ),
  orderedRelations: of(
    4_000_000,
    'pieces',
    'relations of an index that are read for the order of what they name',
    'Eight times those of Debian.',
  ),
  orderedNames: of(500_000, 'pieces', 'names of an index whose order is remembered', 'Twice those of Debian.'),
  packageBytes: of(
    16 * mebibyte,
    'bytes',
    'all records of one package in a repository',
    'Somebody has to download them.',
  ),
  sections: of(500, 'pieces', 'sections of a repository', 'People choose from a few dozen.'),
  embeddedBytes: of(16_384, 'bytes', 'what each record says of its repository', 'Each record repeats it.'),
  depictionMs: of(
    7 * 24 * hour,
    'milliseconds',
    'the age of a depiction until it is asked for again',
    'Texts seldom change.',
  ),
  depictionRetryMs: of(
    24 * hour,
    'milliseconds',
    'the wait after a depiction did not arrive',
    'An outage of a day costs one request.',
  ),
  depictionsPerVisit: of(20, 'pieces', 'depictions asked for in a visit', 'A thousand are there after fifty builds.'),
  depictionsPerRepository: of(5000, 'pieces', 'depictions of a repository', 'Four times the packages of the largest.'),
  depictionBytes: of(256 * 1024, 'bytes', 'a depiction as received', 'Ten times a long one.'),
  depictionViews: of(500, 'pieces', 'views of a depiction that are looked at', 'A long list of changes has a hundred.'),
  depictionDepth: of(8, 'pieces', 'stacks of views within each other', 'Two are usual.'),
  depictionCharacters: of(
    16_384,
    'characters',
    'the text of a depiction that is kept',
    'More than a page that loads at once can hold.',
  ),
  depictionScreenshots: of(16, 'pieces', 'screenshots of a depiction', 'The App Store allows ten.'),
  publishedBytes: of(
    512 * mebibyte,
    'bytes',
    'all records of a repository as published',
    'Twice what Debian would have.',
  ),
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
