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

/** One file of an origin, byte for byte as downloaded, with the validators that it came with. */
export type SnapshotFile = Readonly<z.infer<typeof snapshotFileSchema>>;

const findingSchema = z.strictObject({ code: z.string(), count: z.number().int().min(1), example: z.string() });

const isKnown = (finding: z.infer<typeof findingSchema>): finding is Finding => isFindingCode(finding.code);

// Codes of other versions are dropped; the rest remains valid.
const findingsSchema = z.array(findingSchema).transform((findings) => findings.filter(isKnown));

/**
 * What visits ask an origin about, each at its own times. `content` is what the bytes of an index say by themselves.
 */
const topics = ['release', 'inrelease', 'index', 'content', 'signature', 'payment', 'depiction'] as const;
export type Topic = (typeof topics)[number];

const foundSchema = z.partialRecord(z.enum(topics), findingsSchema);

/** What is wrong, by topic. A missing topic was not asked about. */
export type Found = Readonly<z.infer<typeof foundSchema>>;

// Fingerprints, or key identifiers where a signature names no fingerprint, in upper-case hex.
const keyNames = z.array(z.string().regex(/^[0-9A-F]{16,64}$/));

const signingSchema = z.strictObject({
  state: z.enum(signingStates),
  /** Who claims to have signed the release. */
  signers: keyNames,
  /** Who signed before: the keys that were remembered on first use. */
  remembered: keyNames,
});

/** How the release of a snapshot is signed, and what is remembered about earlier signatures. */
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
  /** Usable records, each counted once. (Earlier versions counted lines that name a package.) */
  stanzas: z.number().int().min(0),
  /** Whether a hash in the release confirms these bytes, so that an unchanged release means an unchanged index. */
  listed: z.boolean(),
});

/** The usable result of crawling a repository: files that belong together, and what the origin said about them. */
export const snapshotSchema = z.strictObject({
  slug: z.string(),
  /** The address in the manifest at that time. A snapshot of another address is no predecessor. */
  origin: originSchema,
  /** InRelease or Release. */
  release: snapshotFileSchema,
  packages: indexSchema,
  /**
   * The index of the packages for every architecture, if they have a separate one. Earlier versions did not know it.
   */
  packagesOfAll: indexSchema.nullable().default(null),
  /** The detached signature of a Release. */
  signature: snapshotFileSchema.nullable(),
  signing: signingSchema,
  hasInRelease: z.boolean(),
  hasReleaseGpg: z.boolean(),
  /** The validators of Release.gpg if there is an InRelease, so that its bytes are not needed. */
  releaseGpgValidators: z.strictObject({ etag: validator, lastModified: validator }).nullable().default(null),
  /** The https URL in the origin's payment_endpoint. */
  paymentEndpoint: z.string().nullable(),
  /** The validators of payment_endpoint. Earlier versions did not keep them. */
  paymentValidators: z.strictObject({ etag: validator, lastModified: validator }).nullable().default(null),
  /** When what an unchanged Release does not vouch for (signature, payment endpoint, index) was last requested. */
  extrasCheckedAt: timestamp,
  /** When the bytes of the release or the index were last seen to change. */
  changedAt: timestamp,
  /** When the origin last confirmed them. */
  checkedAt: timestamp,
  /** What is wrong with the bytes of the index as a file. Each visit records other findings (`Attempts`). */
  findings: findingsSchema,
});
export type Snapshot = Readonly<z.infer<typeof snapshotSchema>>;

/** The indexes with the packages of a repository: its own, and the one for every architecture. */
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

/**
 * What a repository is compared with, to notice that it lost packages or went back in time. Null means no comparison.
 */
export type Baseline = Readonly<z.infer<typeof baselineSchema>>;

const heldBackSchema = z.strictObject({
  ...baselineSchema.shape,
  /** Why it was not taken: the code of the failure. */
  code: z.string(),
  detail: z.string(),
  /** The release that it came with. */
  release: snapshotFileSchema,
  /** The index; null if the release alone was the reason. */
  packages: snapshotFileSchema.nullable(),
  /** Whether no other index can belong to this release. */
  listed: z.boolean(),
});

/** What an origin served and was not taken, so that it need not be downloaded again only to be held back again. */
export type HeldBack = Readonly<z.infer<typeof heldBackSchema>>;

export const rememberedSchema = z.strictObject({
  ...baselineSchema.shape,
  origin: originSchema,
  /** As `remembered` of the snapshot's signing. */
  signers: keyNames,
  /** The digests of its files and when they last changed. Earlier versions did not write this. */
  content: z.strictObject({ release: sha256, packages: sha256, changedAt: timestamp }).nullable().default(null),
});

/** What must survive a lost snapshot, because the next one is compared with it. */
export type Remembered = Readonly<z.infer<typeof rememberedSchema>>;

/** What is remembered about attempts to crawl a repository, so that a restart forgets no back-off. */
export const attemptsSchema = z.strictObject({
  /** The last attempt that confirmed or replaced the snapshot. */
  succeededAt: timestamp.nullable(),
  /** Attempts since then. */
  failures: z.number().int().min(0),
  failedAt: timestamp.nullable(),
  code: z.string().nullable(),
  reason: z.string().nullable(),
  /** The address of these attempts. Earlier versions did not keep it. */
  uri: z.string().nullable().default(null),
  /** No request before this moment. */
  notBefore: timestamp.nullable(),
  /** Whether the origin itself requested the pause. */
  askedByOrigin: z.boolean(),
  /**
   * What was found since the last success and not taken, for the operator to accept. What another version wrote is
   * dropped; the next visit finds it again.
   */
  refused: heldBackSchema.nullable().catch(null),
  /** What the operator accepted. It replaces the snapshot in the next comparison. */
  accepted: baselineSchema.nullable(),
  /** All findings as of the last visit; null if no visit has recorded any. */
  findings: findingsSchema.nullable().default(null),
  /** The findings of visits, each topic as of the last time it was asked about. */
  found: foundSchema.default({}),
  /** No request about these topics before that moment, because the origin requested a pause. */
  pauses: z.partialRecord(z.enum(topics), timestamp).default({}),
  /** Where earlier versions kept what is in the history now. */
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
