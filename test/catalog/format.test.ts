import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { catalogFormat } from '../../src/catalog/schema.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { buildCatalog } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';
import { generatedRepositories } from '../support/generated.ts';

// How the full-text index keeps its words is SQLite's own; its documents are made of the records.
const isOurs = (name: string): boolean => !/_(?:data|idx|content|docsize|config)$/.test(name);

/** All that stands in the catalog of a state folder, but for the digests that hold its format themselves. */
const readCatalog = (state: string): string => {
  const database = new DatabaseSync(catalogPath(state), { readOnly: true });
  try {
    const tables = database.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name").all();
    const ours = tables.filter(({ name }) => isOurs(String(name)));
    return JSON.stringify(
      ours.map(({ name, sql }) => {
        const rows = database.prepare(`SELECT * FROM "${name}" ORDER BY 1, 2`).all();
        const columns = String(sql).replace(/--.*$/gm, '').replace(/\s+/g, ' ');
        return [name, columns, rows.map(({ source: _, ...row }) => row)];
      }),
    );
  } finally {
    database.close();
  }
};

// Where this fails, what is computed into the catalog has changed: a field of a record, a table, an order. Raise
// `catalogFormat` in src/catalog/schema.ts, or the catalogs that exist keep what was computed before for every repository
// that does not change; then write the new format and digest here.
it('C13: what is computed into the catalog is that of its format', async () => {
  const state = temporaryFolder();
  await buildCatalog(state, generatedRepositories());
  const digest = hash('sha256', readCatalog(state)).slice(0, 16);
  expect({ catalogFormat, digest }).toEqual({ catalogFormat: 18, digest: '09ca5bec6f1ad6b3' });
});
