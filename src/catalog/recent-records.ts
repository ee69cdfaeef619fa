import type { RecordPiece } from './record-list.ts';

/** The ready text of a record, and the number of its repository. */
export type RecordRow = readonly [json: RecordPiece, repository: number];

/** In UTF-16 units. A longer text is not kept, because it would displace many others. */
const longest = 8192;

/**
 * Rows of recently read records, by their search documents. Finding a record in the catalog takes a search longer than
 * anything else, and most answers begin with packages that other answers began with, too.
 *
 * There are two generations. New rows join the young one; when that holds half of what may be kept, it becomes the old
 * one, and the rows of the previous old one are forgotten.
 */
export class RecentRecords {
  readonly #mostYoung: number;
  #young = new Map<number, RecordRow>();
  #old = new Map<number, RecordRow>();
  #length = 0;

  /** `most` is how many UTF-16 units of text are kept. In most texts a unit takes one byte. */
  constructor(most: number) {
    this.#mostYoung = most / 2;
  }

  /** The row of a document; undefined if it is not kept. */
  get(id: number): RecordRow | undefined {
    const young = this.#young.get(id);
    if (young !== undefined) return young;
    const old = this.#old.get(id);
    if (old !== undefined) this.set(id, old);
    return old;
  }

  /** Keeps the row of a document that is not kept yet. */
  set(id: number, row: RecordRow): void {
    const { length } = row[0];
    if (length > longest) return;
    this.#young.set(id, row);
    this.#length += length;
    if (this.#length < this.#mostYoung) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#length = 0;
  }
}
