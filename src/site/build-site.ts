import path from 'node:path';
import type { ShownBuild } from '../catalog/last-build.ts';
import type { SafetyEntry } from '../contract/safety.ts';
import type { SiteService } from './context.ts';
import { type OwnProcess, startProcess } from './own-process.ts';

export interface SiteOptions {
  /** The catalog file; it is opened read-only. */
  readonly catalogPath: string;
  /** How each repository fared in the build that this one belongs to, or in the last one. */
  readonly lastBuild?: ShownBuild;
  /** The folder of the snapshots, beside which native depictions are kept; without it none is shown. */
  readonly depictions?: string | undefined;
  /** Where the last build is kept, so that the next one renders only what changed. */
  readonly cacheDir: string;
  /** Public address without trailing slash. */
  readonly baseUrl: string;
  /** Whether pages name files alone, which any host answers. */
  readonly staticRefs?: boolean | undefined;
  /** Who runs the service; without it the pages bear the name of the software. */
  readonly service?: SiteService;
  /** Day on which the privacy policy last changed, ISO 8601. */
  readonly policyUpdated?: string;
  /** What is called unsafe to add; without it the page of it is empty. */
  readonly safety?: readonly SafetyEntry[] | undefined;
  /** The public key that generations are signed by, where they are, as `Signer` has it. */
  readonly signingKey?: string | undefined;
  /** Whether all packages and repositories have a share picture; without it those have that are shared most. */
  readonly hasAllPictures?: boolean | undefined;
  /** Whether to read all that is kept and published, and make again what is not as it was written. */
  readonly verify?: boolean;
  readonly onProgress?: (step: BuildProgress['step'], done: number, total: number) => void;
}

/** What the building process is told, and how far it says that it is. */
export type BuildOrder = Omit<SiteOptions, 'onProgress'>;
export interface BuildProgress {
  readonly step: 'search' | 'pages' | 'pictures';
  readonly done: number;
  readonly total: number;
}

/** A built folder and where its files go below the output folder ("" is its top). */
interface StagedFolder {
  readonly folder: string;
  /** The paths of all that is in it, where they are known. */
  readonly files?: readonly string[];
  readonly prefix: string;
  /** Whether its files stand where `stagedPage` says. */
  readonly isOfPages?: boolean;
  /** Whether a new file is put in the place of each that changes. */
  readonly replaced: boolean;
}

/** A site as built, below the state folder, and not yet published. */
export interface BuiltSite {
  /** Pages rendered; the others were taken from the build before. */
  readonly rendered: number;
  /** Packages that the search knows. */
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
  index: path.join(cache, 'pagefind'),
});

// Of the renderer, which reads the whole catalog: by itself Node looks for what is not used any more only where the heap
// is more than twice of what is. With half of this room for new objects and 40 percent a site of 63,000 packages takes 5 % longer,
// and 60 of 1,600 MB less.
const memoryFlags = ['--max-semi-space-size=32', '--heap-growing-percent=60'];

// WebAssembly draws share pictures, a hundred of them at a build that has everything to draw. Node compiles what runs often
// a second time, in threads beside, which takes longer than it saves on so few: fifty pictures 2.2 s of a processor, and
// 1.1 where it does so later. Of thousands it comes to it all the same.
const drawingFlags = ['--wasm-tiering-budget=1000000000'];

/** A process that builds a site, once. */
export type SiteProcess = OwnProcess<BuildOrder, BuiltSite, BuildProgress>;

/**
 * Starts the process that builds a site, which loads what it is made with, and bundles the pages where they are not, before
 * there is a catalog. It is for the caller to end.
 *
 * It is one of its own, because the bundle of the pages stays in the memory of a process and would show the next build
 * the data of this one.
 */
export const startSiteProcess = (cacheDir: string): SiteProcess => {
  const cache = path.resolve(cacheDir);
  return startProcess(new URL('./build-process.ts', import.meta.url), {
    args: [cache],
    flags: [...memoryFlags, ...drawingFlags],
    // Signals of a terminal are for the build, which publishes what it has before it ends.
    detached: true,
    env: {
      // What was compiled once is kept: compiling is most of the time in which Astro and the pages start.
      NODE_COMPILE_CACHE: path.join(cache, 'compiled'),
      // For the allocator of Pagefind (jemalloc's TUNING.md): memory that it has freed goes back after a quarter of a
      // second, not ten, which takes a fifth off its peak and costs it a second at 63,000 packages.
      _RJEM_MALLOC_CONF: 'dirty_decay_ms:250,muzzy_decay_ms:0',
      ...process.env,
    },
  });
};

/**
 * Builds the site from the catalog: pages by Astro, search by Pagefind, each into a folder of its own below `cacheDir`,
 * in a process that was started for it, which ends. Publishing is left to the caller, so that it ends with the process
 * that holds the lock of the state folder.
 *
 * @throws Error where a page cannot be rendered or a file cannot be written
 */
export const buildSite = async (
  { onProgress, ...order }: SiteOptions,
  own: SiteProcess = startSiteProcess(order.cacheDir),
): Promise<BuiltSite> => {
  try {
    return await own.tell(order, ({ step, done, total }) => onProgress?.(step, done, total));
  } finally {
    own.end();
  }
};
