import { pairOtherBytes } from '../catalog/package-bytes.ts';
import { versionOrder } from '../catalog/version-order.ts';
import { type Build, builds } from '../compatibility/builds.ts';
import { isFor, readStatements, writeStatements } from '../compatibility/judgement.ts';
import { newestBy } from '../results/newest.ts';
import { type Doubt, isUnsafe } from './repository.ts';
import type { PackageVersion } from './site-catalog.ts';

/** One of the repositories that have a package. */
export interface Copy {
  readonly slug: string;
  readonly repository: string;
  /** The newest version that it has. */
  readonly version: string;
  /** Its builds. `older`: the version that it has of one, if that is older. */
  readonly builds: readonly { readonly architecture: string; readonly older: string | undefined }[];
  /** The newest version in any repository that is safe to add, if this one has an older one. */
  readonly behind: string | undefined;
  /** Why not to add it, or why the package may not install from there. */
  readonly doubt: Doubt | undefined;
  /**
   * The newest version that another repository has with different bytes, the first such repository, and this one's own
   * files for the architectures concerned.
   */
  readonly differs:
    | { readonly version: string; readonly files: readonly CopiedFile[]; readonly from: string }
    | undefined;
}

/** A package file as its repository describes it, to be compared with others. */
interface CopiedFile {
  readonly architecture: string;
  /** In bytes; 0 if its repository does not say. */
  readonly size: number;
  readonly sha256: string | null;
}

/** The newest of these versions: in any repository that is safe to add, or else in any. */
export const newestOf = (versions: readonly PackageVersion[]): string => {
  const safe = versions.filter(({ repository }) => !isUnsafe(repository));
  return newestBy(safe.length > 0 ? safe : versions, ({ record }) => record.version)?.record.version ?? '';
};

/**
 * Those of these versions, in the order of the package lookup, for which another repository has different bytes with
 * the same version and architecture, and the name of the first such repository. It is unknown which of the two is
 * right.
 */
export const findOtherBytes = (versions: readonly PackageVersion[]): Map<PackageVersion, string> => {
  // Most packages are in a single repository.
  if (versions.every(({ repository }) => repository === versions[0]?.repository)) return new Map();
  const builds = Map.groupBy(versions, ({ record }) => `${record.version}\n${record.architecture}`);
  return new Map(
    [...builds.values()].flatMap((same) =>
      pairOtherBytes(same.map((one) => ({ one, sha256: one.record.sha256_hash, size: one.record.package_size }))).map(
        ([{ one }, other]) => [one, other.one.repository.name] as const,
      ),
    ),
  );
};

/** The value of `Copy.differs`, by slug. */
const newestDiffering = (differing: ReadonlyMap<PackageVersion, string>): Map<string, Copy['differs']> => {
  const bySlug = Map.groupBy(differing.keys(), ({ repository }) => repository.slug);
  return new Map(
    [...bySlug].map(([slug, all]) => {
      const version = newestOf(all);
      const same = all.filter(({ record }) => record.version === version);
      const [from = ''] = same.flatMap((one) => differing.get(one) ?? []);
      const files = same
        .filter((one) => differing.get(one) === from)
        .map(({ record }) => ({
          architecture: record.architecture,
          size: record.package_size,
          sha256: record.sha256_hash,
        }));
      return [slug, { version, files, from }];
    }),
  );
};

/**
 * The repositories that have a package, in the order of its versions, all of which are passed; empty if there is only
 * one.
 *
 * @param differing the result of `findOtherBytes` for them
 */
export const computeCopies = (
  versions: readonly PackageVersion[],
  differing: ReadonlyMap<PackageVersion, string>,
): Copy[] => {
  const latest = versions.filter(({ record }) => record.latest_version);
  if (latest.every(({ repository }) => repository === latest[0]?.repository)) return [];
  const holders = Map.groupBy(latest, ({ repository }) => repository.slug);
  const newest = newestOf(latest);
  const differs = newestDiffering(differing);
  return [...holders].map(([slug, builds]) => {
    const [first] = builds as [PackageVersion];
    const version = newestOf(builds);
    return {
      slug,
      repository: first.repository.name,
      version,
      builds: builds.map(({ record }) => ({
        architecture: record.architecture,
        older: versionOrder(record.version, version) < 0 ? record.version : undefined,
      })),
      behind: versionOrder(version, newest) < 0 ? newest : undefined,
      doubt: first.repository.doubt,
      differs: differs.get(slug),
    };
  });
};

/** A repository that has a build of a package for other devices than the best repository. */
export interface BuildElsewhere {
  readonly build: Build;
  readonly slug: string;
  readonly name: string;
  readonly doubt: Doubt | undefined;
  /**
   * What its build states and those of earlier repositories do not; undefined if only this repository has the build.
   */
  readonly stated: string | undefined;
  /** Whether the best repository also has a build of this kind, with another statement. */
  readonly isBoth: boolean;
}

/**
 * The repositories with what the best repository lacks, for each build in the order of the package lookup. A verdict is
 * about all repositories, but the install buttons lead only to the best.
 *
 * @param versions all versions, in the order of the package lookup
 * @param stated what the package states about devices, by repository; see writeStatements
 */
export const findBuildsElsewhere = (
  versions: readonly Pick<PackageVersion, 'repository'>[],
  stated: ReadonlyMap<string, string>,
): BuildElsewhere[] => {
  if (stated.size === 0) return [];
  const repositories = new Map(versions.map(({ repository }) => [repository.slug, repository]));
  const holders = [...repositories.values()].map(({ slug, name, doubt }) => ({
    slug,
    name,
    doubt,
    stated: readStatements(stated.get(slug) ?? ''),
  }));
  return builds.flatMap((build) => {
    const known = new Set<string>();
    const having = holders.flatMap((holder) => {
      // One by one, because a verdict is that of the best of them.
      const own = holder.stated.filter((one) => isFor(one, build)).map((one) => writeStatements([one]));
      const added = own.filter((one) => !known.has(one));
      for (const one of added) known.add(one);
      return added.length > 0 ? [{ holder, added: added.join(';') }] : [];
    });
    const isBoth = having[0]?.holder === holders[0];
    const others = isBoth ? having.slice(1) : having;
    return others.map(({ holder: { slug, name, doubt }, added }) => {
      const isOnly = !isBoth && others.length === 1;
      return { build, slug, name, doubt, stated: isOnly ? undefined : added, isBoth };
    });
  });
};
