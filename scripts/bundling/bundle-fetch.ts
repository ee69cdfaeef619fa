import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { places } from './bundle-server.ts';
import { readLicences } from './licences.ts';

const project = path.join(import.meta.dirname, '..', '..');

/** Where `npm run bundle -- fetch` leaves the function. */
export const fetchFolder = path.join(project, 'bundle', 'fetch');

/** The hosts that hand over requests, each with a module of its own. */
const fetchHosts = ['lambda', 'deno', 'bun'] as const;

/**
 * Bundles the function for AWS Lambda, Deno and Bun into a folder, in the place of what was there: a module for each, what
 * they share, and the safety list. It needs no package. Resolves to the number of files and of their bytes.
 *
 * @throws Error where a module cannot be read or bundled
 */
export const bundleFetch = async (folder: string): Promise<{ files: number; bytes: number }> => {
  const made = `${folder}.new`;
  rmSync(made, { recursive: true, force: true });
  mkdirSync(path.join(made, 'data'), { recursive: true });
  const bundle = await rolldown({
    cwd: project,
    input: Object.fromEntries(fetchHosts.map((name) => [name, path.join(project, 'functions', 'fetch', `${name}.ts`)])),
    platform: 'node',
    external: ['pg-native'],
    plugins: [places],
  });
  try {
    const { output } = await bundle.write({
      dir: made,
      format: 'esm',
      entryFileNames: '[name].mjs',
      chunkFileNames: '[name]-[hash].mjs',
    });
    const modules = output.flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []));
    writeFileSync(path.join(made, 'LICENSES.txt'), readLicences(modules));
  } finally {
    await bundle.close();
  }
  cpSync(path.join(project, 'LICENSE'), path.join(made, 'LICENSE'));
  cpSync(path.join(project, 'data', 'safety.yaml'), path.join(made, 'data', 'safety.yaml'));
  if (existsSync(folder)) rmSync(folder, { recursive: true });
  renameSync(made, folder);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size, 0);
  return { files: files.length, bytes };
};
