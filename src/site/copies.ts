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
  // The bytes of a build are those of the first repository that has it.
  const bytes = new Map<string, PackageVersion>();
  for (const one of latest) {
    const key = `${one.record.version}\n${one.record.architecture}`;
    if (one.record.sha256_hash !== null && !bytes.has(key)) bytes.set(key, one);
  }
  return [...holders].map(([slug, builds]) => {
    const [first] = builds as [PackageVersion];
    const version = newestOf(builds);
    const others = builds.flatMap(({ record }) => {
      const other = bytes.get(`${record.version}\n${record.architecture}`);
      if (record.sha256_hash === null || other === undefined || other.record.sha256_hash === record.sha256_hash)
        return [];
      return [{ architecture: record.architecture, from: other.repository.name }];
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
