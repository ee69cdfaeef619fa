import type { CatalogDatabase } from '../../src/catalog/database.ts';
import { type Generation, generationPath, isSignature } from '../../src/contract/generation.ts';
import { toHex } from '../../src/contract/hex.ts';
import { olderOperations } from '../../src/contract/older-addresses/operations.ts';
import { defaultAddress, describedAddress, documentPath } from '../../src/contract/paths.ts';
import { CatalogDocuments } from '../../src/documents/catalog-documents.ts';
import { documentText } from '../../src/documents/document.ts';
import { describeOtherList } from '../../src/safety/other-list.ts';
import { createSafetyList } from '../../src/safety/safety-list.ts';
import { CatalogSearch } from '../../src/search/catalog-search.ts';
import { createApp } from '../app.ts';
import { CatalogQuestions, type QuestionKind } from '../catalog-questions.ts';
import { type Dependencies, type Documents, Unavailable } from '../dependencies.ts';
import { createLargeAnswers } from '../http/large-answers.ts';
import { createRateLimiter } from '../http/rate-limiter.ts';
import { uncountedDownloads } from '../http/uncounted-downloads.ts';
import { builtWith } from './built-with.ts';
import { digestOf, documentOfBytes, publishedDocuments } from './published-files.ts';
import { remoteDownloads } from './remote-downloads.ts';
import type { Settings } from './settings.ts';
import { createTurns } from './turns.ts';

/** A generation that an object holds completely. */
export interface Held {
  readonly text: string;
  readonly jws: string | null;
}

/** A catalog that answers. */
interface InForce {
  readonly held: Held;
  readonly generation: Generation;
  readonly search: CatalogSearch;
  readonly documents: CatalogDocuments;
  readonly publicAddress: string;
}

/** Documents larger than this, in bytes, are composed while they are sent. */
const largestComposed = 256 * 1024;

/**
 * How many large answers are made at once. One of 20 MB takes three times that while it is made, and an object has 128
 * MB.
 */
const largeAtOnce = 1;

/** How many published hosts are looked up in the list of the bundle, each time that an object starts: a hundredth of a second. */
const mostCompared = 100;

const utf8 = new TextEncoder();

/** What answers requests in an object: the app of every host, over the catalog that the object holds. */
export class Serving extends CatalogQuestions {
  readonly #database: CatalogDatabase;
  #inForce: InForce | undefined;
  #confirmed: Date | undefined;
  #readers = 0;
  readonly #safety = createSafetyList(builtWith.safety);
  #toldList: string | undefined;
  readonly #app: ReturnType<typeof createApp>;

  constructor(settings: Settings, database: CatalogDatabase, probeCredentials = async (): Promise<boolean> => true) {
    super();
    this.#database = database;
    const now = () => new Date();
    const { rate, hasPages, olderAddresses, downloads } = settings;
    const dependencies: Dependencies = {
      documents: hasPages ? publishedDocuments(settings.files) : { read: (path) => this.#read(path) },
      search: this,
      older: olderAddresses ? this.older : undefined,
      safety: this.#safety,
      downloads: downloads ? remoteDownloads(downloads) : uncountedDownloads,
      // A bucket with room for less than one request would never let one through.
      limiter: createRateLimiter({ rate, burst: Math.max(1, 2 * rate), now }),
      turns: createTurns(),
      probeCredentials,
      now,
      publicAddress: () => this.#inForce?.publicAddress ?? defaultAddress,
      report: (error, note) => {
        const cause = error instanceof Unavailable ? (error.cause ?? error) : error;
        console.error(JSON.stringify({ event: 'fault', operation: note?.operation, message: String(cause) }));
      },
      tellUnhealthy: (event) => console.error(JSON.stringify(event)),
      ...(hasPages ? {} : { replica: () => this.#describe() }),
    };
    this.#app = createApp(dependencies, createLargeAnswers(largeAtOnce));
  }

  /** How many requests are reading the catalog at the moment. */
  get readers(): number {
    return this.#readers;
  }

  /** Answers from the catalog in the database from now on. Throws if it cannot be read. */
  use(held: Held, generation: Generation): void {
    const documents = new CatalogDocuments(this.#database);
    const description = documents.reading.entry(documentPath.openapiJson)?.text ?? '{}';
    this.#inForce = {
      ...{ held, generation, documents },
      search: new CatalogSearch(this.#database),
      publicAddress: describedAddress(description) ?? defaultAddress,
    };
    this.#confirmed = undefined;
    this.#tellOtherList(documents);
  }

  #tellOtherList(documents: CatalogDocuments): void {
    let hosts: readonly string[] = [];
    try {
      hosts = JSON.parse(documents.reading.entry(olderOperations.unsafeHosts.file)?.text ?? '[]').slice(
        0,
        mostCompared,
      );
    } catch {
      // Published by another version.
    }
    const others = 'the publication. Bundle with --data, which names the folder of its builder, and deploy again.';
    const message = describeOtherList(hosts, this.#safety, 'the safety.yaml of the bundle', others);
    if (message !== undefined && message !== this.#toldList) {
      console.error(JSON.stringify({ event: 'other-safety-list', message }));
    }
    this.#toldList = message;
  }

  /** Stops answering. Requests that are still reading get an error, rather than data of another generation. */
  end(): void {
    this.#inForce = undefined;
  }

  /** Notes that the publication has nothing newer at this moment. */
  confirm(): void {
    this.#confirmed = new Date();
  }

  /** Answers a request; the platform has set the header with the client's address. */
  async answer(request: Request): Promise<Response> {
    const clientAddress = request.headers.get('cf-connecting-ip') ?? '';
    return this.#app.fetch(request, { clientAddress, note: { id: '', operation: undefined } });
  }

  #describe() {
    const { number = null, date = null } = this.#inForce?.generation ?? {};
    return {
      generation: number,
      published: date,
      age: date === null ? null : Math.max(0, Math.floor((Date.now() - Date.parse(date)) / 1000)),
      confirmed: this.#confirmed?.toISOString() ?? null,
    };
  }

  #current(): InForce {
    if (this.#inForce === undefined) throw new Unavailable('No generation of the publication was taken yet');
    return this.#inForce;
  }

  protected async ask<T>(_: QuestionKind, question: (search: CatalogSearch) => Promise<T>): Promise<T> {
    const inForce = this.#current();
    this.#readers++;
    try {
      const answer = await question(inForce.search);
      this.#assertStill(inForce);
      return answer;
    } finally {
      this.#readers--;
    }
  }

  // All parts of one answer must come from the same generation.
  #assertStill(inForce: InForce): void {
    if (this.#inForce !== inForce) throw new Unavailable('The catalog was replaced while it was read');
  }

  async #read(path: string): ReturnType<Documents['read']> {
    const inForce = this.#current();
    const { held, documents } = inForce;
    if (path === generationPath.current) return documentOfBytes(utf8.encode(held.text));
    if (isSignature(path)) {
      const text = utf8.encode(held.text);
      const isOfHeld = async () => path === generationPath.signatureOf(toHex(await digestOf(text)));
      if (path !== generationPath.signature && !(await isOfHeld())) return undefined;
      return held.jws === null ? undefined : documentOfBytes(utf8.encode(held.jws));
    }
    const entry = documents.reading.entry(path);
    if (entry === undefined) return undefined;
    if (entry.text !== null) return documentOfBytes(utf8.encode(entry.text));
    try {
      if (entry.size <= largestComposed) {
        return await documentOfBytes(utf8.encode(documentText(documents.compose(path), entry.date)));
      }
      // Hashing the document would take as long as sending it. The digest and date in the catalog identify it just as
      // well.
      const about = utf8.encode(`${path}\n${entry.digest.join()}\n${entry.date}`);
      const { etag } = await documentOfBytes(about);
      return {
        etag,
        encoding: 'identity',
        size: entry.size,
        body: undefined,
        open: async () => ReadableStream.from(this.#pieces(inForce, documents.composeParts(path), entry.date)),
      };
    } catch (cause) {
      throw new Unavailable(`${path} cannot be made of the catalog`, { cause });
    }
  }

  // Whoever has read the beginning is a reader until the end, or until they leave.
  async *#pieces(
    inForce: InForce,
    { head, tail }: ReturnType<CatalogDocuments['composeParts']>,
    date: string,
  ): AsyncGenerator<Uint8Array> {
    this.#readers++;
    try {
      yield utf8.encode(head + date);
      for (const piece of tail) {
        this.#assertStill(inForce);
        yield utf8.encode(piece);
      }
    } finally {
      this.#readers--;
    }
  }
}

/**
 * The path of the first document that the catalog would not make as it was published; undefined if all agree. About
 * `most` documents are compared, evenly spread.
 */
export const findDiffering = async (database: CatalogDatabase, most: number): Promise<string | undefined> => {
  const documents = new CatalogDocuments(database);
  for (const path of documents.reading.everyNth(Math.max(1, Math.floor(documents.reading.count / most)))) {
    const entry = documents.reading.entry(path);
    if (entry === undefined || entry.text !== null || entry.size > largestComposed) continue;
    const { head, tail } = documents.compose(path);
    const digest = (await digestOf(utf8.encode(head + tail))).subarray(0, 16);
    if (digest.join() !== entry.digest.join()) return path;
  }
  return undefined;
};
