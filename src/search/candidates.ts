import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { computeTerms, documentRanking } from '../catalog/search-index.ts';
import { splitWords } from '../catalog/search-text.ts';

type Row = [id: number, identifier: string, name: string | null, author: string | null, description: string | null];

/** The numbers of search documents by the class in which a question finds them; see PackageSearch. */
export interface Classified {
  readonly name: number[];
  readonly segment: number[];
  readonly author: number[];
  readonly description: number[];
}

/**
 * Decides by their texts in which class a question finds some documents. For a few documents that takes less time than
 * having the index join the many that hold a common word.
 */
export class Candidates {
  readonly #select: StatementSync;

  constructor(database: DatabaseSync) {
    this.#select = database.prepare(
      `SELECT search_document.id, package, name, author, (record.json || 'null}') ->> '$.description'
       FROM json_each(?) AS wanted
       CROSS JOIN search_document ON search_document.id = wanted.value
       CROSS JOIN record ON record.id = search_document.record
       ORDER BY wanted.key`,
    );
    this.#select.setReturnArrays(true);
  }

  /**
   * Those of the documents that hold every word as the beginning of one of theirs, in the order given, but of one
   * ranking those first in whose names more of the words stand by themselves.
   */
  classify(documents: readonly number[], words: readonly string[]): Classified {
    const found: Classified = { name: [], segment: [], author: [], description: [] };
    const rows = this.#select.all(JSON.stringify(documents)) as unknown as Row[];
    for (const row of rows.length === 1 ? rows : closestFirst(rows, words)) {
      const [id, identifier, name, author, description] = row;
      const terms = computeTerms({ identifier, name, author, description });
      const unnamed = without(words, terms.name);
      const missing = without(unnamed, terms.segment);
      const unknown = without(missing, terms.author);
      if (unnamed.length === 0) found.name.push(id);
      else if (missing.length === 0) found.segment.push(id);
      else if (unknown.length === 0) found.author.push(id);
      else if (without(unknown, splitWords(description ?? '')).length === 0) found.description.push(id);
    }
    return found;
  }
}

const closestFirst = (rows: readonly Row[], words: readonly string[]): Row[] =>
  rows
    .map((row) => {
      const [id, identifier, name] = row;
      const written = new Set(splitWords(name ?? identifier));
      return { row, ranking: documentRanking(id), close: words.filter((word) => written.has(word)).length };
    })
    .sort((a, b) => a.ranking - b.ranking || b.close - a.close)
    .map(({ row }) => row);

const without = (words: readonly string[], terms: readonly string[]): readonly string[] =>
  words.length === 0 ? words : words.filter((word) => !terms.some((term) => term.startsWith(word)));
