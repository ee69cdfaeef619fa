import path from 'node:path';
import { places } from './bundle-server.ts';
import { type BundledSize, makeBundledFolder } from './bundled-folder.ts';
import { lazySchemas } from './lazy-schemas.ts';

const project = path.join(import.meta.dirname, '..', '..');

/** Where `npm run bundle -- fetch` writes the function. */
export const fetchFolder = path.join(project, 'bundle', 'fetch');

/** The hosts that hand over requests. Each has a module of its own. */
const fetchHosts = ['lambda', 'deno', 'bun'] as const;

/**
 * Bundles the function for AWS Lambda, Deno and Bun into a folder, replacing what was there: a module for each, shared
 * modules, and the safety list. It needs no package. Resolves to the number of files and of their bytes.
 *
 * @throws Error if a module cannot be read or bundled
 */
export const bundleFetch = (folder: string): Promise<BundledSize> =>
  makeBundledFolder(folder, {
    inputs: Object.fromEntries(
      fetchHosts.map((name) => [name, path.join(project, 'functions', 'fetch', `${name}.ts`)]),
    ),
    modules: '.',
    plugins: [places, lazySchemas],
    data: ['safety.yaml'],
  });
