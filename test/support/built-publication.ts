import { hash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { readCatalogDigest } from '../../src/catalog/soundness.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import {
  type Generation,
  generationPath,
  generationSchema,
  tellsOfGenerations,
} from '../../src/contract/generation.ts';
import { listFiles } from '../../src/publication/folder-entries.ts';
import { type GenerationInput, publishGeneration } from '../../src/publication/generation.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { publishPortions, removeOldPortions } from '../../src/publication/portions.ts';
import { publishBuild } from './built.ts';
import { base, type SourceRepository } from './catalog.ts';
import { temporaryFolder } from './folder.ts';

/** Publishes real builds, each as a generation. */
export class BuiltPublication {
  readonly folder: string;
  readonly state: string;
  /** The clock of the builds. */
  now = new Date('2026-05-02T00:00:00Z');
  /** The public address of the builds. */
  address = base;
  /** Whether catalogs are also published as rows. */
  hasPortions = false;

  /** By default in a folder that is removed after the test. */
  constructor(parent = temporaryFolder()) {
    this.folder = path.join(parent, 'dist');
    this.state = path.join(parent, 'state');
  }

  /** Builds these repositories and publishes the result. */
  async publish(
    repositories: readonly SourceRepository[],
    options: Partial<GenerationInput> = {},
  ): Promise<Generation> {
    this.now = new Date(this.now.getTime() + 60_000);
    const { folder, state, now } = this;
    const output = new OutputFolder(folder);
    await publishBuild(
      repositories,
      { folder, state, write: output.write.bind(output), remove: () => {} },
      now,
      this.address,
    );
    const digest = await readCatalogDigest(state);
    const portions = this.hasPortions ? this.#publishPortions(output, digest.sha256) : undefined;
    const { generation, isNew } = await publishGeneration({
      output,
      state,
      now,
      catalog: { file: catalogPath(state), ...digest },
      paths: [...this.files(), ...(portions?.files ?? [])],
      portions: portions?.list,
      isTouched: undefined,
      packages: [],
      ...options,
    });
    if (isNew) removeOldPortions(output, portions);
    return generation;
  }

  #publishPortions(output: OutputFolder, sha256: string) {
    const database = CatalogFile.openReadOnly(catalogPath(this.state));
    try {
      return publishPortions(output, { database, sha256 });
    } finally {
      database.close();
    }
  }

  /** The paths of all published files; those about generations only on request. */
  files(withGenerations = false): string[] {
    return [...listFiles(this.folder)].filter(
      (file) => !file.startsWith('.') && (withGenerations || !tellsOfGenerations(file)),
    );
  }

  read(file: string): Buffer {
    return readFileSync(path.join(this.folder, file));
  }

  get current(): Generation {
    return generationSchema.parse(JSON.parse(this.read(generationPath.current).toString()));
  }
}

/** An answer instead of the file: other bytes, or written by hand. */
type Interception = Buffer | ((response: ServerResponse, request: IncomingMessage) => void) | undefined;

/** A static host for a folder, with entity tags. A test can replace single answers. */
export class FileOrigin {
  /** The requested paths, in order. */
  asked: string[] = [];
  /** The statuses that were answered, in order. */
  statuses: number[] = [];
  intercept: ((file: string) => Interception) | undefined;
  folder: string;
  readonly #server = createServer((request, response) => this.#answer(request, response));

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Listens, on the former port if there was one. */
  async open(): Promise<this> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }
  #port = 0;

  get address(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Closes all connections and refuses new ones. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const file = decodeURIComponent((request.url ?? '').slice(1));
    this.asked.push(file);
    response.once('finish', () => this.statuses.push(response.statusCode));
    const other = this.intercept?.(file);
    if (typeof other === 'function') {
      other(response, request);
      return;
    }
    const target = path.join(this.folder, file);
    if (other === undefined && !existsSync(target)) return void response.writeHead(404).end();
    const body = other ?? readFileSync(target);
    const etag = `"${hash('sha256', body).slice(0, 16)}"`;
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
    response.writeHead(200, { 'content-length': body.length, etag }).end(body);
  }
}
