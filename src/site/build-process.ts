// The process that builds the site; see build.ts, which starts it.
import { mkdirSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import path from 'node:path';
import { type BuildOrder, type BuildReport, type BuiltSite, stagingFolders } from './build-site.ts';
import { loadBundle } from './bundle.ts';
import { provideSite, site } from './context.ts';
import { drawPictures } from './draw-pictures.ts';
import { buildSearchIndex } from './pagefind-index.ts';
import { renderPages } from './render.ts';
import { SiteCatalog } from './site-catalog.ts';

const timed = async <T>(work: () => Promise<T> | T): Promise<readonly [T, number]> => {
  const start = performance.now();
  const result = await work();
  return [result, (performance.now() - start) / 1000];
};

const report = (message: BuildReport): void => {
  process.send?.(message);
};

const runBuild = async (options: BuildOrder): Promise<BuiltSite> => {
  const { verify = false, baseUrl, staticRefs = false, policyUpdated, signingKey, service, safety } = options;
  const cache = path.resolve(options.cacheDir);
  const { bundle, pages: staged, pictures, index } = stagingFolders(cache);
  mkdirSync(cache, { recursive: true });
  const [catalog, read] = await timed(
    () => new SiteCatalog(options.catalogPath, options.lastBuild, options.depictions),
  );
  try {
    provideSite(catalog, { base: baseUrl, staticRefs }, { policyUpdated, signingKey, service, safety });
    const progress = (step: 'pages' | 'search') => (done: number, total: number) =>
      report({ kind: 'progress', step, done, total });
    const render = async () => {
      const loaded = await loadBundle(bundle);
      return {
        client: loaded.client,
        rendered: await renderPages(
          loaded,
          staged,
          { base: baseUrl, staticRefs, service, hasDevices: catalog.hasDevices },
          progress('pages'),
          verify,
        ),
      };
    };
    // Pagefind works in a process of its own, beside the rendering.
    const [[searchable, search], [{ rendered, client }, pages]] = await Promise.all([
      timed(() => buildSearchIndex(catalog, index, progress('search'), verify)),
      timed(render),
      drawPictures([...site().pictures.values(), ...site().repositoryPictures.values()], pictures, verify),
    ]);
    const folders = [
      { folder: client, prefix: '' },
      { folder: staged, prefix: '' },
      { folder: pictures, prefix: '' },
      { folder: index, prefix: 'pagefind' },
    ];
    return { rendered, searchable, staged: folders, seconds: { read, search, pages } };
  } finally {
    provideSite(undefined);
    catalog.close();
    // The process is ended from outside, before Node would write it.
    flushCompileCache();
  }
};

process.once('message', async (order: BuildOrder) => {
  try {
    report({ kind: 'done', site: await runBuild(order) });
  } catch (error) {
    report({ kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
// A service manager tells every process to stop; this one ends with the build that needs it.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {});
// Without the process that asked for it, a build has no purpose.
process.once('disconnect', () => process.exit());
