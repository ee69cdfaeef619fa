import type { CatalogDatabase } from './database.ts';
import { endRecordId, firstRecordId } from './schema.ts';

/** Where the rows of a repository are: its number, the id of its first record, and the id after its last one. */
export const findRepository = (database: CatalogDatabase, slug: string) => {
  const row = database.prepare<[number, number]>('SELECT id, ranking FROM repository WHERE slug = ?').get(slug);
  if (row === undefined) return undefined;
  const [id, ranking] = row;
  return { id, ranking, range: [firstRecordId(ranking, id), endRecordId(ranking, id)] as const };
};
