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

/**
 * A key and the number of a term are combined into one exact number: there are 2^21 keys, and no set has 2^32 terms.
 */
const termNumbers = 2 ** 32;

/**
 * Maintains the vocabulary for correcting mistyped words (see spelling.ts). A row contains the terms of one bucket of
 * deletions, so that a million deletions take some ten thousand rows.
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

  /** How many terms were gathered since the last write. */
  get size(): number {
    return this.#gathered.size;
  }

  add(term: string): void {
    this.#gathered.add(term);
  }

  /** Writes the terms that were gathered since the last write. */
  write(): void {
    const terms = [...this.#gathered];
    this.#gathered.clear();
    for (const [bucket, added] of byBucket(terms)) this.#add(bucket, added);
  }

  /** Removes terms that nothing is called by any more. */
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

/** All deletions of these terms, grouped by bucket. */
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
 * All deletions of these terms, ordered by key and then by term. Each is one number, composed of the key and the
 * position of the term. Lists of terms for each key would take ten times as much memory.
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
