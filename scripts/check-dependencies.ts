import { readFileSync } from 'node:fs';
import path from 'node:path';

// `npm ci` must install what somebody has once looked at: exact versions, each with the hash of its archive, and
// install scripts only of packages that were decided on by name.

/** The fields of package.json that matter here. */
interface PackageFile {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly allowScripts?: Readonly<Record<string, boolean>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
}

/** The fields of package-lock.json that matter here. */
interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

// An exact version of the package itself, or of another under this name: "npm:other@1.2.3".
const exact = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/;
const folder = 'node_modules/';

/** The faults in the dependencies, a sentence for each. */
export const checkDependencies = (manifest: PackageFile, lock: LockFile): string[] => {
  const faults: string[] = [];
  for (const [name, asked] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
    const locked = lock.packages[folder + name]?.version;
    const version = exact.exec(asked)?.[1];
    if (version === undefined) faults.push(`package.json asks for ${name} ${asked}: name one exact version.`);
    else if (locked !== version) faults.push(`package-lock.json has ${name} ${locked}, and package.json ${version}.`);
  }
  const scripted = new Set<string>();
  for (const [place, { integrity, resolved, hasInstallScript }] of Object.entries(lock.packages)) {
    if (place === '') continue;
    const name = place.slice(place.lastIndexOf(folder) + folder.length);
    if (!/^sha512-[0-9A-Za-z+/]{86}==$/.test(integrity ?? '')) faults.push(`${place} is locked without a SHA-512.`);
    if (resolved !== undefined && !resolved.startsWith('https://')) {
      faults.push(`${place} comes from ${resolved}: only a registry over https is allowed.`);
    }
    if (hasInstallScript) scripted.add(name);
  }
  const decided = manifest.allowScripts ?? {};
  for (const name of scripted) {
    if (!Object.hasOwn(decided, name)) faults.push(`${name} has an install script: decide about it in allowScripts.`);
  }
  for (const name of Object.keys(decided)) {
    if (!scripted.has(name)) faults.push(`allowScripts names ${name}, which has no install script.`);
  }
  return faults;
};

/** The folders with a lock file, the project's own first. Packages for a single benchmark are installed separately. */
export const lockedFolders = ['.', 'tools/lighthouse'] as const;

if (import.meta.main) {
  const faults = lockedFolders.flatMap((folder) => {
    const read = (name: string) => JSON.parse(readFileSync(path.join(import.meta.dirname, '..', folder, name), 'utf8'));
    return checkDependencies(read('package.json'), read('package-lock.json')).map((fault) => `${folder}: ${fault}`);
  });
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}
