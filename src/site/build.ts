import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'astro';
import type { LastBuild } from '../catalog/outcomes.ts';
import { SiteCatalog } from './catalog.ts';
import { provideSite } from './context.ts';
import { type Published, publishFolders } from './publish.ts';
import { buildSearchIndex } from './search-index.ts';

export interface SiteOptions {
  /** The catalog file; it is opened read-only. */
  readonly catalogPath: string;
  /** How each repository fared in the build that this one belongs to, or in the last one. */
  readonly lastBuild?: LastBuild;
  /** The output folder, shared with the documents of the API. */
  readonly outDir: string;
  /** Where the last build is kept, so that the next one renders only what changed. */
  readonly cacheDir: string;
  /** Public address without trailing slash. */
  readonly baseUrl: string;
  readonly onProgress?: (step: 'search' | 'pages', done: number, total: number) => void;
}

/** What a build of the site did; files, and seconds per step. */
export interface SiteSummary extends Published {
  /** Pages rendered; the others were taken from the build before. */
  readonly rendered: number;
  /** Packages that the search knows. */
  readonly searchable: number;
  readonly seconds: {
    readonly read: number;
    readonly search: number;
    readonly pages: number;
    readonly publish: number;
  };
}

const root = fileURLToPath(new URL('../../', import.meta.url));

const folderUrl = (folder: string): string => (folder.endsWith(path.sep) ? folder : folder + path.sep);

const timed = async <T>(work: () => Promise<T> | T): Promise<readonly [T, number]> => {
  const start = performance.now();
  const result = await work();
  return [result, (performance.now() - start) / 1000];
};

/** Renders the pages; returns which of the files in the folder this build owns. */
const renderPages = async (staged: string, cache: string, baseUrl: string): Promise<(name: string) => boolean> => {
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
            for (const files of assets.values()) for (const file of files) owned.add(fileURLToPath(file));
          },
        },
      },
    ],
  });
  return (name) =>
    owned.has(path.join(staged, name)) || name.startsWith('assets/') || existsSync(path.join(root, 'src/public', name));
};

/**
 * Builds the site from the catalog and publishes it: pages by Astro, search by Pagefind, each into a folder of its own,
 * and from there what changed into the output folder. One build at a time per process.
 *
 * @throws Error where a page cannot be rendered or a file cannot be written; the output folder then holds whole files,
 * of this build or of the one before
 */
export const buildSite = async (options: SiteOptions): Promise<SiteSummary> => {
  const { baseUrl, onProgress = () => {} } = options;
  const cache = path.resolve(options.cacheDir);
  const staged = path.join(cache, 'pages');
  const index = path.join(cache, 'pagefind');
  mkdirSync(cache, { recursive: true });
  const [catalog, read] = await timed(() => new SiteCatalog(options.catalogPath, options.lastBuild));
  try {
    let rendered = 0;
    provideSite(catalog, baseUrl, () => {
      rendered++;
      onProgress('pages', rendered, catalog.packages.size + catalog.repositories.length);
    });
    // Pagefind works in a process of its own, beside Astro.
    const [[wanted, pages], [searchable, search]] = await Promise.all([
      timed(() => renderPages(staged, path.join(cache, 'astro'), baseUrl)),
      timed(() => buildSearchIndex(catalog, index, (done, total) => onProgress('search', done, total))),
    ]);
    const [published, publish] = await timed(() =>
      publishFolders(path.resolve(options.outDir), [
        { folder: staged, prefix: '', wanted },
        { folder: index, prefix: 'pagefind' },
      ]),
    );
    return { ...published, rendered, searchable, seconds: { read, search, pages, publish } };
  } finally {
    provideSite(undefined);
    catalog.close();
  }
};
