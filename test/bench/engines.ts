import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { readRecords } from './bench-records.ts';

/** A result of a search, the best first. */
export interface Found {
  readonly identifier: string;
  readonly name: string;
}

/** A search engine over the records of a catalog. */
export interface Engine {
  /** Answers a question; resolves to the number of records. This is measured. */
  answer(question: string, limit: number): Promise<number>;
  /** The first records, to judge their order. */
  find(question: string, limit: number): Promise<Found[]>;
  close(): Promise<void> | void;
}

/** Ours: the catalog's index, in this process. */
export const openOurs = (state: string): Engine => {
  const search = new CatalogFiles(state);
  return {
    answer: async (question, limit) => (await search.searchPackages(question, limit, 1)).records.count,
    find: async (question, limit) => {
      const { pieces } = (await search.searchPackages(question, limit, 1)).records;
      const text = pieces.map((piece) => (typeof piece === 'string' ? piece : Buffer.from(piece).toString())).join('');
      const records = JSON.parse(`[${text}]`) as { package: string; name: string | null }[];
      return records.map(({ package: identifier, name }) => ({ identifier, name: name ?? identifier }));
    },
    close: () => search.close(),
  };
};

/**
 * MiniSearch over names, identifiers, authors and descriptions; names and identifiers count most. It keeps what it
 * needs to name its results, but not the records, which an answer would have to read elsewhere.
 */
export const openMiniSearch = async (state: string): Promise<Engine> => {
  const { default: MiniSearch } = await import('minisearch');
  const index = new MiniSearch({
    idField: 'number',
    fields: ['name', 'identifier', 'author', 'description'],
    storeFields: ['identifier', 'name'],
    searchOptions: { prefix: true, fuzzy: 0.2, boost: { name: 4, identifier: 3 } },
  });
  readRecords(state, (searched) => index.add(searched));
  const search = (question: string, limit: number) => index.search(question).slice(0, limit);
  return {
    answer: async (question, limit) => search(question, limit).length,
    find: async (question, limit) =>
      search(question, limit).map(({ identifier, name }) => ({
        identifier: identifier as string,
        name: name as string,
      })),
    close: () => {},
  };
};
