import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'rolldown';
import { type BundledSize, makeBundledFolder } from './bundled-folder.ts';

const project = path.join(import.meta.dirname, '..', '..');

/** Where `npm run bundle` leaves the server. */
export const serverFolder = path.join(project, 'bundle', 'server');

/** The commands of a machine that serves. Building needs more than files of JavaScript. */
export const bundledCommands = ['serve', 'mirror', 'upload', 'accounts', 'gateway'] as const;

/** Where a bundled command keeps what was compiled of it, beside itself. */
export const compiledFolder = 'compiled';

const isOurs = (file: string): boolean => file.startsWith(project) && !file.includes('node_modules');
const asText = (text: string): string => JSON.stringify(text);

/**
 * A module of ours finds other files from where it stands itself. In the bundle all modules stand in one folder: threads
 * become files of it, and everything else is looked for below it as it lies in the project.
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
        // What a command is called by.
        .replaceAll(/npm run (\$\{[\w.]+\}(?= -- )|[a-z]+)(?: --(?= ))?/g, (all, name: string) =>
          name.startsWith('$') || bundledCommands.some((one) => one === name) ? `node ${name}.mjs` : all,
        )
    );
  },
};

// The modules name what came late to Node, so that an older one could not even read them. What was compiled is kept beside
// them, which is a third of the time in which a server starts; where that folder cannot be written nothing is kept. Node
// writes it at its exit, which a server that is killed never reaches.
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
 * Bundles the server and the commands beside it into a folder, in the place of what was there: a file for each command,
 * modules, and the data that ships. It needs no package and nothing of the checkout. What only some configurations need
 * (PostgreSQL, OpenID, replicas, metrics) stands in files of its own, which are read there alone. Resolves to the number of
 * files and of their bytes.
 *
 * @throws Error where a module cannot be read or bundled
 */
export const bundleServer = (folder: string): Promise<BundledSize> =>
  makeBundledFolder(folder, {
    inputs: Object.fromEntries(bundledCommands.map((name) => [name, path.join(project, 'scripts', `${name}.ts`)])),
    modules: 'modules',
    plugins: [places],
    data: ['safety.yaml', 'service.yaml'],
    complete: (made) => {
      const { engines } = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8'));
      const oldest = Number(/^>=(\d+)$/.exec(engines.node)?.[1]);
      for (const name of bundledCommands) writeFileSync(path.join(made, `${name}.mjs`), entryOf(name, oldest));
    },
  });
