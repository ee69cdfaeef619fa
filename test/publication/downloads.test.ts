import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openDownloadsStore, readDownloadTotals } from '../../functions/node/downloads-store.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { CatalogBuild, catalogPath } from '../../src/catalog/state-catalog.ts';
import { indexForSearch } from '../../src/catalog/update.ts';
import { downloadListSchema } from '../../src/contract/envelope.ts';
import { documentPath } from '../../src/contract/paths.ts';
import type { DownloadTotal } from '../../src/contract/records.ts';
import { TakenCatalog } from '../../src/following/taken-catalog.ts';
import { CatalogSearch } from '../../src/search/catalog-search.ts';
import { buildCatalog, parseRecords, packages as stanzas } from '../support/catalog.ts';
import { emissionOf } from '../support/emission.ts';
import { temporaryFolder } from '../support/folder.ts';

const limits = { days: 400, counters: 1000, perNetwork: 1000, perSite: 1000, perDay: 1000 };

/** A file in which these downloads were counted: by day, each by a client of its own. */
const countedFile = (reports: readonly (readonly [day: string, id: string, times: number])[]): string => {
  const file = path.join(temporaryFolder(), 'downloads.sqlite');
  const store = openDownloadsStore(file, limits);
  for (const [day, package_id, times] of reports) {
    const downloads = [{ package_id, package_version: '1.0' }];
    store.add(
      day,
      Array.from({ length: times }, (_, client) => ({ network: `10.0.${times}.${client}`, downloads })),
    );
  }
  store.close();
  return file;
};

describe('the list of downloads', () => {
  it('C13: tells what was counted by the end of the day before, the most downloaded first, and is the same all day', () => {
    const file = countedFile([
      ['2026-03-01', 'b', 3],
      ['2026-04-10', 'b', 2],
      ['2026-04-30', 'a', 2],
      ['2026-04-30', 'c', 2],
      ['2026-05-01', 'a', 9],
    ]);
    const expected = [
      { package_id: 'b', total: 5, last_30_days: 2 },
      { package_id: 'a', total: 2, last_30_days: 2 },
      { package_id: 'c', total: 2, last_30_days: 2 },
    ];
    expect(readDownloadTotals(file, '2026-05-01', 10)).toEqual(expected);
    expect(readDownloadTotals(file, '2026-05-01', 2)).toEqual(expected.slice(0, 2));
    expect(readDownloadTotals(file, '2026-05-02', 1)).toEqual([{ package_id: 'a', total: 11, last_30_days: 11 }]);
    // The first of thirty days, and the day before it.
    expect(readDownloadTotals(file, '2026-05-10', 10)[1]).toMatchObject({ package_id: 'b', last_30_days: 2 });
    expect(readDownloadTotals(file, '2026-05-11', 10)[1]).toMatchObject({ package_id: 'b', last_30_days: 0 });
    expect(readDownloadTotals(path.join(temporaryFolder(), 'none.sqlite'), '2026-05-01', 10)).toEqual([]);
  });

  it('tells in the totals of what no day tells any more', () => {
    const file = path.join(temporaryFolder(), 'downloads.sqlite');
    const store = openDownloadsStore(file, { ...limits, counters: 1 });
    for (const package_id of ['a', 'b']) {
      store.add('2026-04-30', [{ network: '10.0.0.1', downloads: [{ package_id, package_version: '1.0' }] }]);
    }
    store.close();
    expect(readDownloadTotals(file, '2026-05-01', 10)).toEqual([
      { package_id: 'a', total: 1, last_30_days: 1 },
      { package_id: 'b', total: 1, last_30_days: 0 },
    ]);
  });

  it('can be read while a server counts, and says why where it cannot', () => {
    const file = countedFile([['2026-04-30', 'a', 1]]);
    const store = openDownloadsStore(file, limits);
    store.add('2026-04-30', [{ network: '10.9.9.9', downloads: [{ package_id: 'a', package_version: '1.0' }] }]);
    expect(readDownloadTotals(file, '2026-05-01', 10)).toEqual([{ package_id: 'a', total: 2, last_30_days: 2 }]);
    store.close();
    expect(() => readDownloadTotals(import.meta.filename, '2026-05-01', 10)).toThrow(/database/);
  });
});

const names = ['Alpha', 'Bravo', 'Delta', 'Gamma'];
const repository = {
  slug: 'one',
  packages: stanzas(...names.map((name) => ({ Package: `com.x.${name.toLowerCase()}`, Name: `Snow ${name}` }))),
};
const totals = (counts: Readonly<Record<string, number>>): DownloadTotal[] =>
  Object.entries(counts).map(([name, total]) => ({ package_id: `com.x.${name}`, total, last_30_days: 0 }));

/** Publishes the same catalog with these downloads; returns the text of their document. */
const publishWith = async (state: string, out: string, downloads: readonly DownloadTotal[]): Promise<string> => {
  const catalog = new CatalogBuild(state);
  await indexForSearch(catalog, [], downloads);
  const update = { touched: new Set<string>(), ingested: [], removed: [], rebuilt: [], lost: [], damaged: [] };
  const emission = emissionOf({ catalog, update }, out, { now: new Date('2026-05-02T00:00:00Z'), downloads });
  await emission.write();
  if (catalog.changed) await catalog.publish();
  else catalog.discard();
  return readFileSync(path.join(out, documentPath.downloads), 'utf8');
};

const search = async (state: string, text: string): Promise<string[]> => {
  const database = CatalogFile.openReadOnly(catalogPath(state));
  try {
    const { records } = await new CatalogSearch(database).searchPackages(text, 10, 1);
    return parseRecords(records).map(({ name }) => name?.replace('Snow ', '') ?? '');
  } finally {
    database.close();
  }
};

const readDocuments = (state: string): number => {
  const database = new DatabaseSync(catalogPath(state), { readOnly: true });
  const { documents } = database.prepare('SELECT count(*) AS documents FROM search').get() as { documents: number };
  database.close();
  return documents;
};

describe('what was counted', () => {
  it('P2: is a document of the catalog, so that a replica has it, and decides between what is alike otherwise', async () => {
    const [state, out] = [temporaryFolder(), temporaryFolder()];
    await buildCatalog(state, [repository]);
    expect(await search(state, 'snow')).toEqual(names);
    const text = await publishWith(state, out, totals({ gamma: 900, delta: 30, alpha: 31 }));
    expect(downloadListSchema.parse(JSON.parse(text)).data).toHaveLength(3);
    const database = CatalogFile.openReadOnly(catalogPath(state));
    expect(new TakenCatalog(database).read(documentPath.downloads)?.toString()).toBe(text);
    database.close();
    // About as many are as many: 30 is of the level below 31.
    expect(await search(state, 'snow')).toEqual(['Gamma', 'Alpha', 'Delta', 'Bravo']);
    await publishWith(state, out, totals({ bravo: 5000, gamma: 901, delta: 33, alpha: 32 }));
    expect(await search(state, 'snow')).toEqual(['Bravo', 'Gamma', 'Alpha', 'Delta']);
    expect(await search(state, 'delta')).toEqual(['Delta']);
    await publishWith(state, out, []);
    expect(await search(state, 'snow')).toEqual(names);
    expect(readDocuments(state)).toBe(names.length);
  });

  it('C13: changes nothing where nothing was counted since', async () => {
    const [state, out] = [temporaryFolder(), temporaryFolder()];
    await buildCatalog(state, [repository]);
    await publishWith(state, out, totals({ gamma: 900 }));
    const before = readFileSync(catalogPath(state));
    await publishWith(state, out, totals({ gamma: 900 }));
    expect(readFileSync(catalogPath(state)).equals(before)).toBe(true);
  });
});
