import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'rolldown';
import { type BundledSize, makeBundledFolder } from './bundled-folder.ts';
import { lazySchemas } from './lazy-schemas.ts';

const project = path.join(import.meta.dirname, '..', '..');

/** Where `npm run bundle` writes the server. */
export const serverFolder = path.join(project, 'bundle', 'server');

/** The commands of a machine that only serves. Building needs more than JavaScript files. */
export const bundledCommands = ['serve', 'mirror', 'upload', 'accounts', 'gateway'] as const;

/** Where a bundled command keeps its compiled code, beside itself. */
export const compiledFolder = 'compiled';

const isOurs = (file: string): boolean => file.startsWith(project) && !file.includes('node_modules');
const asText = (text: string): string => JSON.stringify(text);

/**
 * Our modules find other files relative to themselves. In the bundle all modules are in one folder, so threads become
 * files of that folder, and everything else is looked up below it, as in the project.
 */
export const places: Plugin = {
  name: 'places of files',
  transform(code, id) {
    if (!isOurs(id)) return undefined;
    const folder = path.relative(project, path.dirname(id));
    const threads = code.replaceAll(/new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)/g, (_, name: string) => {
      this.emitFile({ type: 'chunk', id: path.join(path.dirname(id), `${name}.ts`), fileName: `${name}.mjs` });
      return `new URL('./${name}.mjs', import.meta.url)`;
    });
    return (
      threads
        .replaceAll(/new URL\('(?:\.\.\/)+(data\/[\w.-]+)', import\.meta\.url\)/g, "new URL('./$1', import.meta.url)")
        .replaceAll('import.meta.dirname', `(import.meta.dirname + ${asText(`/${folder}`)})`)
        // How a command is called.
        .replaceAll(/npm run (\$\{[\w.]+\}(?= -- )|[a-z]+)(?: --(?= ))?/g, (all, name: string) =>
          name.startsWith('$') || bundledCommands.some((one) => one === name) ? `node ${name}.mjs` : all,
        )
    );
  },
};

// The entry of a command. The modules use features that an older Node cannot even parse, so the entry checks the
// release first. Compiled code is kept beside the modules, which saves a third of a server's start; if that folder
// cannot be written, nothing is kept. Node writes it when it exits, which a killed server never does.
const entryOf = (name: string, oldest: number): string =>
  [
    "import module from 'node:module';",
    "import process from 'node:process';",
    "import { fileURLToPath } from 'node:url';",
    `if (Number.parseInt(process.versions.node, 10) < ${oldest}) {`,
    `  process.stderr.write('Debdex needs Node.js ${oldest} or newer, and this is ' + process.versions.node + ': https://nodejs.org\\n');`,
    '  process.exit(1);',
    '}',
    `module.enableCompileCache(fileURLToPath(new URL('${compiledFolder}', import.meta.url)));`,
    'setTimeout(module.flushCompileCache, 2000).unref();',
    `await import('./modules/${name}.mjs');`,
    '',
  ].join('\n');

/**
 * Bundles the server and its commands into a folder, replacing what was there: a file for each command, modules, and
 * the data that ships with them. It needs no package and nothing of the checkout. What only some configurations need
 * (PostgreSQL, OpenID, replicas, metrics) is in separate files that only those load. Resolves to the number of files
 * and of their bytes.
 *
 * @throws Error if a module cannot be read or bundled
 */
export const bundleServer = (folder: string): Promise<BundledSize> =>
  makeBundledFolder(folder, {
    inputs: Object.fromEntries(bundledCommands.map((name) => [name, path.join(project, 'scripts', `${name}.ts`)])),
    modules: 'modules',
    plugins: [places, lazySchemas],
    data: ['safety.yaml', 'service.yaml'],
    complete: (made) => {
      const { engines } = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8'));
      const oldest = Number(/^>=(\d+)$/.exec(engines.node)?.[1]);
      for (const name of bundledCommands) writeFileSync(path.join(made, `${name}.mjs`), entryOf(name, oldest));
    },
  });
