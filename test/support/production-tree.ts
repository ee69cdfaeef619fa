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

/** What a checkout holds that running needs. */
const checkout = ['data', 'functions', 'scripts', 'src', 'astro.config.mjs', 'CHANGELOG.md', 'package.json'];
const settings = ['LICENSE', 'package-lock.json', 'tsconfig.json', 'tsconfig.astro.json'];

interface LockedPackage {
  readonly dev?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
}

// Hundreds of megabytes: only on another disk are they copied.
const bring = (from: string, to: string): void => {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
};

// Packages inside of a package are in the lock by themselves.
const bringFolder = (from: string, to: string): void => {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [inner, copy] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isFile()) bring(inner, copy);
    else if (entry.isDirectory() && entry.name !== 'node_modules') bringFolder(inner, copy);
  }
};

/**
 * A checkout after `npm ci --omit=dev`, in a folder that is there: what of this one running needs, and those of the
 * packages here that are not of development alone, as the lock has it. Its packages are the very files of this one:
 * nothing may write into them.
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
    // Packages of other systems are in the lock as well.
    if (place === '' || dev || !existsSync(path.join(project, place))) continue;
    bringFolder(path.join(project, place), path.join(folder, place));
    if (path.dirname(place) !== 'node_modules') continue;
    for (const [name, file] of Object.entries(bin)) {
      symlinkSync(path.join('..', path.basename(place), file), path.join(programs, name));
    }
  }
  chmodSync(folder, 0o755);
};

/** A folder for temporary files on the disk of this project, where there is one: packages can be linked there. */
export const folderOnSameDisk = (): string => {
  const { dev } = statSync(project);
  return [tmpdir(), '/tmp', '/var/tmp'].find((name) => existsSync(name) && statSync(name).dev === dev) ?? tmpdir();
};

/** The variables of a shell beside this project: programs of its packages are not found. */
export const plainEnvironment = (home: string): NodeJS.ProcessEnv => {
  const names = (process.env.PATH ?? '').split(path.delimiter).filter((name) => !name.includes('node_modules'));
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|NODE_|VITEST|DEBDEX_|GATEWAY_|INIT_CWD)/i.test(name),
  );
  return { ...Object.fromEntries(own), PATH: names.join(path.delimiter), HOME: home, TMPDIR: home };
};
