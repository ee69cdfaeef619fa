import { type Finding, FindingCounter } from '../contract/findings.ts';
import type { CatalogDatabase, WritableDatabase } from './database.ts';

/** Adds rows for findings of the repository with this number. */
export const addFindings = (database: WritableDatabase, repository: number, findings: readonly Finding[]): void => {
  const add = database.prepareWrite('INSERT INTO finding (repository, code, count, example) VALUES (?, ?, ?, ?)');
  for (const { code, count, example } of findings) add.run(repository, code, count, example);
};

/**
 * Writes the findings of the repository with this number: those about the stanzas of its index, and those of visits.
 */
export const writeFindings = (
  database: WritableDatabase,
  repository: number,
  ofIndex: readonly Finding[],
  ofVisits: readonly Finding[],
): void => {
  const counter = new FindingCounter();
  counter.addAll(ofIndex);
  counter.addAll(ofVisits);
  database.prepareWrite('DELETE FROM finding WHERE repository = ?').run(repository);
  addFindings(database, repository, counter.list());
  database
    .prepareWrite('UPDATE repository SET index_findings = ?, visit_findings = ? WHERE id = ?')
    .run(JSON.stringify(ofIndex), JSON.stringify(ofVisits), repository);
};

/**
 * Replaces the findings of visits to a repository, if they have changed. All other rows stay, because findings of
 * visits change more often than packages do.
 */
export const updateVisitFindings = (
  catalog: { readonly database: CatalogDatabase; writable(): WritableDatabase },
  slug: string,
  found: readonly Finding[],
): void => {
  const [id, ofIndex = '[]', known] =
    catalog.database
      .prepare<[id: number, ofIndex: string, ofVisits: string]>(
        'SELECT id, index_findings, visit_findings FROM repository WHERE slug = ?',
      )
      .get(slug) ?? [];
  if (id === undefined || known === JSON.stringify(found)) return;
  writeFindings(catalog.writable(), id, JSON.parse(ofIndex) as Finding[], found);
};
