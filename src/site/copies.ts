import { areOtherBytes, type PackageBytes } from '../catalog/package-bytes.ts';
import { versionOrder } from '../catalog/reading.ts';
import type { PackageVersion } from './site-catalog.ts';

/** A repository that has a package, beside the others that have it. */
export interface Copy {
  readonly slug: string;
  readonly repository: string;
  /** The newest version that it has. */
  readonly version: string;
  readonly architectures: readonly string[];
  /** The newest version in any repository, where this one has an older one. */
  readonly behind: string | undefined;
  /** Architectures of which another repository has the same version with other bytes, and the first such repository. */
  readonly differs: { readonly architectures: readonly string[]; readonly from: string } | undefined;
}

const newestOf = (versions: readonly PackageVersion[]): string =>
  versions.reduce(
    (best, { record }) => (versionOrder(record.version, best) > 0 ? record.version : best),
    versions[0]?.record.version ?? '',
  );

const bytesOf = ({ record }: PackageVersion): PackageBytes => ({
  sha256: record.sha256_hash,
  size: record.package_size,
});

/**
 * Those of these versions, in the order of the package lookup, that have other bytes than the first of the same version
 * and architecture, and the name of the repository that has that one.
 */
export const findOtherBytes = (versions: readonly PackageVersion[]): Map<PackageVersion, string> => {
  const firsts = new Map<string, PackageVersion>();
  const found = new Map<PackageVersion, string>();
  for (const one of versions) {
    const key = `${one.record.version}\n${one.record.architecture}`;
    const first = firsts.get(key);
    if (first !== undefined && areOtherBytes(bytesOf(first), bytesOf(one))) found.set(one, first.repository.name);
    // What says nothing of its bytes is not what others are compared with.
    if (first === undefined && (one.record.sha256_hash !== null || one.record.package_size > 0)) firsts.set(key, one);
  }
  return found;
};

/** The repositories that have a package, in the order of its versions; none where it is one alone. */
export const computeCopies = (latest: readonly PackageVersion[]): Copy[] => {
  if (latest.every(({ repository }) => repository === latest[0]?.repository)) return [];
  const holders = new Map<string, PackageVersion[]>();
  for (const one of latest) {
    const known = holders.get(one.repository.slug);
    if (known === undefined) holders.set(one.repository.slug, [one]);
    else known.push(one);
  }
  const newest = newestOf(latest);
  const differing = findOtherBytes(latest);
  return [...holders].map(([slug, builds]) => {
    const [first] = builds as [PackageVersion];
    const version = newestOf(builds);
    const others = builds.flatMap((one) => {
      const from = differing.get(one);
      return from === undefined ? [] : [{ architecture: one.record.architecture, from }];
    });
    return {
      slug,
      repository: first.repository.name,
      version,
      architectures: builds.map(({ record }) => record.architecture),
      behind: versionOrder(version, newest) < 0 ? newest : undefined,
      differs: others[0] && { architectures: others.map(({ architecture }) => architecture), from: others[0].from },
    };
  });
};
