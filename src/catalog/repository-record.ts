import { parseDate, type ReleaseFile } from '../apt/release.ts';
import { writtenWebUrl } from '../apt/urls.ts';
import { addressKey, type ManifestEntry } from '../contract/manifest.ts';
import { type Addressing, publicAddress } from '../contract/public-addresses.ts';
import { type EmbeddedRepository, embeddedRepositorySchema, type RepositoryRecord } from '../contract/records.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';

/**
 * The public record of a repository (decisions, section 5, "Repository record"). The count of packages and `sections`
 * come from the package records that were kept.
 */
export const computeRepositoryRecord = (
  entry: ManifestEntry,
  snapshot: Snapshot,
  release: ReleaseFile,
  packages: { count: number; sections: Iterable<string> },
  addressing: Addressing,
): RepositoryRecord => {
  const address = publicAddress(addressing);
  // If the manifest names another address by now, the snapshot is published with the address that it was crawled from.
  const isNamed = addressKey(snapshot.origin) === addressKey(entry);
  const { uri, suite } = isNamed ? entry : snapshot.origin;
  const endpoint = snapshot.paymentEndpoint === null ? null : writtenWebUrl(snapshot.paymentEndpoint);
  return {
    id: entry.slug,
    name: release.origin ?? release.label,
    description: release.description,
    uri,
    suite,
    // By code unit, not by locale, so that the same input gives the same bytes on every machine.
    sections: [...packages.sections].sort(),
    version: release.version,
    date: (release.date === null ? null : parseDate(release.date))?.toISOString() ?? null,
    visible: true,
    package_count: packages.count,
    quality: entry.ranking,
    bootstrap: entry.bootstrap,
    origin_hostname: new URL(uri).hostname,
    origin_last_updated: snapshot.changedAt,
    origin_release_path: snapshot.release.path,
    origin_release_hash: snapshot.release.sha256,
    origin_packages_path: snapshot.packages.path,
    origin_packages_hash: snapshot.packages.sha256,
    origin_has_release_gpg: snapshot.hasReleaseGpg,
    origin_has_in_release: snapshot.hasInRelease,
    origin_uses_https: uri.toLowerCase().startsWith('https:'),
    origin_supports_payment_v1: endpoint !== null,
    origin_supports_payment_v2: release.paymentGateway !== null,
    partner_endpoint: endpoint,
    refs: { packages: address.repositoryPackages(entry.slug), meta: address.repository(entry.slug) },
    slug: entry.slug,
    isBootstrap: entry.bootstrap,
    tier: entry.ranking,
  };
};

/** The repository inside a package record, where neither version nor date may be null; in the order of its schema. */
export const computeEmbeddedRepository = (record: RepositoryRecord): EmbeddedRepository => {
  const { version, date } = record;
  const fields: EmbeddedRepository = { ...record, version: version ?? '', date: date ?? record.origin_last_updated };
  const names = Object.keys(embeddedRepositorySchema.shape) as (keyof EmbeddedRepository)[];
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as EmbeddedRepository;
};
