import type { CatalogDatabase, Statement } from './database.ts';
import { type ListKey, listOrder } from './reading.ts';
import { completeRecord, listRecords, type RecordList, type RecordPiece, readyText } from './record-list.ts';

/** The records of a part of a list. */
export interface LocatedPart {
  /** The numbers of the records, in the order of the list. */
  readonly ids: readonly number[];
  /** How many records the whole list has. */
  readonly total: number;
}

const textsAtOnce = 200;

interface Place {
  readonly id: number;
  readonly package: string;
}

/**
 * Reads parts of the lists of repositories without the records before them. The index over repository and package has
 * the order of the list, except among the records of one package, which are ordered by version.
 */
export class ListReading {
  readonly #repository: Statement<[id: number, count: number]>;
  readonly #places: Statement<[id: number, name: string]>;
  readonly #siblings: Statement<[id: number]>;
  readonly #keys: Statement<[id: number, version: string, architecture: string]>;
  readonly #records: Statement<[json: RecordPiece, repository: number]>;
  readonly #texts: Statement<[json: string, repository: number]>;
  readonly #embedded: ReadonlyMap<number, string>;

  constructor(database: CatalogDatabase) {
    this.#repository = database.prepare('SELECT id, package_count FROM repository WHERE slug = ?');
    this.#places = database.prepare(
      'SELECT id, package FROM record INDEXED BY record_list WHERE repository = ? ORDER BY package, id LIMIT ? OFFSET ?',
    );
    this.#siblings = database.prepare(
      'SELECT id FROM record INDEXED BY record_list WHERE repository = ? AND package = ? ORDER BY id',
    );
    // One statement for all of them. CROSS JOIN keeps the given order.
    const records = (columns: string) =>
      `SELECT ${columns} FROM json_each(?) AS wanted CROSS JOIN record ON record.id = wanted.value ORDER BY wanted.key`;
    this.#keys = database.prepare(records('record.id, version, architecture'));
    this.#records = database.prepare(records(`${readyText}, record.repository`));
    this.#texts = database.prepare(records('record.json, record.repository'));
    this.#embedded = new Map(database.prepare<[number, string]>('SELECT id, embedded FROM repository').all());
  }

  /** Finds `count` records from `start` on, counted from 0; undefined if there is no such repository. */
  locate(slug: string, start: number, count: number): LocatedPart | undefined {
    const [repository, total] = this.#repository.get(slug) ?? [];
    if (repository === undefined || total === undefined) return undefined;
    if (start >= total) return { ids: [], total };
    const places = this.#places.all(repository, count, start).map(([id, name]): Place => ({ id, package: name }));
    return { ids: this.#inOrder(repository, places), total };
  }

  /** The records of these numbers, in the order given. */
  records(ids: readonly number[]): RecordList {
    const rows = this.#records.all(JSON.stringify(ids));
    return listRecords(rows, (repository) => this.#embedded.get(repository) ?? 'null');
  }

  /** The same as one text for each record, with only a few in memory at a time. */
  *texts(ids: readonly number[]): Generator<string> {
    for (let start = 0; start < ids.length; start += textsAtOnce) {
      const rows = this.#texts.all(JSON.stringify(ids.slice(start, start + textsAtOnce)));
      for (const [json, repository] of rows) yield completeRecord(json, this.#embedded.get(repository) ?? 'null');
    }
  }

  // The records between two places of the index, in the order of the list. The packages at both ends may have more
  // records outside, which have to be sorted with the others.
  #inOrder(repository: number, places: readonly Place[]): number[] {
    const [first, last] = [places[0], places.at(-1)];
    if (first === undefined || last === undefined) return [];
    const groups = Map.groupBy(places, ({ package: name }) => name);
    const idsOf = new Map([...groups].map(([name, group]) => [name, group.map(({ id }) => id)]));
    for (const { package: name } of [first, last]) {
      idsOf.set(name, this.#siblings.all(repository, name).flat());
    }
    const before = idsOf.get(first.package)?.indexOf(first.id) ?? 0;
    const keys = this.#keysOf([...idsOf.values()].filter((ids) => ids.length > 1).flat());
    const ordered = [...idsOf.values()].flatMap((ids) =>
      ids.length === 1 ? ids : ids.toSorted((a, b) => listOrder(keyIn(keys, a), keyIn(keys, b))),
    );
    return ordered.slice(before, before + places.length);
  }

  #keysOf(ids: readonly number[]): ReadonlyMap<number, ListKey> {
    if (ids.length === 0) return new Map();
    const rows = this.#keys.all(JSON.stringify(ids));
    return new Map(rows.map(([id, version, architecture]) => [id, { version, architecture }]));
  }
}

const keyIn = (keys: ReadonlyMap<number, ListKey>, id: number): ListKey => {
  const key = keys.get(id);
  if (key === undefined) throw new Error(`catalog: its index has a record that is not there (${id})`);
  return key;
};
