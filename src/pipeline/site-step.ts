import path from 'node:path';
import type { ShownBuild } from '../catalog/last-build.ts';
import { type Published, type PublishOptions, publishFolders } from '../publication/folders.ts';
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

/** What became of the pages: what was made of them, which files were published, and seconds for each part. */
export interface SiteSummary extends Published {
  /** Pages rendered; the others were taken from the build before. */
  readonly rendered: number;
  /** Packages that the search knows. */
  readonly searchable: number;
  readonly seconds: BuiltSite['seconds'] & { readonly publish: number };
}

/** How to build and publish the site. */
export interface SitePublishing extends SiteOptions {
  /** The output folder, shared with the documents of the API. */
  readonly outDir: string;
  /** The one that writes there, if there is one already. */
  readonly output?: OutputFolder;
  /** As `publishFolders` has them. */
  readonly putInForce?: PublishOptions['putInForce'];
  readonly whenStanding?: PublishOptions['whenStanding'];
  readonly beforeRemoval?: PublishOptions['beforeRemoval'];
  /** The process that is to build it, if one was started already; it ends here. */
  readonly builder?: SiteProcess | undefined;
}

/**
 * Has the site built in folders below the state and published from there.
 *
 * @throws Error where a page cannot be rendered or a file cannot be written; the output folder then holds whole files,
 * of this build or of the one before
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
  const { staged, seconds, ...counts } = await buildSite(options, builder);
  const begun = performance.now();
  const named = path.join(path.resolve(options.cacheDir), 'named');
  const verify = options.verify === true;
  const how = { named, putInForce, whenStanding, beforeRemoval, verify };
  const placed = staged.map(({ isOfPages, ...one }) => (isOfPages ? { ...one, standsAt: stagedPage } : one));
  const published = await publishFolders(output ?? new OutputFolder(outDir), placed, how);
  return { ...published, ...counts, seconds: { ...seconds, publish: (performance.now() - begun) / 1000 } };
};

const cacheBelow = (state: string): string => path.resolve(state, 'site');

/** The process that builds the pages of a build, started with it: what it loads it loads while origins are waited for. */
export class PageBuilder {
  #process: SiteProcess | undefined;

  /** @throws NoBundle where there is no bundle of the pages, and it cannot be made */
  constructor(state: string) {
    const cache = cacheBelow(state);
    assertBundle(stagingFolders(cache).bundle);
    this.#process = startSiteProcess(cache);
  }

  /**
   * Hands it over, once; undefined where it was, as where a build begins again with another catalog, and where it has
   * ended while it waited: then another one does as well.
   */
  take(): SiteProcess | undefined {
    const taken = this.#process;
    this.#process = undefined;
    return taken?.hasEnded === true ? undefined : taken;
  }

  /** Ends it where nobody took it. */
  end(): void {
    this.take()?.end();
  }
}

/** How the pages of a build are published. */
interface PageStep {
  readonly builder: PageBuilder;
  readonly output: OutputFolder;
  /** The file of the catalog that they are made of. */
  readonly catalog: string;
  readonly verify: boolean;
  readonly putInForce: PublishOptions['putInForce'];
  readonly whenStanding: PublishOptions['whenStanding'];
  readonly beforeRemoval: PublishOptions['beforeRemoval'];
}

/** The fourth step: the catalog, which is up to date and not in force yet, to pages, feeds and search index. */
export const publishPages = (
  { state, out, base, staticRefs, service, unsafe, progress, signer, store }: PreparedInput,
  lastBuild: ShownBuild,
  { builder, output, catalog, verify, putInForce, whenStanding, beforeRemoval }: PageStep,
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
      verify,
      service: { name: service.name, contact_email: service.contact_email, copyright: service.copyright },
      policyUpdated: service.privacy_updated,
      safety: unsafe,
      signingKey: signer?.publicKey,
      hasAllPictures: service.share_pictures === 'all',
      onProgress: (step, done, total) => progress.update(done, total, step === 'search' ? 'search records' : step),
      putInForce,
      whenStanding,
      beforeRemoval,
    }),
  );
