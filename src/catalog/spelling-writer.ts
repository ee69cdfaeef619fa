import type { WritableDatabase } from './database.ts';
import {
  addToBucket,
  bucketOfKey,
  composeBucket,
  type DeletionKey,
  findDeletionKeys,
  type KeyedTerm,
  removeFromBucket,
} from './spelling.ts';

/** A key and the number of a term are one number, which is exact: there are 2^21 keys, and no set has as many members. */
const termNumbers = 2 ** 32;

/**
 * Keeps the vocabulary against which words are corrected (see spelling.ts): a row holds the terms of one bucket of
 * deletions, so that a million deletions are some ten thousand rows.
 */
export class SpellingWriter {
  readonly #read;
  readonly #write;
  readonly #delete;
  readonly #gathered = new Set<string>();

  constructor(database: WritableDatabase) {
    this.#read = database.prepare<[string]>('SELECT terms FROM spelling WHERE bucket = ?');
    this.#write = database.prepareWrite('INSERT OR REPLACE INTO spelling (bucket, terms) VALUES (?, ?)');
    this.#delete = database.prepareWrite('DELETE FROM spelling WHERE bucket = ?');
  }

  /** How many terms were gathered since it last wrote. */
  get size(): number {
    return this.#gathered.size;
  }

  add(term: string): void {
    this.#gathered.add(term);
  }

  /** Writes what was gathered since it last did. */
  write(): void {
    const terms = [...this.#gathered];
    this.#gathered.clear();
    for (const [bucket, added] of byBucket(terms)) this.#add(bucket, added);
  }

  /** Takes out terms that nothing is called by any more. */
  remove(terms: readonly string[]): void {
    for (const [bucket, gone] of byBucket(terms)) {
      const known = this.#read.get(bucket)?.[0];
      if (known === undefined) continue;
      const left = removeFromBucket(known, gone);
      if (left === '') this.#delete.run(bucket);
      else if (left !== known) this.#write.run(bucket, left);
    }
  }

  #add(bucket: number, added: readonly KeyedTerm[]): void {
    const known = this.#read.get(bucket)?.[0];
    const terms = known === undefined ? composeBucket(added) : addToBucket(known, added);
    if (terms !== known) this.#write.run(bucket, terms);
  }
}

/** Every deletion of these terms, by the bucket that it falls into. */
function* byBucket(terms: readonly string[]): Generator<[bucket: number, deletions: KeyedTerm[]]> {
  const deletions = sortDeletions(terms);
  for (let start = 0; start < deletions.length; ) {
    const bucket = bucketOfKey(keyOf(deletions[start]));
    const found: KeyedTerm[] = [];
    for (; start < deletions.length; start++) {
      const key = keyOf(deletions[start]);
      if (bucketOfKey(key) !== bucket) break;
      found.push([key, terms[numberOf(deletions[start])] ?? '']);
    }
    yield [bucket, found];
  }
}

/**
 * Every deletion of these terms, in the order of its key and then of the term: each is one number, of the key and of
 * which term it is. Lists of the terms of each key would take ten times as much.
 */
const sortDeletions = (terms: readonly string[]): Float64Array => {
  const all = new Float64Array(terms.reduce((sum, { length }) => sum + length + 1, 0));
  let count = 0;
  for (const [number, term] of terms.entries()) {
    for (const key of findDeletionKeys(term)) all[count++] = key * termNumbers + number;
  }
  return all.subarray(0, count).sort();
};

const numberOf = (deletion = 0): number => deletion % termNumbers;
const keyOf = (deletion = 0): DeletionKey => Math.floor(deletion / termNumbers);
