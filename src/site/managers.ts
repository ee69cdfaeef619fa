import { buildOf } from '../compatibility/builds.ts';
import { parseVersion } from '../compatibility/ios-versions.ts';
import { type BuildStatement, isFor, readStatements } from '../compatibility/judgement.ts';
import { rememberRecent } from './page-keys.ts';

/** A link that opens a package or a repository in a package manager. */
export interface DeepLink {
  readonly manager: ManagerName;
  readonly href: string;
  /** The builds of it that this manager can install. */
  readonly builds: readonly Build[];
  /** The first iOS version on which it has ever run. */
  readonly from: string;
}

type ManagerName = 'Sileo' | 'Zebra' | 'Cydia' | 'Installer';
type Build = Exclude<ReturnType<typeof buildOf>, undefined | 'all'>;

// The last releases of Cydia and Installer are older than rootless jailbreaks; Sileo and Zebra exist for each kind.
// Sileo began with iOS 11, as it says itself, and Zebra with iOS 9.
const managers: Readonly<Record<ManagerName, { readonly takes: readonly Build[]; readonly from: string }>> = {
  Sileo: { takes: ['rootful', 'rootless', 'roothide'], from: '11.0' },
  Zebra: { takes: ['rootful', 'rootless', 'roothide'], from: '9.0' },
  Cydia: { takes: ['rootful'], from: '2.0' },
  Installer: { takes: ['rootful'], from: '3.0' },
};

/**
 * Whether a build runs on any iOS version from this one on, by its fields. What its tags and texts name is not binding.
 */
const mayRunFrom = (first: number, build: Build, stated: readonly BuildStatement[]): boolean => {
  const own = stated.filter((one) => isFor(one, build));
  return own.length === 0 || own.some(({ firmware }) => firmware?.some(([, end]) => end > first) ?? true);
};

/**
 * Which builds of these architectures a manager can install. A package for all architectures is only for those that its
 * repository serves, because repositories for other systems have such packages, too.
 */
const takenBuilds = (
  manager: ManagerName,
  { architectures, served, stated }: Pick<OfferedPackage, 'architectures' | 'served' | 'stated'>,
): Build[] => {
  const { takes, from } = managers[manager];
  const builds = [...(architectures.includes('all') ? served : []), ...architectures].map(buildOf);
  const offered = takes.filter((build) => builds.includes(build));
  if (offered.length === 0) return offered;
  const statements = readStatements(stated);
  return offered.filter((build) => mayRunFrom(parseVersion(from) ?? 0, build, statements));
};

type Opening = Omit<DeepLink, 'builds' | 'from'>;

/** The links of the managers that can install something of what they open. */
const usable = (
  links: readonly Opening[],
  offered: Pick<OfferedPackage, 'architectures' | 'served' | 'stated'>,
): DeepLink[] =>
  links
    .map((link) => ({ ...link, builds: takenBuilds(link.manager, offered), from: managers[link.manager].from }))
    .filter(({ builds }) => builds.length > 0);

// Managers end their argument after "?" at "&" and "#". The URL parser has already escaped quotes, blanks and control
// characters.
const asValue = rememberRecent((uri: string) => new URL(uri).href.replaceAll('&', '%26').replaceAll('#', '%23'));

/** The location of a package, and what it and its repository are built for. */
interface OfferedPackage {
  readonly id: string;
  /** The address of a repository that has it. */
  readonly repository: string;
  readonly architectures: readonly string[];
  /** All architectures of that repository. */
  readonly served: Iterable<string>;
  /** What its builds there state about devices; see writeStatements. */
  readonly stated: string;
}

/** Links that open a package in the managers that can install it. */
export const packageLinks = ({ id, repository, ...offered }: OfferedPackage): DeepLink[] => {
  const name = encodeURIComponent(id);
  const source = asValue(repository);
  const links: Opening[] = [
    { manager: 'Sileo', href: `sileo://package/${name}` },
    { manager: 'Zebra', href: `zbra://packages/${name}?source=${source}` },
    { manager: 'Cydia', href: `cydia://url/https://cydia.saurik.com/api/share#?source=${source}&package=${name}` },
  ];
  return usable(links, offered);
};

/**
 * Links that add a repository to the managers that can install something from it. They contain only its address, so
 * they exist only for flat repositories.
 */
export const repositoryLinks = (repository: string, served: readonly string[]): DeepLink[] => {
  const source = asValue(repository);
  const links: Opening[] = [
    { manager: 'Sileo', href: `sileo://source/${source}` },
    { manager: 'Zebra', href: `zbra://sources/add/${source}` },
    { manager: 'Cydia', href: `cydia://url/https://cydia.saurik.com/api/share#?source=${source}` },
    { manager: 'Installer', href: `installer://add/${source}` },
  ];
  return usable(links, { architectures: served, served, stated: '' });
};
