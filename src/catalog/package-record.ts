import { hash } from 'node:crypto';
import type { PackageStanza } from '../apt/packages-index.ts';
import type { ManifestEntry } from '../contract/manifest.ts';
import { type Addressing, publicAddress } from '../contract/public-addresses.ts';
import type { PackageRecord } from '../contract/records.ts';
import { sectionImages, sectionKind } from '../contract/sections.ts';
import { type RecordDetails, relationFields } from './record-details.ts';

const detailFields = [...relationFields, 'homepage', 'depiction'] as const satisfies readonly Exclude<
  keyof RecordDetails & keyof PackageStanza,
  'essential'
>[];

/** The details of a stanza as JSON text; null if it has none. */
export const computeDetails = (stanza: PackageStanza): string | null => {
  let details: Record<string, string | true> | undefined;
  for (const field of detailFields) {
    const value = stanza[field];
    if (value === null) continue;
    details ??= {};
    details[field] = value;
  }
  if (stanza.multiArch === 'allowed') details = { ...details, anyArchitecture: true };
  if (stanza.essential) details = { ...details, essential: true };
  return details === undefined ? null : JSON.stringify(details);
};

/** The public identifier of a package record (decisions, section 5): SHA-256 over its four coordinates. */
const recordIdentifier = (slug: string, stanza: PackageStanza): string =>
  hash('sha256', `${slug}\n${stanza.package}\n${stanza.version}\n${stanza.architecture}`);

const isCommercial = (tag: string): boolean => tag === 'cydia::commercial';

/**
 * The ready JSON text of a package record (decisions, section 5) up to and including the key of its last field,
 * `"repository":`. The embedded repository and a closing brace complete it. All records of a repository share the text
 * of that, and it changes only with the repository.
 */
export const computeRecordJson = (
  entry: ManifestEntry,
  stanza: PackageStanza,
  latest: boolean,
  addressing: Addressing,
): string => {
  const address = publicAddress(addressing);
  const images = sectionImages(addressing.base, sectionKind(stanza.section));
  // What a search reads comes first, up to the author (parseTexts).
  const record: Omit<PackageRecord, 'repository'> = {
    id: recordIdentifier(entry.slug, stanza),
    package_id: stanza.package,
    package: stanza.package,
    name: stanza.name,
    description: stanza.description,
    version: stanza.version,
    latest_version: latest,
    architecture: stanza.architecture,
    section: stanza.section,
    maintainer: stanza.maintainer,
    author: stanza.author,
    price: stanza.tags?.some(isCommercial) === true ? 'Paid' : 'Free',
    tags: stanza.tags,
    visible: true,
    sha256_hash: stanza.sha256,
    package_size: stanza.size,
    installed_size: stanza.installedSize,
    package_filename: stanza.filename,
    icon_url: stanza.icon ?? images.icon,
    header_url: stanza.header ?? images.header,
    native_depiction: stanza.nativeDepiction,
    repository_id: entry.slug,
    quality: entry.ranking,
    repositoryTier: entry.ranking,
    refs: { meta: address.package(stanza.package), repo: address.repository(entry.slug) },
  };
  return `${JSON.stringify(record).slice(0, -1)},"repository":`;
};

// Inside a JSON string its quotation marks would be escaped, so this can only be the field itself.
const latestField = '"latest_version":true';

/** The same record after a newer version became known. */
export const withoutLatest = (json: string): string => json.replace(latestField, '"latest_version":false');
