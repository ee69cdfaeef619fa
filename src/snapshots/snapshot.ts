import { z } from 'zod';
import { compressions } from '../contract/compressions.ts';
import { isFindingCode } from '../contract/finding-texts.ts';
import type { Finding } from '../contract/findings.ts';
import { signingStates } from '../contract/signing-states.ts';

const timestamp = z.iso.datetime({ precision: 3 });
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const validator = z.string().nullable();

const snapshotFileSchema = z.strictObject({
  /** Below the repository's address, with a leading "/". */
  path: z.string().startsWith('/'),
  sha256,
  /** Bytes, as downloaded. */
  size: z.number().int().min(0),
  etag: validator,
  lastModified: validator,
});

/** One file of an origin, byte for byte as it was downloaded, and the validators that it came with. */
export type SnapshotFile = Readonly<z.infer<typeof snapshotFileSchema>>;

const findingSchema = z.strictObject({ code: z.string(), count: z.number().int().min(1), example: z.string() });

const isKnown = (finding: z.infer<typeof findingSchema>): finding is Finding => isFindingCode(finding.code);

// A code that another version knew is dropped: the rest is good without it.
const findingsSchema = z.array(findingSchema).transform((findings) => findings.filter(isKnown));

/** What visits ask an origin about, each at times of its own; `content` is what the bytes of an index say themselves. */
const topics = ['release', 'inrelease', 'index', 'content', 'signature', 'payment', 'depiction'] as const;
export type Topic = (typeof topics)[number];

const foundSchema = z.partialRecord(z.enum(topics), findingsSchema);

/** What is wrong, by what was asked about; a topic that is not there was not asked about. */
export type Found = Readonly<z.infer<typeof foundSchema>>;

// Fingerprints, or key identifiers where a signature names no fingerprint, in upper-case hex.
const keyNames = z.array(z.string().regex(/^[0-9A-F]{16,64}$/));

const signingSchema = z.strictObject({
  state: z.enum(signingStates),
  /** Who says to have signed the release. */
  signers: keyNames,
  /** Who signed before: the keys remembered on first use. */
  remembered: keyNames,
});

/** How the release of a snapshot is signed, and what is remembered of how it was. */
export type Signing = Readonly<z.infer<typeof signingSchema>>;

const originSchema = z.strictObject({
  uri: z.string(),
  suite: z.string(),
  component: z.string().nullable(),
  binary: z.string().nullable(),
});

const indexSchema = snapshotFileSchema.extend({
  compression: z.enum(compressions),
  decompressedSize: z.number().int().min(0),
  /** Records that are of use, each counted once. (What earlier versions wrote counts lines that name a package.) */
  stanzas: z.number().int().min(0),
  /** Whether a hash in the release confirms these bytes, so that an unchanged release means an unchanged index. */
  listed: z.boolean(),
});

/** What was crawled of one repository and held good: the files of one generation and what the origin said of them. */
export const snapshotSchema = z.strictObject({
  slug: z.string(),
  /** What the manifest said then; a snapshot of another address is no predecessor. */
  origin: originSchema,
  /** InRelease or Release. */
  release: snapshotFileSchema,
  packages: indexSchema,
  /** The index of the packages for every architecture, where they have one of their own. An earlier version knew none. */
  packagesOfAll: indexSchema.nullable().default(null),
  /** The detached signature of a Release. */
  signature: snapshotFileSchema.nullable(),
  signing: signingSchema,
  hasInRelease: z.boolean(),
  hasReleaseGpg: z.boolean(),
  /** What Release.gpg came with where an InRelease stands beside it, and its bytes are of no use. */
  releaseGpgValidators: z.strictObject({ etag: validator, lastModified: validator }).nullable().default(null),
  /** The https URL that the origin's payment_endpoint holds. */
  paymentEndpoint: z.string().nullable(),
  /** What payment_endpoint came with. An earlier version did not keep it. */
  paymentValidators: z.strictObject({ etag: validator, lastModified: validator }).nullable().default(null),
  /** When what an unchanged Release does not speak for (signature, payment endpoint, index) was last asked for. */
  extrasCheckedAt: timestamp,
  /** When the bytes of the release or the index were last seen to change. */
  changedAt: timestamp,
  /** When the origin last confirmed them. */
  checkedAt: timestamp,
  /** What is wrong with the bytes of the index as a file. What else is, each visit says (`Attempts`). */
  findings: findingsSchema,
});
export type Snapshot = Readonly<z.infer<typeof snapshotSchema>>;

/** The indexes that the packages of a repository stand in: its own, and that of the packages for every architecture. */
export type Indexes = Pick<Snapshot, 'packages' | 'packagesOfAll'>;

/** One or two indexes, in the order in which they are read. */
export const listIndexes = ({ packages, packagesOfAll }: Indexes): Snapshot['packages'][] =>
  packagesOfAll === null ? [packages] : [packages, packagesOfAll];

const baselineSchema = z.strictObject({
  /** Stanzas of an index. */
  stanzas: z.number().int().min(0).nullable(),
  /** The Date of a release. */
  date: timestamp.nullable(),
});

/** What a repository is compared with to tell that it lost packages or went back in time; null where with nothing. */
export type Baseline = Readonly<z.infer<typeof baselineSchema>>;

const heldBackSchema = z.strictObject({
  ...baselineSchema.shape,
  /** Why it was not taken, as the crawl said it. */
  code: z.string(),
  detail: z.string(),
  /** The release that it came with. */
  release: snapshotFileSchema,
  /** The index; null where the release alone was reason enough. */
  packages: snapshotFileSchema.nullable(),
  /** Whether this release can come with no other index. */
  listed: z.boolean(),
});

/** What an origin served and nobody took, so that it need not be fetched again to be held back again. */
export type HeldBack = Readonly<z.infer<typeof heldBackSchema>>;

export const rememberedSchema = z.strictObject({
  ...baselineSchema.shape,
  origin: originSchema,
  /** As `remembered` of the snapshot's signing. */
  signers: keyNames,
  /** The digests of its files and when they were last seen to change. An earlier version did not write it. */
  content: z.strictObject({ release: sha256, packages: sha256, changedAt: timestamp }).nullable().default(null),
});

/** What of a snapshot must outlive it, should the store lose it: what the next one is compared with. */
export type Remembered = Readonly<z.infer<typeof rememberedSchema>>;

/** What is remembered of the attempts to crawl one repository, so that a restart forgets no back-off. */
export const attemptsSchema = z.strictObject({
  /** The last attempt that confirmed or replaced the snapshot. */
  succeededAt: timestamp.nullable(),
  /** Attempts since then. */
  failures: z.number().int().min(0),
  failedAt: timestamp.nullable(),
  code: z.string().nullable(),
  reason: z.string().nullable(),
  /** The address that they were made at. An earlier version did not keep it. */
  uri: z.string().nullable().default(null),
  /** No request before this moment. */
  notBefore: timestamp.nullable(),
  /** Whether the origin itself asked for the pause. */
  askedByOrigin: z.boolean(),
  /**
   * What was found since the last success and not taken, for the operator to accept. What another version wrote of it
   * is dropped: the next visit finds it anew.
   */
  refused: heldBackSchema.nullable().catch(null),
  /** What the operator accepted: it stands in for the snapshot in the next comparison. */
  accepted: baselineSchema.nullable(),
  /** All that is wrong as far as the last visit could tell; null where no visit has said so. */
  findings: findingsSchema.nullable().default(null),
  /** The part of it that visits found, each topic as it was when it was last asked about. */
  found: foundSchema.default({}),
  /** No request for these before that moment, because the origin asked for a pause. */
  pauses: z.partialRecord(z.enum(topics), timestamp).default({}),
  /** An earlier version kept here what the history has now. */
  remembered: rememberedSchema.nullable().default(null),
});
export type Attempts = Readonly<z.infer<typeof attemptsSchema>>;

export const noAttempts: Attempts = {
  succeededAt: null,
  failures: 0,
  failedAt: null,
  code: null,
  reason: null,
  uri: null,
  notBefore: null,
  askedByOrigin: false,
  refused: null,
  accepted: null,
  findings: null,
  found: {},
  pauses: {},
  remembered: null,
};
