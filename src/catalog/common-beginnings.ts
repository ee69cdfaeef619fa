import type { CatalogDatabase, WritableDatabase } from './database.ts';

// How many search documents there are to the beginning of a word, for those that have many: it tells which word of a
// question to ask the index for.

/** From so many search documents on, the beginning of a word is a common one. */
const commonBeginning = 256;

const longestBeginning = 32;

// What the terms with each beginning add up to; `terms` are in order, so those with one beginning follow each other.
function* sumBeginnings(terms: Iterable<readonly [term: string, documents: number]>): Generator<[string, number]> {
  let before = '';
  const sums: number[] = [];
  const end = function* (shared: number): Generator<[string, number]> {
    for (let length = sums.length; length > shared; length--) {
      yield [before.slice(0, length), sums.pop() ?? 0];
    }
  };
  for (const [whole, documents] of terms) {
    const term = whole.slice(0, longestBeginning);
    let shared = 0;
    while (shared < sums.length && shared < term.length && before[shared] === term[shared]) shared++;
    yield* end(shared);
    while (sums.length < term.length) sums.push(0);
    for (let index = 0; index < term.length; index++) sums[index] = (sums[index] ?? 0) + documents;
    before = term;
  }
  yield* end(0);
}

/** Counts the common beginnings anew, from the full-text index as it stands. */
export const writeCommonBeginnings = (database: WritableDatabase): void => {
  database.exec(`DELETE FROM common_beginning; CREATE VIRTUAL TABLE temp.term USING fts5vocab(main, search, 'row')`);
  const select = database.prepare<[string, number]>('SELECT term, doc FROM temp.term ORDER BY term');
  const insert = database.prepareWrite('INSERT INTO common_beginning (beginning, documents) VALUES (?, ?)');
  for (const [beginning, documents] of sumBeginnings(select.iterate())) {
    if (documents >= commonBeginning) insert.run(beginning, documents);
  }
  database.exec('DROP TABLE temp.term');
};

/** About how many search documents hold a word that begins so; 0 where they are few. */
export const prepareCommonBeginnings = (database: CatalogDatabase): ((word: string) => number) => {
  const select = database.prepare<[number]>('SELECT documents FROM common_beginning WHERE beginning = ?');
  return (word) => select.get(word.slice(0, longestBeginning))?.[0] ?? 0;
};
