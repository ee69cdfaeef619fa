import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CatalogDatabase, SqlValue, Statement } from '../../src/catalog/database.ts';
import { RecentRecords, type RecordRow } from '../../src/catalog/recent-records.ts';
import { SearchReading } from '../../src/catalog/search-reading.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { CatalogSearch } from '../../src/search/catalog-search.ts';
import { buildCatalog, packages } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

const rowOf = (length: number): RecordRow => ['x'.repeat(length), 1];

describe('records that were read lately', () => {
  it('are forgotten once as much was read since, and not while they are asked for', () => {
    const recent = new RecentRecords(1000);
    const first = rowOf(100);
    recent.set(1, first);
    for (let id = 2; id < 30; id++) {
      expect(recent.get(1)).toBe(first);
      recent.set(id, rowOf(100));
    }
    expect(recent.get(29)).toBeDefined();
    expect(recent.get(2)).toBeUndefined();
    for (let id = 30; id < 40; id++) recent.set(id, rowOf(100));
    expect(recent.get(1)).toBeUndefined();
  });

  it('are never more than may be kept, however they come', () => {
    const operation = fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 400 }));
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 200, size: 'max' }), (operations) => {
        const recent = new RecentRecords(1000);
        for (const [id, length] of operations) if (recent.get(id) === undefined) recent.set(id, rowOf(length));
        const kept = Array.from({ length: 41 }, (_, id) => recent.get(id)?.[0].length ?? 0);
        // Half of them young, half old, and one that made either full.
        expect(kept.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(1000 + 2 * 400);
      }),
    );
  });

  it('leave out long records, one of which would take the place of many', () => {
    const recent = new RecentRecords(2 ** 20);
    recent.set(1, rowOf(8192));
    recent.set(2, rowOf(8193));
    expect([recent.get(1), recent.get(2)]).toEqual([rowOf(8192), undefined]);
  });
});

const openCounted = async () => {
  const state = temporaryFolder();
  const many = Array.from({ length: 40 }, (_, index) => ({
    Package: `com.example.p${index}`,
    Name: `Many ${index}`,
    // Some are longer than what is kept.
    Description: 'x'.repeat(index % 7 === 0 ? 9000 : index),
  }));
  await buildCatalog(state, [{ slug: 'one', packages: packages(...many) }]);
  const file = new DatabaseSync(catalogPath(state), { readOnly: true });
  onTestFinished(() => file.close());
  /** How many records each statement that reads records was asked for. */
  const asked: number[] = [];
  const database: CatalogDatabase = {
    prepare: <Row extends readonly SqlValue[]>(sql: string) => {
      const statement = file.prepare(sql);
      statement.setReturnArrays(true);
      const isOfRecords = /octet_length\(record\.json\)[\s\S]*search_document/.test(sql);
      return {
        all: (...values: SqlValue[]) => {
          if (isOfRecords) asked.push((JSON.parse(String(values[0])) as number[]).length);
          return statement.all(...values);
        },
        get: (...values: SqlValue[]) => statement.get(...values),
        iterate: (...values: SqlValue[]) => statement.iterate(...values),
      } as unknown as Statement<Row>;
    },
  };
  return { database, asked };
};

describe('the records of an answer', () => {
  it('are the same, in the same order, whichever of them were read before', async () => {
    const { database } = await openCounted();
    const reading = new SearchReading(database);
    const all = reading.match('many', 100);
    expect(all).toHaveLength(40);
    const some = fc.uniqueArray(fc.constantFrom(...all), { maxLength: 30, size: 'max' });
    fc.assert(
      fc.property(some, fc.boolean(), (ids, isBeginning) => {
        expect(reading.records(ids, isBeginning)).toEqual(new SearchReading(database).records(ids));
      }),
    );
    expect(() => reading.records([1e9, all[0] ?? 0], true)).not.toThrow();
    expect(reading.records([1e9, all[0] ?? 0], true)).toEqual(reading.records([all[0] ?? 0]));
  });

  it('are read once where an answer begins with them, and each time where they come later', async () => {
    const { database, asked } = await openCounted();
    const search = new CatalogSearch(database);
    const countRead = async (limit: number, page = 1) => {
      asked.length = 0;
      await search.searchPackages('many', limit, page, {});
      return asked.reduce((sum, count) => sum + count, 0);
    };
    expect(await countRead(10)).toBe(10);
    const long = await countRead(10);
    expect(long).toBeGreaterThan(0);
    expect(long).toBeLessThan(4);
    expect(await countRead(16)).toBe(6 + long);
    const longOfSixteen = await countRead(16);
    expect(longOfSixteen).toBeLessThan(5);
    expect(await countRead(40)).toBe(24 + longOfSixteen);
    expect(await countRead(40)).toBe(24 + longOfSixteen);
    expect(await countRead(10, 2)).toBe(10);
    expect(await countRead(10, 2)).toBe(10);
  });

  it('are kept for narrowed questions too', async () => {
    const { database, asked } = await openCounted();
    const search = new CatalogSearch(database);
    await search.searchPackages('many', 10, 1, {});
    asked.length = 0;
    await search.searchPackages('many', 10, 1, { section: 'Tweaks' });
    await search.searchPackages('many', 10, 1, { architecture: 'iphoneos-arm' });
    expect(asked.reduce((sum, count) => sum + count, 0)).toBeLessThan(8);
  });
});
