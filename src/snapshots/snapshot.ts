import { z } from 'zod';

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

/** What was crawled of one repository and held good: the files of one generation and what the origin said of them. */
export const snapshotSchema = z.strictObject({
  slug: z.string(),
  /** What the manifest said then; a snapshot of another address is no predecessor. */
  origin: z.strictObject({
    uri: z.string(),
    suite: z.string(),
    component: z.string().nullable(),
    binary: z.string().nullable(),
  }),
  /** InRelease or Release. */
  release: snapshotFileSchema,
  packages: snapshotFileSchema.extend({
    compression: z.enum(['zst', 'xz', 'lzma', 'bz2', 'gz', 'plain']),
    decompressedSize: z.number().int().min(0),
    /** Stanzas that name a package. */
    stanzas: z.number().int().min(0),
    /** Whether a hash in the release confirms these bytes, so that an unchanged release means an unchanged index. */
    listed: z.boolean(),
  }),
  /** The detached signature of a Release. */
  signature: snapshotFileSchema.nullable(),
  hasInRelease: z.boolean(),
  hasReleaseGpg: z.boolean(),
  /** The https URL that the origin's payment_endpoint holds. */
  paymentEndpoint: z.string().nullable(),
  /** When the files that Release does not vouch for (signature, payment endpoint) were last asked for. */
  extrasCheckedAt: timestamp,
  /** When the bytes of the release or the index were last seen to change. */
  changedAt: timestamp,
  /** When the origin last confirmed them. */
  checkedAt: timestamp,
  findings: z.array(findingSchema),
});
export type Snapshot = Readonly<z.infer<typeof snapshotSchema>>;

/** What is remembered of the attempts to crawl one repository, so that a restart forgets no back-off. */
export const attemptsSchema = z.strictObject({
  /** The last attempt that confirmed or replaced the snapshot. */
  succeededAt: timestamp.nullable(),
  /** Attempts since then. */
  failures: z.number().int().min(0),
  failedAt: timestamp.nullable(),
  code: z.string().nullable(),
  reason: z.string().nullable(),
  /** No request before this moment. */
  notBefore: timestamp.nullable(),
  /** Whether the origin itself asked for the pause, which then holds for every repository at its host. */
  askedByOrigin: z.boolean(),
});
export type Attempts = Readonly<z.infer<typeof attemptsSchema>>;

export const noAttempts: Attempts = {
  succeededAt: null,
  failures: 0,
  failedAt: null,
  code: null,
  reason: null,
  notBefore: null,
  askedByOrigin: false,
};
