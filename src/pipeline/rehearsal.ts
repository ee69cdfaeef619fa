import { constants, copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { catalogPath } from '../catalog/state-catalog.ts';

// A file that is modified in place must not be linked, because the original would change. These are only ever replaced
// by rename.
const link = (from: string, to: string): void => {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
  }
};

const linkTree = (from: string, to: string): void => {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) linkTree(source, target);
    else if (entry.isFile()) link(source, target);
  }
};

// Databases that a server may be writing to, and locks.
const isForeign = (name: string): boolean => /\.sqlite|\.lock/.test(name);

/**
 * Makes a second state folder for the rehearsal of a build, at almost no cost: snapshots, history and catalog are
 * links, and the other notes of builds are copies. Returns the folder; `removeRehearsal` removes it.
 */
export const prepareRehearsal = (state: string): string => {
  const folder = path.join(state, 'rehearsal');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of ['snapshots', 'history']) {
    if (existsSync(path.join(state, name))) linkTree(path.join(state, name), path.join(folder, name));
  }
  if (existsSync(catalogPath(state))) link(catalogPath(state), catalogPath(folder));
  for (const entry of readdirSync(state, { withFileTypes: true })) {
    if (!entry.isFile() || isForeign(entry.name)) continue;
    copyFileSync(path.join(state, entry.name), path.join(folder, entry.name));
  }
  return folder;
};

/** Takes the folder of a rehearsal away. */
export const removeRehearsal = (state: string): void =>
  rmSync(path.join(state, 'rehearsal'), { recursive: true, force: true });
