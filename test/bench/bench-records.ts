import { DatabaseSync } from 'node:sqlite';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import type { PackageRecord } from '../../src/contract/records.ts';

/** What a search looks through: the latest records of a catalog. */
export interface SearchedRecord {
  readonly number: number;
  readonly identifier: string;
  /** The name as shown: the identifier if the package has no name. */
  readonly name: string;
  readonly author: string | null;
  readonly maintainer: string | null;
  readonly description: string | null;
}

type Row = readonly [identifier: string, name: string | null, author: string | null, json: string];

/** Calls `each` with every latest record of a catalog, and with its public form. */
export const readRecords = (
  state: string,
  each: (searched: SearchedRecord, record: Omit<PackageRecord, 'repository'>) => void,
): void => {
  const database = new DatabaseSync(catalogPath(state), { readOnly: true });
  const select = database.prepare('SELECT package, name, author, json FROM record WHERE latest = 1 ORDER BY id');
  select.setReturnArrays(true);
  let number = 0;
  for (const row of select.iterate()) {
    const [identifier, name, author, json] = row as unknown as Row;
    const record = JSON.parse(`${json}null}`) as PackageRecord;
    const { description, maintainer } = record;
    each({ number: number++, identifier, name: name ?? identifier, author, maintainer, description }, record);
  }
  database.close();
};

export const listRecords = (state: string): SearchedRecord[] => {
  const records: SearchedRecord[] = [];
  readRecords(state, (searched) => records.push(searched));
  return records;
};
