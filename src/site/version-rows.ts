import { versionOrder } from '../catalog/version-order.ts';
import { buildOf } from '../compatibility/builds.ts';
import { newestOf } from './copies.ts';
import { rememberRecent } from './page-keys.ts';
import { isUnsafe } from './repository.ts';
import type { PackageVersion } from './site-catalog.ts';
import { tellNames } from './told-apart.ts';

/** One row of the table of versions. */
export interface VersionRow {
  readonly version: string;
  readonly latest: boolean;
  /** Whether it is safe, and no safe repository has a newer one. */
  readonly isNewest: boolean;
  /** Whether the safety list names its repository. */
  readonly isUnsafe: boolean;
  readonly slug: string;
  readonly repository: string;
  readonly architecture: string;
  /** The kind of build, if it is for iOS devices; "all" means every one of them. */
  readonly build: ReturnType<typeof buildOf>;
  readonly size: number;
  /** When it was first seen. ISO 8601. */
  readonly firstSeen: string;
  /** Whether it was seen to appear; otherwise it was there when its repository was first read, and is older. */
  readonly isNews: boolean;
  /** Address of the package file, if Filename names one below its repository that anybody may download, and that is safe. */
  readonly download: string | undefined;
  readonly sha256: string | null;
  /** The repository with different bytes for the same version and architecture; undefined if there is none. */
  readonly otherBytesIn: string | undefined;
  /** When its repository last named different bytes for it; undefined if it never did. ISO 8601. */
  readonly bytesChangedAt: string | undefined;
  /** Of an older version: the iOS versions that it allows, in words; undefined if it sets no limit. */
  readonly ios?: string | undefined;
  /** Of a safe older version that allows an iOS which no latest one states to allow: what it states, as pages contain it. */
  readonly states?: string | undefined;
}

/** A repository's address as the URL parser writes it, with a slash at its end; undefined if it is none. */
const folderOf = rememberRecent(
  (repository: string): string | undefined => URL.parse(repository.endsWith('/') ? repository : `${repository}/`)?.href,
);

/**
 * The address of a package file: Filename below the repository's address (Repository format, "Packages"). Undefined if
 * it would lead anywhere else, because a stranger wrote it and the visitor is told that the file comes from the
 * repository.
 */
export const downloadAddress = (repository: string, filename: string): string | undefined => {
  const base = folderOf(repository);
  const path = filename.replace(/^(?:\.?\/+)+/, '');
  if (base === undefined || path === '' || /^[a-z][a-z0-9+.-]*:/i.test(path)) return undefined;
  const escaped = path.replace(/[?#%\\]/g, (character) => encodeURIComponent(character));
  const url = URL.parse(escaped, base);
  return url?.href.startsWith(base) === true ? url.href : undefined;
};

/**
 * Whether the package is bought in a package manager, and only that gets its file: the repository refuses it to
 * browsers.
 */
export const isSold = ({ record, repository }: Pick<PackageVersion, 'record' | 'repository'>): boolean =>
  record.price === 'Paid' && repository.sells;

const versionRow = (
  { record, repository, firstSeen, isNews, bytesChangedAt }: PackageVersion,
  otherBytesIn: string | undefined,
  newest: string,
): VersionRow => ({
  version: record.version,
  latest: record.latest_version,
  isNewest: !isUnsafe(repository) && versionOrder(record.version, newest) === 0,
  isUnsafe: isUnsafe(repository),
  slug: repository.slug,
  repository: repository.name,
  architecture: record.architecture,
  build: buildOf(record.architecture),
  size: record.package_size,
  firstSeen,
  isNews,
  download:
    isSold({ record, repository }) || isUnsafe(repository)
      ? undefined
      : downloadAddress(repository.record.uri, record.package_filename),
  sha256: record.sha256_hash,
  otherBytesIn,
  bytesChangedAt,
});

/**
 * The rows of all versions of a package, in their order. `differing` has the repository with different bytes for each.
 */
export const versionRows = (
  versions: readonly PackageVersion[],
  differing: ReadonlyMap<PackageVersion, string>,
): VersionRow[] => {
  const newest = newestOf(versions);
  return versions.map((one) => versionRow(one, differing.get(one), newest));
};

/** The same versions, with distinguishable names of repositories: with their slugs if several have the same name. */
export const tellApart = (versions: readonly PackageVersion[]): readonly PackageVersion[] => {
  // Most packages are in a single repository.
  if (versions.every(({ repository }) => repository === versions[0]?.repository)) return versions;
  const names = tellNames(versions.map(({ repository }) => repository));
  const told = new Map(
    versions
      .filter(({ repository: { slug, name } }) => names.get(slug) !== name)
      .map(({ repository }) => [repository, { ...repository, name: names.get(repository.slug) ?? repository.name }]),
  );
  return told.size === 0
    ? versions
    : versions.map((one) => ({ ...one, repository: told.get(one.repository) ?? one.repository }));
};
