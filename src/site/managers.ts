import { buildOf } from '../compatibility/builds.ts';

/** A link that hands a package or a repository to a package manager. */
export interface DeepLink {
  readonly manager: ManagerName;
  readonly href: string;
  /** Of what it opens, the builds that this manager installs. */
  readonly builds: readonly Build[];
}

type ManagerName = 'Sileo' | 'Zebra' | 'Cydia' | 'Installer';
type Build = Exclude<ReturnType<typeof buildOf>, undefined | 'all'>;

// The last releases of Cydia and Installer are older than rootless jailbreaks; Sileo and Zebra are built for each kind.
const takes: Readonly<Record<ManagerName, readonly Build[]>> = {
  Sileo: ['rootful', 'rootless', 'roothide'],
  Zebra: ['rootful', 'rootless', 'roothide'],
  Cydia: ['rootful'],
  Installer: ['rootful'],
};

/**
 * Which builds of these architectures a manager can install. What is for all of them is for those alone that its
 * repository serves: a repository for other systems has such packages too.
 */
const takenBuilds = (manager: ManagerName, architectures: readonly string[], served: Iterable<string>): Build[] => {
  const builds = [...(architectures.includes('all') ? served : []), ...architectures].map(buildOf);
  return takes[manager].filter((build) => builds.includes(build));
};

type Opening = Omit<DeepLink, 'builds'>;

/** The links of those managers that can install something of what they open. */
const usable = (links: readonly Opening[], architectures: readonly string[], served: Iterable<string>): DeepLink[] =>
  links
    .map((link) => ({ ...link, builds: takenBuilds(link.manager, architectures, served) }))
    .filter(({ builds }) => builds.length > 0);

// What the managers read after "?" ends at "&" and "#". The URL parser has already escaped quotes, blanks and controls.
const asValue = (uri: string): string => new URL(uri).href.replaceAll('&', '%26').replaceAll('#', '%23');

/** Where a package is, and what it and its repository are built for. */
interface OfferedPackage {
  readonly id: string;
  /** The address of a repository that has it. */
  readonly repository: string;
  readonly architectures: readonly string[];
  /** All architectures of that repository. */
  readonly served: Iterable<string>;
}

/** Links that open a package in the managers that can install it. */
export const packageLinks = ({ id, repository, architectures, served }: OfferedPackage): DeepLink[] => {
  const name = encodeURIComponent(id);
  const source = asValue(repository);
  const links: Opening[] = [
    { manager: 'Sileo', href: `sileo://package/${name}` },
    { manager: 'Zebra', href: `zbra://packages/${name}?source=${source}` },
    { manager: 'Cydia', href: `cydia://url/https://cydia.saurik.com/api/share#?source=${source}&package=${name}` },
  ];
  return usable(links, architectures, served);
};

/**
 * Links that add a repository to the managers that can install something of it. They hold its address alone, so they
 * exist for flat repositories only.
 */
export const repositoryLinks = (repository: string, served: readonly string[]): DeepLink[] => {
  const source = asValue(repository);
  const links: Opening[] = [
    { manager: 'Sileo', href: `sileo://source/${source}` },
    { manager: 'Zebra', href: `zbra://sources/add/${source}` },
    { manager: 'Cydia', href: `cydia://url/https://cydia.saurik.com/api/share#?source=${source}` },
    { manager: 'Installer', href: `installer://add/${source}` },
  ];
  return usable(links, served, served);
};
