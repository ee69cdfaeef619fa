import type { WritableDatabase } from './database.ts';
import { deletionBuckets } from './spelling.ts';

/**
 * Keeps the vocabulary against which words are corrected (see spelling.ts): a row holds the terms of one bucket of
 * deletions, so that a million deletions are some ten thousand rows. Terms stay when their records go; they then find
 * nothing.
 */
export class SpellingWriter {
  readonly #read;
  readonly #write;
  readonly #gathered = new Set<string>();

  constructor(database: WritableDatabase) {
    this.#read = database.prepare<[string]>('SELECT terms FROM spelling WHERE bucket = ?');
    this.#write = database.prepareWrite('INSERT OR REPLACE INTO spelling (bucket, terms) VALUES (?, ?)');
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
    const buckets = new Map<number, string[]>();
    for (const term of this.#gathered) {
      for (const bucket of deletionBuckets(term)) {
        const terms = buckets.get(bucket);
        if (terms === undefined) buckets.set(bucket, [term]);
        else terms.push(term);
      }
    }
    this.#gathered.clear();
    // In order of the key, which appends to the table instead of searching it.
    for (const bucket of [...buckets.keys()].sort((a, b) => a - b)) {
      const known = this.#read.get(bucket)?.[0];
      const terms = new Set(known?.split('\n'));
      const before = terms.size;
      for (const term of buckets.get(bucket) ?? []) terms.add(term);
      if (terms.size > before) this.#write.run(bucket, [...terms].join('\n'));
    }
  }
}
