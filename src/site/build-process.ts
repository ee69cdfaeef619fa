// The process that builds the site; see build-site.ts, which starts it.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import path from 'node:path';
import {
  type BuildOrder,
  type BuildProgress,
  type BuiltSite,
  type StepProgress,
  stagingFolders,
} from './build-site.ts';
import { loadBundle, prepareBundle } from './bundle.ts';
import { provideSite, site } from './context.ts';
import { drawPictures } from './draw-pictures.ts';
import { openSite } from './open-site.ts';
import { answerOrder } from './own-process.ts';
import { keptRecord, renderPages } from './render.ts';
import { buildSearchIndex } from './search-index.ts';
import { isWorthSecondThread, SecondThread } from './second-thread.ts';

const timed = async <T>(work: () => Promise<T> | T): Promise<readonly [T, number]> => {
  const start = performance.now();
  const result = await work();
  return [result, (performance.now() - start) / 1000];
};

const [, , cache] = process.argv;
if (cache === undefined) throw new Error('site: the process that builds it is given its folder');
const { bundle, pages: staged, pictures, index } = stagingFolders(cache);

// Work that needs no catalog, while the parent process crawls and makes one.
const begin = async () => {
  mkdirSync(path.dirname(bundle), { recursive: true });
  // The search index of earlier versions.
  for (const former of ['pagefind', 'pagefind.kept.json'])
    rmSync(path.join(cache, former), { recursive: true, force: true });
  await prepareBundle(bundle);
};
const bundled = begin();
// An error is reported with the order that needs the bundle.
bundled.catch(() => {});

/** Loads the present bundle. `npm run bundle` may have made another one during the crawl. */
const load = async () => {
  await bundled;
  const ready = await prepareBundle(bundle);
  return { ready, loaded: await loadBundle(ready) };
};

const runBuild = async (options: BuildOrder, onProgress: (progress: BuildProgress) => void): Promise<BuiltSite> => {
  const { verify = false, baseUrl, staticRefs, service } = options;
  const rendersFew = existsSync(keptRecord(staged));
  const second = isWorthSecondThread(options.catalogPath)
    ? new SecondThread({ order: options, index, rendersFew })
    : undefined;
  const [catalog, read] = await timed(() => openSite(options)).catch(async (error: unknown) => {
    await second?.end();
    throw error;
  });
  try {
    const progress = (step: StepProgress['step']) => (done: number, total: number) => onProgress({ step, done, total });
    const searching = timed(
      () => second?.readIndex(progress('search')) ?? buildSearchIndex(catalog, index, progress('search')),
    );
    const render = async () => {
      const { ready, loaded } = await load();
      const { files, rendered } = await renderPages(
        loaded,
        staged,
        { base: baseUrl, staticRefs, service, statedLists: catalog.statedLists },
        progress('pages'),
        {
          verify,
          onListed: (listed) => onProgress({ listed }),
          help: async (work, onRendered) => second?.render({ bundle: ready, folder: staged, work }, onRendered),
        },
      );
      return { client: loaded.client, files, rendered };
    };
    const [[indexFiles, search], [{ rendered, client, files }, pages]] = await Promise.all([
      searching,
      timed(render),
      drawPictures([...site().pictures.values(), ...site().repositoryPictures.values()], pictures, {
        verify,
        onDrawn: progress('pictures'),
      }),
    ]);
    const folders = [
      // Belongs to the bundle, and so also to the checkout.
      { folder: client, prefix: '', replaced: false },
      { folder: staged, files, prefix: '', isOfPages: true, replaced: true },
      { folder: pictures, prefix: '', replaced: true },
      { folder: index, files: indexFiles, prefix: 'search-index', replaced: true },
    ];
    return { rendered, searchable: catalog.packages.size, staged: folders, seconds: { read, search, pages } };
  } finally {
    provideSite(undefined);
    catalog.close();
    await second?.end();
    // The process is killed from outside, before Node would write the cache.
    flushCompileCache();
  }
};

answerOrder(runBuild);
