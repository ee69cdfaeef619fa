import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { CatalogDatabase } from '../catalog/database.ts';
import { readPortions } from '../catalog/portions.ts';
import { catalogFormat } from '../catalog/schema.ts';
import {
  type Generation,
  generationPath,
  type PortionList,
  portionListSchema,
  portionsFolder,
} from '../contract/generation.ts';
import { readGeneration } from './generation-in-force.ts';
import type { OutputFolder } from './output-folder.ts';

/** A catalog that is published as rows in an output folder. */
export interface PublishedPortions {
  /** As in the generation. */
  readonly list: NonNullable<Generation['portions']>;
  /** The paths of the list and of the portions. */
  readonly files: readonly string[];
  /** Those of the last generation, which may still be read. */
  readonly former: readonly string[];
}

const filesOf = (path: string, { portions }: PortionList): string[] => [
  path,
  ...new Set(portions.filter(({ rows }) => rows > 0).map(({ sha256 }) => generationPath.portion(sha256))),
];

/** The list of a generation; undefined if it has none, or it is gone or damaged. */
const readList = (output: OutputFolder, generation: Generation | undefined): PortionList | undefined => {
  const { path, sha256 } = generation?.portions ?? {};
  if (path === undefined || !existsSync(output.resolve(path))) return undefined;
  const text = readFileSync(output.resolve(path), 'utf8');
  return hash('sha256', text) === sha256 ? portionListSchema.parse(JSON.parse(text)) : undefined;
};

const stands = (output: OutputFolder, file: string, size: number | undefined): boolean =>
  statSync(output.resolve(file), { throwIfNoEntry: false })?.size === size;

/**
 * Writes the catalog with this digest as rows into the output folder. Existing portions are not written again, and the
 * list that names all of them comes last. Throws RowTooLarge.
 */
export const publishPortions = (
  output: OutputFolder,
  { database, sha256 }: { readonly database: CatalogDatabase; readonly sha256: string },
): PublishedPortions => {
  const before = readGeneration(output);
  const known = readList(output, before);
  const sizes = new Map(known?.portions.map((one) => [one.sha256, one.compressed_size]));
  const former = known === undefined ? [] : filesOf(before?.portions?.path ?? '', known);
  if (before?.portions !== undefined && known !== undefined && before.catalog.sha256 === sha256) {
    const areThere = known.portions.every(
      (one) => one.rows === 0 || stands(output, generationPath.portion(one.sha256), one.compressed_size),
    );
    if (areThere) return { list: before.portions, files: former, former };
  }
  const rows: Record<string, number> = {};
  const portions: PortionList['portions'] = [];
  for (const { table, first, rows: count, text } of readPortions(database)) {
    const digest = hash('sha256', text);
    rows[table] = (rows[table] ?? 0) + count;
    if (count === 0) {
      portions.push({ table, first, rows: 0, sha256: digest, size: 0, compressed_size: 0 });
      continue;
    }
    const file = generationPath.portion(digest);
    if (!sizes.has(digest) || !stands(output, file, sizes.get(digest))) {
      const bytes = gzipSync(text);
      sizes.set(digest, bytes.length);
      output.write(file, bytes);
    }
    portions.push({
      ...{ table, first, rows: count, sha256: digest },
      ...{ size: Buffer.byteLength(text), compressed_size: sizes.get(digest) ?? 0 },
    });
  }
  const list: PortionList = { format: 1, catalog_format: catalogFormat, rows, portions };
  const text = JSON.stringify(list);
  const path = generationPath.portions(hash('sha256', text));
  output.write(path, text);
  return { list: { path, sha256: hash('sha256', text) }, files: filesOf(path, list), former };
};

/**
 * Removes the portions that neither the generation in force nor the last one names; all portions if the generation has
 * none.
 */
export const removeOldPortions = (output: OutputFolder, published: PublishedPortions | undefined): void => {
  const folder = output.resolve(portionsFolder);
  if (!existsSync(folder)) return;
  const kept = new Set([...(published?.files ?? []), ...(published?.former ?? [])]);
  for (const name of readdirSync(folder))
    if (!kept.has(`${portionsFolder}/${name}`)) rmSync(output.resolve(`${portionsFolder}/${name}`));
};
