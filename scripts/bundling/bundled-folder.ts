import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { readLicences } from './licences.ts';

const project = path.join(import.meta.dirname, '..', '..');

/** A folder to be made: modules for Node, their licences, and other files. */
export interface BundledFolder {
  /** Source files, by the names of the modules that they become. */
  readonly inputs: Readonly<Record<string, string>>;
  /** The folder of the modules, below the whole folder; "." for the same. */
  readonly modules: string;
  readonly plugins: readonly Plugin[];
  /** Files of the project's folder `data` that the modules read. */
  readonly data: readonly string[];
  /** Writes the remaining files of the folder. */
  readonly complete?: (made: string) => void;
}

/** What was written. */
export interface BundledSize {
  readonly files: number;
  readonly bytes: number;
}

export const measureFolder = (folder: string): BundledSize => {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size, 0);
  return { files: files.length, bytes };
};

/**
 * Makes such a folder, and puts it in place once all of it is written.
 *
 * @throws Error if a module cannot be read or bundled
 */
export const makeBundledFolder = async (folder: string, wanted: BundledFolder): Promise<BundledSize> => {
  const made = `${folder}.new`;
  const ofModules = path.join(made, wanted.modules);
  rmSync(made, { recursive: true, force: true });
  mkdirSync(path.join(ofModules, 'data'), { recursive: true });
  await using bundle = await rolldown({
    cwd: project,
    input: { ...wanted.inputs },
    platform: 'node',
    // An optional faster driver; pg checks whether it is installed.
    external: ['pg-native'],
    plugins: [...wanted.plugins],
  });
  const { output } = await bundle.write({
    dir: ofModules,
    format: 'esm',
    entryFileNames: '[name].mjs',
    // Two modules may have the same name.
    chunkFileNames: '[name]-[hash].mjs',
  });
  const modules = output.flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []));
  writeFileSync(path.join(made, 'LICENSES.txt'), readLicences(modules));
  cpSync(path.join(project, 'LICENSE'), path.join(made, 'LICENSE'));
  for (const name of wanted.data) cpSync(path.join(project, 'data', name), path.join(ofModules, 'data', name));
  wanted.complete?.(made);
  if (existsSync(folder)) rmSync(folder, { recursive: true });
  renameSync(made, folder);
  return measureFolder(folder);
};
