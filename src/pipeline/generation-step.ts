import { CatalogFile } from '../catalog/node-sqlite.ts';
import { RowTooLarge } from '../catalog/portions.ts';
import { readCatalogDigest } from '../catalog/soundness.ts';
import { catalogPath } from '../catalog/state-catalog.ts';
import { type Generation, tellsOfGenerations } from '../contract/generation.ts';
import { apiRoot } from '../contract/paths.ts';
import { writeCopies } from '../publication/compressed-copies.ts';
import { publishGeneration, type StandingFiles } from '../publication/generation.ts';
import { readLastNumber } from '../publication/generation-in-force.ts';
import type { OutputFolder } from '../publication/output-folder.ts';
import { readPendingChanges } from '../publication/package-changes.ts';
import { type PublishedPortions, publishPortions, removeOldPortions } from '../publication/portions.ts';
import type { PreparedInput } from './build-input.ts';

/** The published files, for which a generation is written. */
interface PublishedFiles {
  /** Paths of documents and of the files beside them. */
  readonly documents: Iterable<string>;
  /** Further documents, which are unchanged since the last generation. */
  readonly standing: StandingFiles | undefined;
  /** Paths of the files of the site; undefined if it was left out. */
  readonly pages: ReadonlySet<string> | undefined;
  /**
   * Whether an earlier build was interrupted while it published, so that any file may differ from the last generation.
   */
  readonly resumes: boolean;
}

/** The generation in force after a build. */
export interface PublishedGeneration {
  readonly generation: Generation;
  readonly isNew: boolean;
  /** Why its catalog is not published as rows, although that was requested. */
  readonly portionsLeftOut?: string | undefined;
}

const compress = async (
  { progress, precompress, verify }: PreparedInput,
  output: OutputFolder,
  { documents, pages, resumes }: PublishedFiles,
): Promise<void> => {
  if (precompress !== true) return;
  await progress.step('copies', () =>
    writeCopies({
      output,
      paths: [...documents, ...(pages ?? [])],
      isTouched: (file) => resumes || output.hasPlaced(file),
      verify: verify === true,
      onCopy: (done, total) => progress.update(done, total, 'compressed copies'),
    }),
  );
};

// If a row is too large for every edge host, the operator is told, and everything else is published.
const writePortions = async (
  { state, progress, portions }: PreparedInput,
  output: OutputFolder,
  sha256: string,
): Promise<PublishedPortions | string | undefined> => {
  if (portions !== true) return undefined;
  return progress.step('portions', async () => {
    using database = CatalogFile.openReadOnly(catalogPath(state));
    try {
      return publishPortions(output, { database, sha256 });
    } catch (error) {
      if (!(error instanceof RowTooLarge)) throw error;
      return error.message;
    }
  });
};

/**
 * The fifth step: makes the compressed copies, and a generation of all existing files, if it differs from the one in
 * force. Files that are gone still exist, for readers of the last one.
 */
export const tellOfGeneration = async (
  input: PreparedInput,
  output: OutputFolder,
  published: PublishedFiles,
): Promise<PublishedGeneration> => {
  const { entries, state, now, progress, signer } = input;
  const { documents, standing, pages, resumes } = published;
  await compress(input, output, published);
  const digest = await readCatalogDigest(state);
  const written = await writePortions(input, output, digest.sha256);
  const [portions, portionsLeftOut] = typeof written === 'string' ? [undefined, written] : [written];
  return progress.step('generation', async () => {
    const { generation, isNew } = await publishGeneration({
      output,
      state,
      now: now(),
      catalog: { file: catalogPath(state), ...digest },
      paths: [...documents, ...(pages ?? []), ...(portions?.files ?? [])],
      standing,
      portions: portions?.list,
      // Pages that were not built this time still exist unchanged.
      isCarried: (file) => pages === undefined && !file.startsWith(`${apiRoot}/`) && !tellsOfGenerations(file),
      isTouched: resumes ? undefined : (file) => output.hasPlaced(file),
      packages: readPendingChanges(state, { last: readLastNumber(output, state), repositories: entries }),
      signer,
    });
    if (isNew) removeOldPortions(output, portions);
    return { generation, isNew, portionsLeftOut };
  });
};
