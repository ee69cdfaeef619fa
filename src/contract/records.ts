import { z } from 'zod';
import { type FindingCode, findingTexts } from './finding-texts.ts';
import { signingStates } from './signing-states.ts';

// The public records, field for field and in the order of the API document ("Resources and their fields"). They are
// strict: exactly what is documented is written.

const url = z.url({ protocol: /^https?$/ });
const timestamp = z.iso.datetime({ precision: 3 }).meta({ examples: ['2026-05-01T12:00:00.000Z'] });
const ranking = z.number().int().min(1).max(5).describe('Ranking of the repository: 1 is best, 5 is last.');
const byteCount = z.number().int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** The day of the first release, which took over from earlier services. */
const firstRelease = '2026-11-20';

/** A field that stays for older clients: what it was, what replaces it, and since when. */
const deprecated = (what: string, instead: string, since: string) => ({
  deprecated: true,
  description: `${what}; use ${instead}. Deprecated since ${since}.`,
});
const absolutePath = z.string().regex(/^\//);

const repositoryFields = {
  id: z.string().describe('Repository identifier.'),
  name: z.string().nullable().describe('Repository name: Origin of its Release, else Label.'),
  description: z.string().nullable().describe('Repository description.'),
  uri: url.describe('Address of the repository.'),
  suite: z.string().describe('APT suite; "./" for a flat repository.'),
  sections: z.array(z.string()).describe('Sections of its packages, sorted.'),
  visible: z.boolean().describe('Whether the repository is visible.'),
  package_count: z.number().int().min(0).describe('Number of package records in the repository.'),
  quality: ranking,
  bootstrap: z.boolean().describe('Whether it is a bootstrap repository.'),
  origin_hostname: z.string().describe('Host name of the origin.'),
  origin_last_updated: timestamp.describe('When the origin was last seen to change.'),
  origin_release_path: absolutePath.describe('Path of the Release file below the address.'),
  origin_release_hash: sha256.describe('SHA-256 of the Release file as downloaded.'),
  origin_packages_path: absolutePath.describe('Path of the Packages index below the address.'),
  origin_packages_hash: sha256.describe('SHA-256 of the Packages index as downloaded.'),
  origin_has_release_gpg: z.boolean().describe('Whether it has a detached Release signature.'),
  origin_has_in_release: z.boolean().describe('Whether it has an InRelease file.'),
  origin_uses_https: z.boolean().describe('Whether the origin uses https.'),
  origin_supports_payment_v1: z.boolean().describe('Whether it supports payment version 1.'),
  origin_supports_payment_v2: z.boolean().describe('Whether it supports payment version 2 (native).'),
  slug: z.string().meta(deprecated('Legacy slug', 'id', firstRelease)),
  isBootstrap: z.boolean().meta(deprecated('Legacy bootstrap flag', 'bootstrap', firstRelease)),
  tier: ranking.meta(deprecated('Legacy ranking', 'quality', firstRelease)),
};

/** One repository, as repository lookup, ranking and search answer it. */
export const repositoryRecordSchema = z.strictObject({
  id: repositoryFields.id,
  name: repositoryFields.name,
  description: repositoryFields.description,
  uri: repositoryFields.uri,
  suite: repositoryFields.suite,
  sections: repositoryFields.sections,
  version: z.string().nullable().describe('Repository version.'),
  date: timestamp.nullable().describe('Date of the Release file.'),
  visible: repositoryFields.visible,
  package_count: repositoryFields.package_count,
  quality: repositoryFields.quality,
  bootstrap: repositoryFields.bootstrap,
  origin_hostname: repositoryFields.origin_hostname,
  origin_last_updated: repositoryFields.origin_last_updated,
  origin_release_path: repositoryFields.origin_release_path,
  origin_release_hash: repositoryFields.origin_release_hash,
  origin_packages_path: repositoryFields.origin_packages_path,
  origin_packages_hash: repositoryFields.origin_packages_hash,
  origin_has_release_gpg: repositoryFields.origin_has_release_gpg,
  origin_has_in_release: repositoryFields.origin_has_in_release,
  origin_uses_https: repositoryFields.origin_uses_https,
  origin_supports_payment_v1: repositoryFields.origin_supports_payment_v1,
  origin_supports_payment_v2: repositoryFields.origin_supports_payment_v2,
  partner_endpoint: url.nullable().describe('Payment endpoint for payment version 1.'),
  refs: z.strictObject({
    packages: url.describe('The list of its packages.'),
    meta: url.describe('This repository.'),
  }),
  slug: repositoryFields.slug,
  isBootstrap: repositoryFields.isBootstrap,
  tier: repositoryFields.tier,
});
export type RepositoryRecord = z.infer<typeof repositoryRecordSchema>;

/** The repository inside a package record: without refs and partner_endpoint, and neither version nor date is null. */
export const embeddedRepositorySchema = z.strictObject({
  suite: repositoryFields.suite,
  name: repositoryFields.name,
  description: repositoryFields.description,
  date: timestamp.describe('Date of the Release file, or if it has none, when the origin last changed.'),
  slug: repositoryFields.slug,
  uri: repositoryFields.uri,
  origin_has_release_gpg: repositoryFields.origin_has_release_gpg,
  quality: repositoryFields.quality,
  package_count: repositoryFields.package_count,
  bootstrap: repositoryFields.bootstrap,
  origin_has_in_release: repositoryFields.origin_has_in_release,
  id: repositoryFields.id,
  visible: repositoryFields.visible,
  origin_release_path: repositoryFields.origin_release_path,
  origin_hostname: repositoryFields.origin_hostname,
  origin_packages_hash: repositoryFields.origin_packages_hash,
  origin_uses_https: repositoryFields.origin_uses_https,
  tier: repositoryFields.tier,
  origin_last_updated: repositoryFields.origin_last_updated,
  origin_supports_payment_v1: repositoryFields.origin_supports_payment_v1,
  sections: repositoryFields.sections,
  version: z.string().describe('Repository version; empty if it has none.'),
  origin_release_hash: repositoryFields.origin_release_hash,
  origin_packages_path: repositoryFields.origin_packages_path,
  origin_supports_payment_v2: repositoryFields.origin_supports_payment_v2,
  isBootstrap: repositoryFields.isBootstrap,
});
export type EmbeddedRepository = z.infer<typeof embeddedRepositorySchema>;

/** One version of a package for one architecture in one repository. */
export const packageRecordSchema = z.strictObject({
  id: sha256.describe('Unique hash of repository, identifier, version and architecture.'),
  package_id: z.string().describe('Package identifier.'),
  package: z.string().meta(deprecated('Legacy package identifier', 'package_id', firstRelease)),
  name: z.string().nullable().describe('Package name.'),
  description: z.string().nullable().describe('Package description, complete.'),
  version: z.string().describe('Package version.'),
  latest_version: z
    .boolean()
    .describe('Whether this is the newest version of the package for its architecture in its repository.'),
  architecture: z.string().describe('Supported architecture.'),
  section: z.string().nullable().describe('Package section.'),
  maintainer: z.string().nullable().describe('Maintainer.'),
  author: z.string().nullable().describe('Author.'),
  price: z.enum(['Free', 'Paid']).describe('Price of the package.'),
  tags: z.array(z.string()).nullable().describe('Package tags.'),
  visible: z.boolean().describe('Whether the package is visible.'),
  sha256_hash: sha256.nullable().describe('SHA-256 of the package file.'),
  package_size: byteCount.describe('Download size in bytes; 0 if the repository does not say.'),
  installed_size: byteCount.nullable().describe('Installed size in bytes.'),
  package_filename: z.string().describe('File name of the package in the repository.'),
  icon_url: url.describe('Address of the icon.'),
  header_url: url.describe('Address of the header image.'),
  native_depiction: url.nullable().describe('Address of the native depiction (version 2).'),
  repository_id: z.string().describe('Identifier of the hosting repository.'),
  quality: ranking.describe('Ranking of the hosting repository: 1 is best.'),
  repositoryTier: ranking.meta(deprecated('Legacy repository ranking', 'quality', firstRelease)),
  refs: z.strictObject({
    meta: url.describe('All versions of this package.'),
    repo: url.describe('The hosting repository.'),
  }),
  repository: embeddedRepositorySchema,
});
export type PackageRecord = z.infer<typeof packageRecordSchema>;

/** The result of a safety check for one address. */
export const safetyRecordSchema = z.strictObject({
  uri: z.string().describe('The supplied repository URI, unchanged.'),
  safe: z.boolean().describe('Whether the repository is safe.'),
});

const leaf = z.boolean();

/** The generation that a replica answers from. */
const replicaRecordSchema = z.strictObject({
  generation: z.number().int().min(1).nullable().describe('Number of the generation; null before the first.'),
  published: z.iso.datetime().nullable().describe('When the generation was published.'),
  age: z.number().int().min(0).nullable().describe('Seconds since it was published.'),
  confirmed: z.iso
    .datetime()
    .nullable()
    .describe('When the publication last confirmed it as newest; null if not since the start.'),
});
export type ReplicaRecord = z.infer<typeof replicaRecordSchema>;

const replica = replicaRecordSchema
  .optional()
  .describe('What a replica answers from; left out if the server is no replica.');

/** Health of the service: every leaf is the result of a probe, and `healthy` is true if all leaves of its group are. */
export const healthRecordSchema = z.strictObject({
  healthy: leaf,
  service_data: z.strictObject({ healthy: leaf, search_index_healthy: leaf, database_healthy: leaf }),
  route_data: z.strictObject({
    package: z.strictObject({
      healthy: leaf,
      lookup_healthy: leaf,
      multi_lookup_healthy: leaf,
      search_healthy: leaf,
    }),
    repository: z.strictObject({
      healthy: leaf,
      lookup_healthy: leaf,
      packages_healthy: leaf,
      safety_healthy: leaf,
      search_healthy: leaf,
    }),
    download: z.strictObject({ healthy: leaf, ingest_healthy: leaf }),
  }),
  replica,
});
export type HealthRecord = z.infer<typeof healthRecordSchema>;

/** Something that is wrong with a repository. */
export const findingSchema = z.strictObject({
  code: z.enum(Object.keys(findingTexts) as FindingCode[]).describe('Code of what is wrong; stable.'),
  weight: z
    .enum(['broken', 'weak', 'note'])
    .describe('broken: keeps packages or updates from people; weak: a risk; note: worth tidying.'),
  count: z.number().int().min(1).describe('Number of occurrences.'),
  title: z.string().describe('What is wrong, briefly.'),
  for_operator: z
    .string()
    .describe('A sentence for the operator, with the first occurrence; of redirects with one to each place.'),
  for_owner: z.string().describe('A sentence for the owner: how to fix it.'),
  since: timestamp.nullable().describe('Since when it is so; null if not known.'),
});
export type FindingRecord = z.infer<typeof findingSchema>;

/** Everything that is wrong with one repository. */
export const findingsRecordSchema = z.strictObject({
  repository_id: repositoryFields.id,
  failure: findingSchema.nullable().describe('Why the last crawl failed; null if it succeeded.'),
  signature: z
    .strictObject({
      state: z.enum(signingStates),
      text: z.string().describe('What the state means.'),
      signers: z.array(z.string()).describe('Fingerprints or key identifiers that the signatures name.'),
    })
    .nullable()
    .describe('How the Release of the current data is signed; null if none was ever read.'),
  findings: z.array(findingSchema).describe('Findings, ordered by code.'),
});
export type FindingsRecord = z.infer<typeof findingsRecordSchema>;

const build = {
  package_id: z.string().describe('Package identifier.'),
  version: z.string().describe('Package version.'),
  architecture: z.string().describe('Supported architecture.'),
};
const divergence = {
  count: z.number().int().min(1).describe('Number of builds. A build is a version of a package for an architecture.'),
  builds: z.array(z.strictObject(build)).min(1).describe('The first of these builds, by package; at most 20.'),
};

/** Contradictions in the index: versions with different bytes in two repositories, or than before. */
export const divergencesRecordSchema = z.strictObject({
  pairs: z
    .array(
      z.strictObject({
        repositories: z.array(repositoryFields.id).length(2).describe('Identifiers of both repositories.'),
        since: timestamp.describe('When the latest of these differences appeared, as far as known.'),
        ...divergence,
      }),
    )
    .describe(
      'Pairs of repositories with different bytes for the same builds, those with the most first; at most 1,000.',
    ),
  changed: z
    .array(
      z.strictObject({
        repository_id: repositoryFields.id,
        changed: timestamp.describe('When the change was seen.'),
        ...divergence,
      }),
    )
    .describe('Repositories that changed the bytes of a version, the latest first; at most 1,000.'),
});
export type DivergencesRecord = z.infer<typeof divergencesRecordSchema>;

/** The landing document's description of the service. */
export const landingRecordSchema = z.strictObject({
  info: z.strictObject({
    name: z.string(),
    version: z.string(),
    build: z.string().describe('Digest of what is published; changes when the index does.'),
    platform: z.string(),
    runtime: z.string(),
  }),
  reference: z.strictObject({
    docs: url,
    changes: url.describe('What clients must know about each release.'),
    privacy_policy: url,
    privacy_updated: z.iso.date().describe('Day on which the privacy policy last changed.'),
    contact_email: z.email(),
    copyright: z.string(),
    signing_key: z
      .string()
      .optional()
      .describe('Ed25519 public key (32 bytes, base64url) for the signature of `generation.json` in `generation.jws`.'),
  }),
  statistics: z.strictObject({
    repositories: z.number().int().min(0),
    packages: z.number().int().min(0).describe('Distinct package identifiers.'),
    versions: z.number().int().min(0).describe('Package records.'),
    updated: timestamp.describe('When a change of any origin was last seen.'),
  }),
  replica,
});
export type LandingRecord = z.infer<typeof landingRecordSchema>;

// The messages continue a sentence after the name of the field: Zod's would be about types.
const counted = 'must be a string of 1 to 255 characters';
const countedText = z.string(counted).min(1, counted).max(255, counted);
const ignoredText = z.string('must be a string or null').nullish();

/** One download, as package managers report it. */
export const downloadSchema = z.object(
  {
    package_id: countedText,
    package_version: countedText,
    package_author: ignoredText,
    package_maintainer: ignoredText,
    repository_uri: ignoredText,
    repository_suite: ignoredText,
    repository_component: ignoredText,
  },
  'must be an object',
);
export type Download = z.infer<typeof downloadSchema>;

/** For how many days daily download counts are kept and listed. */
export const countedDays = 400;

/** How often a package was downloaded, as reported by clients. */
export const downloadCountSchema = z.strictObject({
  package_id: z.string().describe('Package identifier.'),
  total: z.number().int().min(0).describe('All counted downloads, of every version.'),
  last_30_days: z.number().int().min(0).describe('Downloads of today and the 29 days before, in UTC.'),
  daily: z
    .array(z.strictObject({ day: z.iso.date().describe('A day, in UTC.'), count: z.number().int().min(1) }))
    .max(countedDays)
    .describe(`Days among the last ${countedDays} with downloads, oldest first.`),
});
export type DownloadCount = z.infer<typeof downloadCountSchema>;

/** The most packages in the list of downloads. */
export const listedDownloads = 20_000;

/** How often a package was downloaded up to the end of a day. */
export const downloadTotalSchema = z.strictObject({
  package_id: z.string().describe('Package identifier.'),
  total: z.number().int().min(1).describe('All downloads by the end of that day, of every version.'),
  last_30_days: z.number().int().min(0).describe('Downloads of the last 30 days up to it, in UTC.'),
});
export type DownloadTotal = z.infer<typeof downloadTotalSchema>;

/** The most downloads in one report. */
const ingestMaximum = 256;

/** The body of a download ingest. */
export const downloadsSchema = z
  .array(downloadSchema, 'The body must be a JSON array of downloads')
  .max(ingestMaximum, `The body must hold at most ${ingestMaximum} downloads`);
