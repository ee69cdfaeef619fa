import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readBuildDigest } from '../catalog/build-digest.ts';
import { isUnreadable, type LastBuild } from '../catalog/last-build.ts';
import { readPublishedDownloads } from '../catalog/published-downloads.ts';
import { writeStale } from '../catalog/stale-repositories.ts';
import type { CatalogBuild } from '../catalog/state-catalog.ts';
import { type CatalogUpdate, indexForSearch } from '../catalog/update.ts';
import { documentPath } from '../contract/paths.ts';
import type { LandingRecord } from '../contract/records.ts';
import { composeDescriptions, composeLanding } from '../documents/descriptions.ts';
import { publishAssets } from '../publication/assets.ts';
import { Emission } from '../publication/emission.ts';
import { listFiles } from '../publication/folder-entries.ts';
import type { FolderNote } from '../publication/folder-note.ts';
import type { OutputFolder } from '../publication/output-folder.ts';
import type { PreparedInput } from './build-input.ts';
import { composeFailures, recallFindings } from './outcomes.ts';

const changesFile = path.join(import.meta.dirname, '..', '..', 'CHANGELOG.md');
const assetsFolder = path.join(import.meta.dirname, '..', 'public');

/** What the documents are made from. */
interface DocumentSources {
  /** Up to date, and not in force yet. */
  readonly catalog: CatalogBuild;
  readonly update: CatalogUpdate;
  readonly statistics: LandingRecord['statistics'];
  readonly lastBuild: LastBuild;
  /** The state of the folder of the packages' documents after the last build. */
  readonly folder: FolderNote;
}

/** Files beside the documents that are the same in every build: how many were written, and the paths of all. */
interface PublishedAssets {
  readonly written: number;
  readonly files: readonly string[];
}

/**
 * The third step: from the catalog to documents, of which the changed ones are written, and files beside them that are
 * the same in every build. Meanwhile the catalog is indexed for search.
 */
export const writeDocuments = async (
  input: PreparedInput,
  { catalog, update, statistics, lastBuild, folder }: DocumentSources,
  output: OutputFolder,
): Promise<{ readonly emission: Emission; readonly assets: PublishedAssets }> => {
  const { base, now, progress, collectExamples } = input;
  const failures = composeFailures(lastBuild);
  const seenSince = recallFindings(lastBuild);
  writeStale(catalog, new Set(lastBuild.repositories.filter(isUnreadable).map(({ slug }) => slug)));
  const landing = composeLanding(input, statistics, readBuildDigest(catalog.database));
  // If the counts cannot be read now, the published ones stay.
  const downloads = (await input.readDownloads?.(now())) ?? readPublishedDownloads(catalog.database);
  // The descriptions contain search results, so they wait for the index.
  let indexed: Promise<void> | undefined;
  const stopping = new AbortController();
  const index = () => (indexed ??= indexForSearch(catalog, update.ingested, downloads, { signal: stopping.signal }));
  const describe = async () => {
    await index();
    const examples = await collectExamples({ database: catalog.database, base, landing, failures, seenSince });
    return composeDescriptions(input, examples, readFileSync(changesFile, 'utf8'));
  };
  const emission = new Emission(catalog, {
    output,
    now: now(),
    touched: update.touched,
    ingested: update.ingested,
    failures,
    seenSince,
    landing,
    downloads,
    descriptions: describe,
    beside: [documentPath.status],
    verify: input.verify === true,
    folder,
    signal: stopping.signal,
    onDocument: (done, total) => progress.update(done, total, 'documents'),
  });
  const assets = await progress.step('documents', async () => {
    // Before the documents, which name them.
    const written = publishAssets(output, assetsFolder);
    const working = [emission.write(), index()];
    try {
      await Promise.all(working);
    } catch (error) {
      // Once this error is thrown, the next build may begin in the same folders, with the same files.
      stopping.abort(error);
      await Promise.allSettled(working);
      throw error;
    }
    return { written, files: [...listFiles(assetsFolder)] };
  });
  return { emission, assets };
};
