import type { RecordPiece } from './record-list.ts';

/** The ready text of a record, and which repository it is of. */
export type RecordRow = readonly [json: RecordPiece, repository: number];

/** The most UTF-16 units of a text that is kept: one that is longer would take the place of many. */
const longest = 8192;

/**
 * Rows of records that were read lately, by their search documents. To find a record in the catalog takes a search longer
 * than anything else it does with it, and most answers begin with packages that others began with.
 *
 * What is kept is of two ages. What is read joins the young; when these have become half of what may be kept, they are
 * the old ones, and the old before them are forgotten.
 */
export class RecentRecords {
  readonly #mostYoung: number;
  #young = new Map<number, RecordRow>();
  #old = new Map<number, RecordRow>();
  #length = 0;

  /** `most`: UTF-16 units of text that are kept; of most texts each is a byte. */
  constructor(most: number) {
    this.#mostYoung = most / 2;
  }

  /** The row of a document, where it is kept. */
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
