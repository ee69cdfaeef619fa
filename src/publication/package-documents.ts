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
import { documentPath, packagesFolder } from '../contract/paths.ts';
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
  /** Whether to examine all documents. */
  readonly verify: boolean;
  /** See `FolderNote`. */
  readonly fewest?: number;
}

/**
 * Reads the note of the last build about the folder; to be called before anything is written there. It is not trusted
 * with a newly built catalog, which does not know what was published and is missing in it, nor without an inventory,
 * because then the published files are unknown.
 */
export const readPackageNote = (
  output: OutputFolder,
  { state, catalog, verify, ...others }: NoteSources,
): FolderNote => {
  const believed = !verify && catalog.before !== undefined && isInventoryKnown(output, state);
  return new FolderNote(output, state, { folder: packagesFolder, believed, ...others });
};

interface PackageSources {
  readonly catalog: CatalogBuild;
  /** Identifiers of packages that may have changed, or are gone. */
  readonly touched: ReadonlySet<string>;
  readonly folder: FolderNote | undefined;
  readonly onDocument: ((done: number, total: number) => void) | undefined;
  /** Aborted when nobody waits for the result any more. */
  readonly signal: AbortSignal | undefined;
}

/**
 * The documents of packages, which are nearly everything that is published. If the folder still contains what the last
 * build left there, only the changed documents and a part of the others are examined; for the rest, what that build
 * recorded holds.
 */
export class PackageDocuments {
  /** The paths of those that this build has examined; all of them if none are `standing`. */
  readonly files = new Set<string>();
  readonly #output: OutputFolder;
  readonly #publisher: DocumentPublisher;
  readonly #sources: PackageSources;
  readonly #isUntouched: boolean;
  /** How many packages the catalog has. */
  #count = 0;

  constructor(output: OutputFolder, publisher: DocumentPublisher, sources: PackageSources) {
    this.#output = output;
    this.#publisher = publisher;
    this.#sources = sources;
    this.#isUntouched = sources.folder?.isUntouched === true;
  }

  /** Writes those that changed, or whose files are not as they were written. */
  async write(): Promise<void> {
    const { touched, onDocument, signal } = this.#sources;
    const damaged = this.#findDamaged();
    const { database } = this.#sources.catalog;
    const size = touched.size + damaged.size;
    // Not a set of both, which would hold a million more names.
    const first = size > fewPackages ? [] : [...touched, ...damaged].sort();
    const written = new Set<string>();
    const has = (name: string) => (touched.has(name) || damaged.has(name)) && !written.has(name);
    const due = { size, has, [Symbol.iterator]: () => first.filter(has).values() };
    let done = 0;
    // The same string that the output folder keeps, rather than a million copies.
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

  /** All other documents of existing packages; undefined if all are among `files`. */
  get standing(): StandingFiles | undefined {
    if (!this.#isUntouched) return undefined;
    const gone = new Set(this.#listGone());
    const has = (file: string) => file.startsWith(`${packagesFolder}/`) && !gone.has(file);
    return { count: this.#count - this.files.size, has };
  }

  /** The files in the folder that belong to no package any more; undefined if the folder has to be read to find out. */
  findVanished(): string[] | undefined {
    if (!this.#isUntouched) return this.#standAlone() ? [] : undefined;
    // No name is missing in the folder, so its file still exists.
    return this.#listGone();
  }

  /** Records the state for the next build. To be called when vanished documents are removed. */
  noteFolder(): void {
    this.#sources.folder?.take(this.#count);
  }

  // Examines packages that were not touched; touched ones are written anyway.
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

  // Every package of the catalog has a document by now.
  #listGone(): string[] {
    return [...this.#sources.touched].map(documentPath.package).filter((file) => !this.files.has(file));
  }

  // Every package has its document by now, so if there are no more entries than packages, there is nothing else.
  // Documents with names too long for one file share folders, which means fewer entries.
  #standAlone(): boolean {
    const folder = this.#output.resolve(packagesFolder);
    if (!existsSync(folder) || countEntries(folder) !== this.#count) return false;
    for (const file of this.files) if (file.includes('/', packagesFolder.length + 1)) return false;
    return true;
  }
}
