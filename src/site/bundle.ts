import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { AstroIntegration } from 'astro';

const root = fileURLToPath(new URL('../../', import.meta.url));
const entry = fileURLToPath(new URL('./pages-entry.ts', import.meta.url));

/** The bundled pages, ready to render. */
export type Pages = typeof import('./pages-entry.ts');

/** The bundle of a version of the source. */
export interface Bundle {
  /** Changes with whatever the pages are made of besides the catalog. */
  readonly key: string;
  readonly pages: Pages;
}

const read = (name: string): string => (existsSync(path.join(root, name)) ? digestOf(path.join(root, name)) : '');
const digestOf = (file: string): string => hash('sha256', readFileSync(file));

// Every source, since a page may import any of it, and the versions of what is not ours.
const computeKey = (base: string): string => {
  const sources = readdirSync(path.join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => path.join(file.parentPath, file.name))
    .sort();
  return hash(
    'sha256',
    JSON.stringify([
      process.version,
      base,
      ...['package.json', 'package-lock.json', 'astro.config.mjs'].map(read),
      ...sources.map((file) => [path.relative(root, file), digestOf(file)]),
    ]),
  );
};

// Astro gives the rendering of pages to an adapter that asks for it, together with a bundle of its own entry.
const keepBundle = (folder: string): AstroIntegration => ({
  name: 'debdex-pages',
  hooks: {
    'astro:config:setup': ({ updateConfig }) => {
      const options = { resolve: { noExternal: true as const }, build: { rolldownOptions: { input: entry } } };
      updateConfig({
        vite: {
          // Its usual place is below node_modules, which may be read-only and is shared with other builds.
          cacheDir: path.join(folder, 'cache', 'vite'),
          plugins: [{ name: 'pages-entry', configEnvironment: (name) => (name === 'prerender' ? options : undefined) }],
        },
      });
    },
    'astro:config:done': ({ setAdapter }) =>
      setAdapter({
        name: 'debdex-pages',
        entrypointResolution: 'auto',
        adapterFeatures: { buildOutput: 'static' },
        supportedAstroFeatures: {
          staticOutput: 'stable',
          hybridOutput: 'stable',
          serverOutput: 'stable',
          sharpImageService: 'stable',
        },
      }),
    'astro:build:start': ({ setPrerenderer }) =>
      setPrerenderer({
        name: 'debdex-pages',
        // Astro removes its bundle at the end, so it is taken before.
        setup: async () => renameSync(path.join(folder, 'client', '.prerender'), path.join(folder, 'server')),
        getStaticPaths: async () => [],
        render: async () => new Response(),
      }),
  },
});

const buildBundle = async (folder: string, base: string): Promise<void> => {
  process.env.ASTRO_TELEMETRY_DISABLED = '1';
  // The bundle goes below the working folder, or else into one that all builds of this project would share.
  process.chdir(path.dirname(folder));
  const { build } = await import('astro');
  await build({
    root,
    outDir: path.join(folder, 'client') + path.sep,
    cacheDir: path.join(folder, 'cache') + path.sep,
    site: base,
    logLevel: 'error',
    integrations: [keepBundle(folder)],
  });
  rmSync(path.join(folder, 'cache'), { recursive: true, force: true });
};

/**
 * Bundles the pages, or takes the bundle that is there where nothing of the source has changed since: Astro takes
 * longer to start and to bundle than the pages of one changed repository take to render.
 *
 * @param folder where the bundle is kept, with what is published beside the pages (scripts, styles, drawings) in its
 * folder `client`; made anew with every version of the source
 * @param base public address without trailing slash
 * @throws Error where a page does not compile
 */
export const loadBundle = async (folder: string, base: string): Promise<Bundle> => {
  const key = computeKey(base);
  const mark = path.join(folder, 'key');
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== key) {
    rmSync(folder, { recursive: true, force: true });
    await buildBundle(folder, base);
    writeFileSync(mark, key);
  }
  const server = path.join(folder, 'server');
  const name = readdirSync(server).find((file) => file.startsWith('prerender-entry.'));
  const pages = (await import(pathToFileURL(path.join(server, name ?? 'prerender-entry.mjs')).href)) as Pages;
  return { key, pages };
};
