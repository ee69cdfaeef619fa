import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const project = path.join(import.meta.dirname, '..', '..');

/** The parts of a checkout that running needs. */
const checkout = ['data', 'functions', 'scripts', 'src', 'astro.config.mjs', 'CHANGELOG.md', 'package.json'];
const settings = ['LICENSE', 'package-lock.json', 'tsconfig.json', 'tsconfig.astro.json'];

interface LockedPackage {
  readonly dev?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
}

// Copied only to another disk, because it is hundreds of megabytes; otherwise linked.
const bring = (from: string, to: string): void => {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
};

// Packages inside a package have entries of their own in the lock file.
const bringFolder = (from: string, to: string): void => {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [inner, copy] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isFile()) bring(inner, copy);
    else if (entry.isDirectory() && entry.name !== 'node_modules') bringFolder(inner, copy);
  }
};

/**
 * Makes a checkout as after `npm ci --omit=dev` in an existing folder: the parts of this one that running needs, and
 * its packages except those that the lock file marks as for development. The packages are hard links to the files of
 * this checkout, so nothing may write to them.
 */
export const makeProductionTree = (folder: string): void => {
  for (const name of [...checkout, ...settings]) {
    cpSync(path.join(project, name), path.join(folder, name), { recursive: true });
  }
  const lock = JSON.parse(readFileSync(path.join(project, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, LockedPackage>>;
  };
  const programs = path.join(folder, 'node_modules', '.bin');
  mkdirSync(programs, { recursive: true });
  for (const [place, { dev, bin = {} }] of Object.entries(lock.packages)) {
    // The lock file also contains packages for other systems.
    if (place === '' || dev || !existsSync(path.join(project, place))) continue;
    bringFolder(path.join(project, place), path.join(folder, place));
    if (path.dirname(place) !== 'node_modules') continue;
    for (const [name, file] of Object.entries(bin)) {
      symlinkSync(path.join('..', path.basename(place), file), path.join(programs, name));
    }
  }
  chmodSync(folder, 0o755);
};

/** A folder for temporary files on the project's disk if there is one, because packages can be linked there. */
export const folderOnSameDisk = (): string => {
  const { dev } = statSync(project);
  return [tmpdir(), '/tmp', '/var/tmp'].find((name) => existsSync(name) && statSync(name).dev === dev) ?? tmpdir();
};

/** The variables of a shell that does not find the programs of the project's packages. */
export const plainEnvironment = (home: string): NodeJS.ProcessEnv => {
  const names = (process.env.PATH ?? '').split(path.delimiter).filter((name) => !name.includes('node_modules'));
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|NODE_|VITEST|DEBDEX_|GATEWAY_|INIT_CWD)/i.test(name),
  );
  return { ...Object.fromEntries(own), PATH: names.join(path.delimiter), HOME: home, TMPDIR: home };
};
