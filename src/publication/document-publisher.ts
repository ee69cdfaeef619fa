import { createHash } from 'node:crypto';
import { Ledger, type LedgerEntry } from '../catalog/ledger.ts';
import type { CatalogBuild } from '../catalog/state-catalog.ts';
import { type Document, documentText, ListTail, type PageLinks, successHead } from '../documents/document.ts';
import type { OutputFolder } from './output-folder.ts';
import { documentDigest, hasDigest, readEntry } from './soundness.ts';
import { StagedFile } from './staged-file.ts';
import { DocumentWriter } from './writer.ts';

const utf8 = new TextEncoder();

/** A list that is being written. */
export interface OpenList {
  append(record: string): void;
  /** To be called when all records are appended. */
  finish(): void;
}

interface WrittenList {
  readonly digest: Uint8Array;
  /** What was known of the document, and whether the file was like that. */
  readonly known: LedgerEntry | undefined;
  readonly sound: boolean;
}

/**
 * Publishes documents one by one. A document is written if its content changed or its file is not as it was written;
 * otherwise it keeps its bytes and its date. The ledger records what is published.
 */
export class DocumentPublisher {
  readonly count = { written: 0, unchanged: 0 };
  /** How many of the written documents had unchanged content but a missing or damaged file. */
  repaired = 0;
  readonly ledger: Ledger;
  readonly #output: OutputFolder;
  readonly #now: string;
  readonly #verify: boolean;
  readonly #writer: DocumentWriter;
  #room: Uint8Array = new Uint8Array(0);

  /** With `verify` every document is read and compared with the ledger, rather than only its size. */
  constructor(catalog: CatalogBuild, output: OutputFolder, now: Date, verify: boolean) {
    this.ledger = new Ledger(catalog);
    this.#output = output;
    this.#now = now.toISOString();
    this.#verify = verify;
    this.#writer = new DocumentWriter(output);
  }

  /** Whether the file of a document is as in the ledger: by its size or, with `verify`, by all of its bytes. */
  isSound(file: string, entry?: LedgerEntry): boolean {
    const size = entry?.size ?? this.ledger.sizeOf(file);
    const present = this.#output.lookUp(file);
    if (size === undefined || !present?.isFile() || present.size !== size) return false;
    if (!this.#verify) return true;
    const known = entry ?? this.ledger.get(file);
    return known !== undefined && hasDigest(this.#output.resolve(file), known.digest);
  }

  /** Immediately writes a document that stands in for another one until that can be written. */
  placeInAdvance(document: Document): void {
    this.#output.write(document.path, documentText(document, this.#now));
  }

  /**
   * Writes a document unless its file already has the same content. If it returns a promise, that has to be awaited.
   */
  publish(document: Document): Promise<void> | undefined {
    const digest = documentDigest(document);
    const known = this.ledger.get(document.path) ?? this.#adopt(document, digest);
    const same = known !== undefined && Buffer.compare(known.digest, digest) === 0;
    if (same && this.isSound(document.path, known)) {
      this.count.unchanged++;
      return undefined;
    }
    const date = same ? known.date : this.#now;
    const text = documentText(document, date);
    if (!same)
      this.ledger.set(document.path, { digest, date, size: Buffer.byteLength(text), text: keptText(document, date) });
    this.count.written++;
    if (same) this.repaired++;
    this.#output.note(document.path);
    return this.#writer.write({ path: document.path, text });
  }

  /** The same for a list, which is written while it is composed, so that a large one is never completely in memory. */
  publishList(file: string, count: number, records: Iterable<string>): void {
    const list = this.openList(file, count);
    for (const record of records) list.append(record);
    list.finish();
  }

  /** The same for a list to which records are appended. With links it is a page of a list. */
  openList(file: string, count: number, links?: PageLinks): OpenList {
    const known = this.ledger.get(file);
    const sound = this.isSound(file, known);
    const staged = new StagedFile(this.#output);
    const digest = createHash('sha256');
    const append = (text: string) => {
      const bytes = this.#encode(text);
      digest.update(bytes);
      staged.append(bytes);
    };
    append(successHead);
    staged.append(Buffer.from(this.#now));
    const tail = new ListTail(count, links);
    const finish = () => {
      append(tail.end());
      this.#closeList(file, staged, { digest: digest.digest().subarray(0, 16), known, sound });
    };
    return {
      append: (record) => {
        const piece = tail.add(record);
        if (piece !== undefined) append(piece);
      },
      finish,
    };
  }

  /**
   * A text as UTF-8, valid until the next call: allocating a buffer for each would take longer than all other work on a
   * list.
   */
  #encode(text: string): Uint8Array {
    // A UTF-16 code unit takes at most three bytes.
    if (this.#room.length < text.length * 3) this.#room = Buffer.allocUnsafeSlow(text.length * 3);
    return this.#room.subarray(0, utf8.encodeInto(text, this.#room).written);
  }

  #closeList(file: string, staged: StagedFile, written: WrittenList): void {
    const { known, sound } = written;
    const entry = { digest: written.digest, date: this.#now, size: staged.size };
    const found = known === undefined ? this.#read(file) : undefined;
    const before = known ?? (found?.date === undefined ? undefined : { ...found, date: found.date });
    const same = before !== undefined && Buffer.compare(before.digest, entry.digest) === 0;
    if (same) staged.overwrite(successHead.length, Buffer.from(before.date));
    if (same && (sound || known === undefined)) {
      staged.discard();
      this.count.unchanged++;
    } else {
      staged.place(file);
      this.count.written++;
      if (same) this.repaired++;
    }
    if (!same) this.ledger.set(file, entry);
    else if (known === undefined) this.ledger.set(file, before);
  }

  /** Resolves when everything that was published is in its place. */
  finish(): Promise<void> {
    return this.#writer.finish();
  }

  /** To be called in any case. */
  close(): Promise<void> {
    return this.#writer.close();
  }

  // If the ledger is lost and the files are not, a file with the same content keeps its bytes and its date.
  #adopt(document: Document, digest: Uint8Array): LedgerEntry | undefined {
    const found = this.#read(document.path);
    if (found === undefined || Buffer.compare(found.digest, digest) !== 0) return undefined;
    const date = found.date ?? this.#now;
    const entry = { ...found, date, text: keptText(document, date) };
    this.ledger.set(document.path, entry);
    return entry;
  }

  #read(file: string) {
    return this.#output.lookUp(file)?.isFile() ? readEntry(this.#output.resolve(file)) : undefined;
  }
}

const keptText = (document: Document, date: string): string | undefined =>
  document.isKept === true ? documentText(document, date) : undefined;
