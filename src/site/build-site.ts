import path from 'node:path';
import type { ShownBuild } from '../catalog/last-build.ts';
import type { SafetyEntry } from '../contract/safety.ts';
import type { SiteService } from './context.ts';
import { type OwnProcess, startProcess } from './own-process.ts';

export interface SiteOptions {
  /** The catalog file; it is opened read-only. */
  readonly catalogPath: string;
  /** The outcomes of repositories in the build that this one belongs to, or in the last one. */
  readonly lastBuild?: ShownBuild;
  /** The folder of the snapshots, beside which native depictions are kept. Without it none is shown. */
  readonly depictions?: string | undefined;
  /** Where the last build is kept, so that the next one renders only what changed. */
  readonly cacheDir: string;
  /** Public address without trailing slash. */
  readonly baseUrl: string;
  /** Whether pages name only files, which any host can answer. */
  readonly staticRefs?: boolean | undefined;
  /** The description of the service. Without it the pages have the name of the software. */
  readonly service?: SiteService;
  /** Day on which the privacy policy last changed, ISO 8601. */
  readonly policyUpdated?: string;
  /** The safety list. Without it, its page is empty. */
  readonly safety?: readonly SafetyEntry[] | undefined;
  /** The public key of the signer of generations, if there is one, in the form that `Signer` has. */
  readonly signingKey?: string | undefined;
  /**
   * Whether all packages and repositories have a share picture. By default only those that are shared most have one.
   */
  readonly hasAllPictures?: boolean | undefined;
  /** Whether to read everything that is kept and published, and to make again what is not as it was written. */
  readonly verify?: boolean;
  readonly onProgress?: (step: StepProgress['step'], done: number, total: number) => void;
  /** Called with the paths of the files that are about to be rendered. */
  readonly onListed?: (files: readonly string[]) => void;
}

/** The order to the building process, and its progress reports. */
export type BuildOrder = Omit<SiteOptions, 'onProgress' | 'onListed'>;
export interface StepProgress {
  readonly step: 'search' | 'pages' | 'pictures';
  readonly done: number;
  readonly total: number;
}
export type BuildProgress = StepProgress | { readonly listed: readonly string[] };

/** A built folder, and where its files go below the output folder ("" is its top). */
interface StagedFolder {
  readonly folder: string;
  /** The paths of all files in it, if they are known. */
  readonly files?: readonly string[];
  readonly prefix: string;
  /** Whether its files are where `stagedPage` says. */
  readonly isOfPages?: boolean;
  /** Whether changed files are replaced rather than modified. */
  readonly replaced: boolean;
}

/** A site that is built below the state folder and not published yet. */
export interface BuiltSite {
  /** How many pages were rendered. The others come from the last build. */
  readonly rendered: number;
  /** How many packages the search knows. */
  readonly searchable: number;
  readonly staged: readonly StagedFolder[];
  readonly seconds: { readonly read: number; readonly search: number; readonly pages: number };
}

/** Where the parts of a site are built, in the folder of the last build. */
export const stagingFolders = (
  cache: string,
): { readonly bundle: string; readonly pages: string; readonly pictures: string; readonly index: string } => ({
  bundle: path.join(cache, 'bundle'),
  pages: path.join(cache, 'pages'),
  pictures: path.join(cache, 'pictures'),
  index: path.join(cache, 'search-index'),
});

// For the renderer, which reads the whole catalog: by default Node collects garbage only when the heap is more than
// twice what is in use. With half of this room for new objects and 40 percent, a site of 63,000 packages takes 5 %
// longer, and 60 of 1,600 MB less.
const memoryFlags = ['--max-semi-space-size=32', '--heap-growing-percent=60'];

// WebAssembly draws share pictures: a hundred in a build that has to draw all of them. Node compiles hot code a second
// time in other threads, which takes longer than it saves for so few: fifty pictures take 2.2 s of processor time, and
// 1.1 s if that is put off. For thousands it still happens.
const drawingFlags = ['--wasm-tiering-budget=1000000000'];

/** A process that builds one site. */
export type SiteProcess = OwnProcess<BuildOrder, BuiltSite, BuildProgress>;

/**
 * Starts the process that builds a site. It loads its modules, and bundles the pages if necessary, before there is a
 * catalog. The caller has to end it.
 *
 * A separate process is necessary because the bundle of the pages stays in the memory of a process, and would show the
 * next build the data of this one.
 */
export const startSiteProcess = (cacheDir: string): SiteProcess => {
  const cache = path.resolve(cacheDir);
  return startProcess(new URL('./build-process.ts', import.meta.url), {
    args: [cache],
    flags: [...memoryFlags, ...drawingFlags],
    // A terminal's signals are meant for the build, which publishes what it has before it ends.
    detached: true,
    env: {
      // Compiled code is kept, because compiling is most of the time in which Astro and the pages start.
      NODE_COMPILE_CACHE: path.join(cache, 'compiled'),
      ...process.env,
    },
  });
};

/**
 * Builds the site from the catalog (pages with Astro, the search index), each part into a folder below `cacheDir`,
 * in a separate process, which ends. Publishing is left to the caller, because it has to end with the process that
 * holds the lock of the state folder.
 *
 * @throws Error if a page cannot be rendered or a file cannot be written
 */
export const buildSite = async (
  { onProgress, onListed, ...order }: SiteOptions,
  own: SiteProcess = startSiteProcess(order.cacheDir),
): Promise<BuiltSite> => {
  try {
    return await own.tell(order, (progress) => {
      if ('listed' in progress) onListed?.(progress.listed);
      else onProgress?.(progress.step, progress.done, progress.total);
    });
  } finally {
    own.end();
  }
};
