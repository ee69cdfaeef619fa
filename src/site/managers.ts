import { buildOf } from '../compatibility/builds.ts';

/** A link that hands a package or a repository to a package manager. */
export interface DeepLink {
  readonly manager: ManagerName;
  readonly href: string;
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
 * Whether a manager can install something of these architectures. What is for all of them is for those alone that its
 * repository serves: a repository for other systems has such packages too.
 */
const canTake = (manager: ManagerName, architectures: readonly string[], served: Iterable<string>): boolean => {
  const builds = [...(architectures.includes('all') ? served : []), ...architectures].map(buildOf);
  return takes[manager].some((build) => builds.includes(build));
};

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
  const links: DeepLink[] = [
    { manager: 'Sileo', href: `sileo://package/${name}` },
    { manager: 'Zebra', href: `zbra://packages/${name}?source=${source}` },
    { manager: 'Cydia', href: `cydia://url/https://cydia.saurik.com/api/share#?source=${source}&package=${name}` },
  ];
  return links.filter(({ manager }) => canTake(manager, architectures, served));
};

/**
 * Links that add a repository to the managers that can install something of it. They hold its address alone, so they
 * exist for flat repositories only.
 */
export const repositoryLinks = (repository: string, served: readonly string[]): DeepLink[] => {
  const source = asValue(repository);
  const links: DeepLink[] = [
    { manager: 'Sileo', href: `sileo://source/${source}` },
    { manager: 'Zebra', href: `zbra://sources/add/${source}` },
    { manager: 'Cydia', href: `cydia://url/https://cydia.saurik.com/api/share#?source=${source}` },
    { manager: 'Installer', href: `installer://add/${source}` },
  ];
  return links.filter(({ manager }) => canTake(manager, served, served));
};
