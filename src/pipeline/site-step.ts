import path from 'node:path';
import type { ShownBuild } from '../catalog/last-build.ts';
import { type Published, type PublishOptions, publishFolders } from '../publication/folders.ts';
import { FoldersAhead } from '../publication/folders-ahead.ts';
import { OutputFolder } from '../publication/output-folder.ts';
import {
  type BuiltSite,
  buildSite,
  type SiteOptions,
  type SiteProcess,
  stagingFolders,
  startSiteProcess,
} from '../site/build-site.ts';
import { assertBundle } from '../site/bundle.ts';
import { stagedPage } from '../site/staged-page.ts';
import type { PreparedInput } from './build-input.ts';

/** The result for the pages: what was rendered and published, and the seconds for each part. */
export interface SiteSummary extends Published {
  /** How many pages were rendered. The others come from the last build. */
  readonly rendered: number;
  /** How many packages the search knows. */
  readonly searchable: number;
  readonly seconds: BuiltSite['seconds'] & { readonly publish: number };
}

/** What is called while the pages are published. */
type Moments = Pick<PublishOptions, 'putInForce' | 'whenStanding' | 'beforeRemoval'>;

/** How to build and publish the site. */
export interface SitePublishing extends SiteOptions, Moments {
  /** The output folder, which also contains the documents of the API. */
  readonly outDir: string;
  /** The existing writer of that folder, if there is one. */
  readonly output?: OutputFolder;
  /** The process that is to build it, if one was started already. It ends here. */
  readonly builder?: SiteProcess | undefined;
}

/**
 * Builds the site in folders below the state folder and publishes it from there.
 *
 * @throws Error if a page cannot be rendered or a file cannot be written; the output folder then contains whole files,
 * of this build or of the last one
 */
export const publishSite = async ({
  outDir,
  output,
  putInForce,
  whenStanding,
  beforeRemoval,
  builder,
  ...options
}: SitePublishing): Promise<SiteSummary> => {
  const folder = output ?? new OutputFolder(outDir);
  const ahead = new FoldersAhead(folder);
  const onListed = (files: readonly string[]) => void ahead.begin(files);
  const { staged, seconds, ...counts } = await buildSite({ ...options, onListed }, builder).catch((error: unknown) => {
    ahead.drop();
    throw error;
  });
  const begun = performance.now();
  const named = path.join(path.resolve(options.cacheDir), 'named');
  const verify = options.verify === true;
  const how = { named, ahead, putInForce, whenStanding, beforeRemoval, verify };
  const placed = staged.map(({ isOfPages, ...one }) => (isOfPages ? { ...one, standsAt: stagedPage } : one));
  const published = await publishFolders(folder, placed, how);
  return { ...published, ...counts, seconds: { ...seconds, publish: (performance.now() - begun) / 1000 } };
};

const cacheBelow = (state: string): string => path.resolve(state, 'site');

/**
 * The process that builds the pages. It starts with the build, so that it loads its modules while origins are awaited.
 */
export class PageBuilder {
  #process: SiteProcess | undefined;

  /** @throws NoBundle if there is no bundle of the pages and it cannot be made */
  constructor(state: string) {
    const cache = cacheBelow(state);
    assertBundle(stagingFolders(cache).bundle);
    this.#process = startSiteProcess(cache);
  }

  /**
   * Returns the process once. Undefined after that, for example when a build begins again with another catalog, and if
   * it ended while it waited; then a new process does as well.
   */
  take(): SiteProcess | undefined {
    const taken = this.#process;
    this.#process = undefined;
    return taken?.hasEnded === true ? undefined : taken;
  }

  /** Ends the process if nobody took it. */
  end(): void {
    this.take()?.end();
  }
}

/** How the pages of a build are published. */
interface PageStep extends Required<Moments> {
  readonly builder: PageBuilder;
  readonly output: OutputFolder;
  /** The file of the catalog that they are made from. */
  readonly catalog: string;
  readonly verify: boolean;
}

/** The fourth step: from the catalog, which is up to date and not in force yet, to pages, feeds and search index. */
export const publishPages = (
  { state, out, base, staticRefs, service, unsafe, progress, signer, store }: PreparedInput,
  lastBuild: ShownBuild,
  { builder, output, catalog, ...how }: PageStep,
): Promise<SiteSummary> =>
  progress.step('site', () =>
    publishSite({
      catalogPath: path.resolve(catalog),
      lastBuild,
      ...(service.native_depictions === true ? { depictions: path.resolve(store.depictions.root) } : {}),
      outDir: out,
      output,
      cacheDir: cacheBelow(state),
      builder: builder.take(),
      baseUrl: base,
      staticRefs,
      service: { name: service.name, contact_email: service.contact_email, copyright: service.copyright },
      policyUpdated: service.privacy_updated,
      safety: unsafe,
      signingKey: signer?.publicKey,
      hasAllPictures: service.share_pictures === 'all',
      onProgress: (step, done, total) => progress.update(done, total, step === 'search' ? 'search records' : step),
      ...how,
    }),
  );
