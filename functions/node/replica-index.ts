import { existsSync } from 'node:fs';
import { generationPath, tellsOfGenerations } from '../../src/contract/generation.ts';
import { olderOperations } from '../../src/contract/older-addresses/operations.ts';
import { unsafeHostsSchema } from '../../src/contract/older-addresses/records.ts';
import { defaultAddress, describedAddress, documentPath } from '../../src/contract/paths.ts';
import type { ReplicaRecord } from '../../src/contract/records.ts';
import { TakenCatalog } from '../../src/following/taken-catalog.ts';
import { type Taken, type TakenFolder, takenOf } from '../../src/following/taken-folder.ts';
import type { CatalogSearch } from '../../src/search/catalog-search.ts';
import { CatalogQuestions, type QuestionKind } from '../catalog-questions.ts';
import { type Documents, type StoredDocument, Unavailable } from '../dependencies.ts';
import { ByteCache } from './byte-cache.ts';
import type { CompressedFiles } from './compression.ts';
import type { Measure } from './measure-questions.ts';
import { OpenCatalog } from './open-catalog.ts';
import { digestOf, type HeldDocument, inMemory, makeVariant, onDisk, weigh } from './stored-document.ts';

/** Converts a digest in hex to the form in entity tags; see `createDigest`. */
const shortDigest = (sha256: string): string => Buffer.from(sha256, 'hex').toString('base64url').slice(0, 22);

interface Described extends HeldDocument {
  /** The path of its file, if it has one. */
  readonly file: string | undefined;
}

/** An opened generation. */
interface InForce {
  readonly taken: Taken;
  readonly catalog: OpenCatalog<TakenCatalog>;
  readonly large: ReadonlyMap<string, Taken['note']['large'][number]>;
  readonly held: ByteCache<Described>;
  readonly publicAddress: string | undefined;
}

const describeBytes = (bytes: Uint8Array): Described => {
  const digest = digestOf(bytes);
  return { file: undefined, digest, variants: new Map([['identity', inMemory(bytes, digest)]]) };
};

const describeFile = (file: string, { sha256, size }: { sha256: string; size: number }): Described => {
  const digest = shortDigest(sha256);
  return { file, digest, variants: new Map([['identity', onDisk(file, { size, digest, encoding: 'identity' })]]) };
};

const readPublicAddress = (taken: TakenCatalog): string | undefined =>
  describedAddress(taken.read(documentPath.openapiJson)?.toString() ?? '{}');

/** No generation has been taken yet. The operator has been told, so it is not reported for each request. */
export class NothingTaken extends Unavailable {
  override name = 'NothingTaken';
}

export interface ReplicaIndexOptions {
  readonly folder: TakenFolder;
  readonly compressed: CompressedFiles;
  /** The most bytes of documents to hold in memory. */
  readonly memory: number;
  readonly now: () => Date;
  readonly measure: Measure;
}

/**
 * What a replica answers from: the documents and the search index of the generation in force, both from its catalog.
 * `use` replaces the generation at once; requests that are reading the one before finish with it.
 */
export class ReplicaIndex extends CatalogQuestions implements Documents {
  readonly #options: ReplicaIndexOptions;
  #inForce: InForce | undefined;
  #confirmed: Date | undefined;

  constructor(options: ReplicaIndexOptions) {
    super();
    this.#options = options;
  }

  /** Puts a taken generation into force. Throws if its catalog cannot be opened; then the one before stays. */
  use(note: Taken['note']): void {
    const taken = takenOf(note);
    const before = this.#inForce;
    const large = new Map(note.large.map((one) => [one.path, one]));
    if (before?.taken.note.catalog.sha256 === note.catalog.sha256) {
      this.#inForce = { ...before, taken, large };
    } else {
      const file = this.#options.folder.catalog(note.catalog.sha256, 'sqlite');
      const catalog = new OpenCatalog(file, (database) => new TakenCatalog(database), true);
      const held = new ByteCache<Described>(this.#options.memory, weigh);
      this.#inForce = { taken, catalog, large, held, publicAddress: readPublicAddress(catalog.more) };
      before?.catalog.close();
    }
    this.#confirmed = undefined;
  }

  /** Notes that the publication confirmed this generation as the newest. */
  confirm(at: Date): void {
    this.#confirmed = at;
  }

  /** The generation that it answers from, as health and the landing document show it. */
  describe(): ReplicaRecord {
    const { number = null, date = null } = this.#inForce?.taken.generation ?? {};
    const milliseconds = date === null ? null : this.#options.now().getTime() - Date.parse(date);
    return {
      generation: number,
      published: date,
      // The clock of the publication may be ahead of ours.
      age: milliseconds === null ? null : Math.max(0, Math.floor(milliseconds / 1000)),
      confirmed: this.#confirmed?.toISOString() ?? null,
    };
  }

  /** The public address that the published documents contain. */
  publicAddress(): string {
    return this.#inForce?.publicAddress ?? defaultAddress;
  }

  /** Hosts that are published as unsafe, at most so many; none if the publication does not say. */
  unsafeHosts(most: number): readonly string[] {
    try {
      const text = this.#current().catalog.more.read(olderOperations.unsafeHosts.file);
      return unsafeHostsSchema.parse(JSON.parse(text?.toString() ?? '[]')).slice(0, most);
    } catch {
      return [];
    }
  }

  read: Documents['read'] = async (path, encoding) => {
    const inForce = this.#current();
    const { held } = inForce;
    const known = held.get(path);
    const described = known ?? this.#describe(inForce, path);
    const variant =
      described?.variants.get(encoding) ??
      (described &&
        (await makeVariant(described, encoding, { file: described.file, compressed: this.#options.compressed })));
    if (described === undefined || variant === undefined) return undefined;
    // The cache measures a value when it is set, so a value that has grown is set again. Documents about the generation
    // are not kept, because they may change while the catalog does not.
    const isOfCatalog = described.file === undefined && !tellsOfGenerations(path);
    if (isOfCatalog && (known === undefined || !described.variants.has(encoding))) {
      held.delete(path);
      described.variants.set(encoding, variant);
      held.set(path, described);
    }
    return variant satisfies StoredDocument;
  };

  close(): void {
    this.#inForce?.catalog.close();
    this.#inForce = undefined;
  }

  #current(): InForce {
    if (this.#inForce === undefined) throw new NothingTaken('No generation of the publication was taken yet');
    return this.#inForce;
  }

  protected ask<T>(kind: QuestionKind, question: (search: CatalogSearch) => Promise<T>): Promise<T> {
    return this.#options.measure(kind, async () => this.#current().catalog.ask(question));
  }

  #describe({ taken, catalog, large }: InForce, path: string): Described | undefined {
    const { note, generation } = taken;
    const { folder } = this.#options;
    if (path === generationPath.current) return describeBytes(Buffer.from(note.text));
    if (path === generationPath.signature || path === taken.signaturePath) {
      return note.jws === null ? undefined : describeBytes(Buffer.from(note.jws));
    }
    if (path === generation.catalog.path) {
      const file = folder.catalog(note.catalog.sha256, 'sqlite.zst');
      return existsSync(file) ? describeFile(file, note.compressed) : undefined;
    }
    const listed = large.get(path);
    if (listed !== undefined) return describeFile(folder.document(listed.file.sha256), listed.file);
    try {
      const bytes = catalog.more.read(path);
      return bytes && describeBytes(bytes);
    } catch (cause) {
      throw new Unavailable(`${path} cannot be made of the catalog`, { cause });
    }
  }
}
