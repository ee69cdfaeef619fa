import { existsSync } from 'node:fs';
import {
  countPackages,
  fewPackages,
  readLongPackages,
  readPackageIdentifiers,
  readPackageRecords,
  readPackages,
} from '../catalog/reading.ts';
import type { CatalogBuild } from '../catalog/state-catalog.ts';
import { documentPath, packageFolder } from '../contract/paths.ts';
import { documents } from '../documents/documents.ts';
import type { DocumentPublisher } from './document-publisher.ts';
import { countEntries } from './folder-entries.ts';
import { FolderNote } from './folder-note.ts';
import type { StandingFiles } from './generation.ts';
import { isInventoryKnown } from './generation-in-force.ts';
import type { OutputFolder } from './output-folder.ts';

interface NoteSources {
  readonly state: string;
  readonly catalog: CatalogBuild;
  /** Whether all documents are to be looked at. */
  readonly verify: boolean;
  /** See `FolderNote`. */
  readonly fewest?: number;
}

/**
 * What the build before noted of the folder, to be asked for before anything is written there. A catalog that is built
 * anew does not know what it lacks that was published, and without an inventory nothing is known of what stands.
 */
export const readPackageNote = (
  output: OutputFolder,
  { state, catalog, verify, ...others }: NoteSources,
): FolderNote => {
  const believed = !verify && catalog.before !== undefined && isInventoryKnown(output, state);
  return new FolderNote(output, state, { folder: packageFolder, believed, ...others });
};

interface PackageSources {
  readonly catalog: CatalogBuild;
  /** Identifiers of those that may have changed, or are gone. */
  readonly touched: ReadonlySet<string>;
  readonly folder: FolderNote | undefined;
  readonly onDocument: ((done: number, total: number) => void) | undefined;
  /** Given where nobody waits for it any more. */
  readonly signal: AbortSignal | undefined;
}

/**
 * The documents of packages: nearly all that is published. Where the folder still holds what the build before left in
 * it, only those that changed are gone through, and of the others some are looked at; what that build told of the
 * others holds.
 */
export class PackageDocuments {
  /** The paths of those that this build knows of one by one: of all, where none are `standing`. */
  readonly files = new Set<string>();
  readonly #output: OutputFolder;
  readonly #publisher: DocumentPublisher;
  readonly #sources: PackageSources;
  readonly #isUntouched: boolean;
  /** How many packages the catalog holds. */
  #count = 0;

  constructor(output: OutputFolder, publisher: DocumentPublisher, sources: PackageSources) {
    this.#output = output;
    this.#publisher = publisher;
    this.#sources = sources;
    this.#isUntouched = sources.folder?.isUntouched === true;
  }

  /** Writes those that changed, or do not stand as they were written. */
  async write(): Promise<void> {
    const { touched, onDocument, signal } = this.#sources;
    const damaged = this.#findDamaged();
    const { database } = this.#sources.catalog;
    const size = touched.size + damaged.size;
    // Not one set of both, which would hold a million names once more.
    const first = size > fewPackages ? [] : [...touched, ...damaged].sort();
    const written = new Set<string>();
    const has = (name: string) => (touched.has(name) || damaged.has(name)) && !written.has(name);
    const due = { size, has, [Symbol.iterator]: () => first.filter(has).values() };
    let done = 0;
    // The very text that the output folder keeps of it, and not another one for each of a million.
    const tell = (file: string) => {
      this.files.add(file);
      done++;
      onDocument?.(done, Math.min(size, this.#count));
    };
    for (const [name, records] of readLongPackages(database, due)) {
      written.add(name);
      const file = documentPath.package(name);
      this.#publisher.publishList(file, records, readPackageRecords(database, name));
      tell(file);
    }
    for (const [name, records] of readPackages(database, due)) {
      const document = documents.package(name, records);
      const pause = this.#publisher.publish(document);
      if (pause !== undefined) {
        await pause;
        signal?.throwIfAborted();
      }
      tell(document.path);
    }
    this.#publisher.count.unchanged += this.#count - done;
  }

  /** Those that are not among `files`, of all that is still a package; undefined where all are among them. */
  get standing(): StandingFiles | undefined {
    if (!this.#isUntouched) return undefined;
    const gone = new Set(this.#listGone());
    const has = (file: string) => file.startsWith(`${packageFolder}/`) && !gone.has(file);
    return { count: this.#count - this.files.size, has };
  }

  /** What stands in the folder and belongs to no package any more; undefined where the folder has to be read to tell. */
  findVanished(): string[] | undefined {
    if (!this.#isUntouched) return this.#standAlone() ? [] : undefined;
    // No name is gone from the folder: it stands there still.
    return this.#listGone();
  }

  /** Takes the note for the build after; to be called when what vanished is gone. */
  noteFolder(): void {
    this.#sources.folder?.take(this.#count);
  }

  // Of the packages that were not touched: those are written anyway.
  #findDamaged(): ReadonlySet<string> {
    const { catalog, touched, folder } = this.#sources;
    const damaged = new Set<string>();
    const part = this.#isUntouched ? folder?.part : undefined;
    for (const name of readPackageIdentifiers(catalog.database, part)) {
      if (this.#isUntouched) folder?.pass(name);
      else this.#count++;
      if (touched.has(name)) continue;
      const file = documentPath.package(name);
      if (!this.#isUntouched) this.files.add(file);
      if (!this.#publisher.isSound(file)) damaged.add(name);
    }
    if (this.#isUntouched) this.#count = countPackages(catalog.database);
    return damaged;
  }

  // All that is in the catalog has a document by now.
  #listGone(): string[] {
    return [...this.#sources.touched].map(documentPath.package).filter((file) => !this.files.has(file));
  }

  // The document of each package stands there by now: where there are no more entries than packages, there is nothing else.
  // Documents with names too long for one file share folders, which are fewer entries.
  #standAlone(): boolean {
    const folder = this.#output.resolve(packageFolder);
    if (!existsSync(folder) || countEntries(folder) !== this.#count) return false;
    for (const file of this.files) if (file.includes('/', packageFolder.length + 1)) return false;
    return true;
  }
}
