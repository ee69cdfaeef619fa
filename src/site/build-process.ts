// The process that builds the site; see build.ts, which starts it.
import { rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'astro';
import { type BuildOrder, type BuildReport, type BuiltSite, stagingFolders } from './build.ts';
import { SiteCatalog } from './catalog.ts';
import { provideSite } from './context.ts';
import { buildSearchIndex } from './search-index.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

const folderUrl = (folder: string): string => (folder.endsWith(path.sep) ? folder : folder + path.sep);

/** Has modules below a folder find the packages of this project. */
const linkPackages = (folder: string): void => {
  const link = path.join(folder, 'node_modules');
  rmSync(link, { force: true, recursive: true });
  symlinkSync(path.join(root, 'node_modules'), link, 'junction');
};

const timed = async <T>(work: () => Promise<T> | T): Promise<readonly [T, number]> => {
  const start = performance.now();
  const result = await work();
  return [result, (performance.now() - start) / 1000];
};

/** Renders the pages; returns those of the files in the folder that belong to a route. */
const renderPages = async (staged: string, cache: string, baseUrl: string): Promise<string[]> => {
  // Astro keeps what the build before left; what no route and no public file owns is removed when publishing.
  const owned = new Set<string>();
  rmSync(path.join(staged, 'assets'), { recursive: true, force: true });
  process.env.ASTRO_TELEMETRY_DISABLED = '1';
  await build({
    root,
    outDir: folderUrl(staged),
    cacheDir: folderUrl(cache),
    site: baseUrl,
    logLevel: 'error',
    integrations: [
      {
        name: 'owned-files',
        hooks: {
          'astro:build:done': ({ assets }) => {
            for (const files of assets.values())
              for (const file of files) owned.add(path.relative(staged, fileURLToPath(file)));
          },
        },
      },
    ],
  });
  return [...owned];
};

const report = (message: BuildReport): void => {
  process.send?.(message);
};

const runBuild = async (options: BuildOrder): Promise<BuiltSite> => {
  const { baseUrl } = options;
  const cache = options.cacheDir;
  const { pages: staged, index } = stagingFolders(cache);
  linkPackages(cache);
  const [catalog, read] = await timed(() => new SiteCatalog(options.catalogPath, options.lastBuild));
  try {
    let rendered = 0;
    provideSite(catalog, baseUrl, () => {
      rendered++;
      if (rendered % 100 === 0)
        report({ kind: 'progress', step: 'pages', done: rendered, total: catalog.packages.size });
    });
    // Pagefind works in a process of its own, beside Astro.
    const [[owned, pages], [searchable, search]] = await Promise.all([
      timed(() => renderPages(staged, path.join(cache, 'astro'), baseUrl)),
      timed(() =>
        buildSearchIndex(catalog, index, (done, total) => report({ kind: 'progress', step: 'search', done, total })),
      ),
    ]);
    return { owned, rendered, searchable, seconds: { read, search, pages } };
  } finally {
    provideSite(undefined);
    catalog.close();
  }
};

process.once('message', async (order: BuildOrder) => {
  try {
    report({ kind: 'done', site: await runBuild(order) });
  } catch (error) {
    report({ kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
// Without the process that asked for it, a build has no purpose.
process.once('disconnect', () => process.exit());
