import { fork } from 'node:child_process';
import type { LastBuild } from '../catalog/outcomes.ts';
import type { Published } from './publish.ts';

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

/** What the building process is told, and what it says. */
export type BuildOrder = Omit<SiteOptions, 'onProgress'>;
export type BuildReport =
  | { readonly kind: 'progress'; readonly step: 'search' | 'pages'; readonly done: number; readonly total: number }
  | { readonly kind: 'done'; readonly summary: SiteSummary }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Builds the site from the catalog and publishes it: pages by Astro, search by Pagefind, each into a folder of its own,
 * and from there what changed into the output folder. It runs in a process of its own, because Astro's bundle of the
 * pages stays in the memory of a process and would show the next build the data of this one.
 *
 * @throws Error where a page cannot be rendered or a file cannot be written; the output folder then holds whole files,
 * of this build or of the one before
 */
export const buildSite = async ({ onProgress = () => {}, ...order }: SiteOptions): Promise<SiteSummary> => {
  const child = fork(new URL('./build-process.ts', import.meta.url), { execArgv: [], serialization: 'advanced' });
  try {
    return await new Promise<SiteSummary>((resolve, reject) => {
      child.on('message', (report: BuildReport) => {
        if (report.kind === 'progress') onProgress(report.step, report.done, report.total);
        else if (report.kind === 'done') resolve(report.summary);
        else reject(new Error(`site: ${report.message}`));
      });
      child.on('error', reject);
      child.on('exit', (code, signal) => reject(new Error(`site: the build ended with ${signal ?? code}`)));
      child.send(order satisfies BuildOrder);
    });
  } finally {
    child.kill();
  }
};
