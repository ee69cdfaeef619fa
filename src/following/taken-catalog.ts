import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { CatalogDatabase } from '../catalog/database.ts';
import { openFile } from '../disk/open-file.ts';
import { CatalogDocuments, NotOfCatalog } from '../documents/catalog-documents.ts';
import { documentText } from '../documents/document.ts';
import { documentDigest } from '../publication/soundness.ts';

/** Larger documents, in bytes, are not composed on request, but when the catalog is taken (H7). */
export const largestComposed = 256 * 1024;

const differs = (path: string): NotOfCatalog =>
  new NotOfCatalog(`${path} would not have the bytes that were published: update Debdex`);

/** The published documents, made from a taken catalog. Each is compared with what the catalog records about it. */
export class TakenCatalog {
  readonly documents: CatalogDocuments;

  /** Throws where the catalog cannot be read. */
  constructor(database: CatalogDatabase) {
    this.documents = new CatalogDocuments(database);
  }

  /**
   * The bytes of a published document; undefined if there is none. Throws NotOfCatalog if they cannot be made from the
   * catalog.
   */
  read(path: string): Buffer<ArrayBuffer> | undefined {
    const entry = this.documents.reading.entry(path);
    if (entry === undefined) return undefined;
    if (entry.text !== null) return Buffer.from(entry.text);
    const document = this.documents.compose(path);
    const bytes = Buffer.from(documentText(document, entry.date));
    if (bytes.length === entry.size && Buffer.compare(documentDigest(document), entry.digest) === 0) return bytes;
    throw differs(path);
  }

  /** The documents that are too large for `read`, with what the catalog records about them. */
  *large(): Generator<{ readonly path: string; readonly digest: string; readonly date: string }> {
    for (const path of this.documents.reading.largerThan(largestComposed)) {
      const entry = this.documents.reading.entry(path);
      if (entry !== undefined) yield { path, digest: Buffer.from(entry.digest).toString('hex'), date: entry.date };
    }
  }

  /**
   * Writes such a document to a new file, with a few records at a time in memory. Returns the SHA-256 of its bytes in
   * hex. Throws NotOfCatalog, and errors of the disk.
   */
  write({ path, digest, date }: { path: string; digest: string; date: string }, file: string): string {
    const { head, tail } = this.documents.composeParts(path);
    const [whole, content] = [createHash('sha256'), createHash('sha256')];
    using written = openFile(file, 'wx');
    const append = (text: string, isDate = false) => {
      const bytes = Buffer.from(text);
      whole.update(bytes);
      if (!isDate) content.update(bytes);
      writeFileSync(written.descriptor, bytes);
    };
    append(head);
    append(date, true);
    for (const piece of tail) append(piece);
    if (content.digest().toString('hex', 0, digest.length / 2) !== digest) throw differs(path);
    return whole.digest('hex');
  }
}
