import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import path from 'node:path';
import S3rver from '@20minutes/s3rver';

/** The credentials that the server accepts from everybody. */
export const storeCredentials = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' } as const;
export const bucket = 'publications';

/** A request for an object or, if the key is empty, for the bucket. */
export interface StoreRequest {
  readonly method: string;
  readonly key: string;
  readonly headers: IncomingMessage['headers'];
}

/** An answer that refuses a request. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly headers?: Record<string, string>;
  /** Further elements of the answer. */
  readonly more?: string;
  /** The answer, if it is no error of a store. */
  readonly body?: string;
}

const suffix = '._S3rver_object';

function* keysBelow(folder: string, below = ''): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) yield* keysBelow(path.join(folder, entry.name), `${below}${entry.name}/`);
    else if (entry.name.endsWith(suffix)) yield `${below}${entry.name.slice(0, -suffix.length)}`;
  }
}

/**
 * An S3 server on loopback that keeps objects as files, checks signatures and allows anybody to read. The package is
 * extended so that objects appear whole and a PUT's conditions are honoured, as in all common stores; both can be
 * turned off.
 */
export class ObjectStoreServer {
  readonly requests: StoreRequest[] = [];
  /** Called with each request; undefined lets it pass. */
  refuse: ((request: StoreRequest, nth: number) => Refusal | undefined) | undefined;
  knowsConditions = true;
  /** Called with each request that `refuse` let pass. It is answered once the promise settles. */
  delay: ((request: StoreRequest) => Promise<unknown> | undefined) | undefined;
  readonly #folder: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #store: S3rver['store'];
  readonly #last = new Map<string, Promise<unknown>>();

  private constructor(folder: string, s3: S3rver) {
    this.#folder = path.join(folder, bucket);
    this.#store = s3.store;
    const answer = s3.callback();
    this.#server = createServer((request, response) => this.#answer(request, response, answer));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(folder: string): Promise<ObjectStoreServer> {
    const configureBuckets = [{ name: bucket }];
    const s3 = new S3rver({ directory: folder, silent: true, vhostBuckets: false, configureBuckets });
    await s3.configureBuckets();
    const put = s3.store.putContent.bind(s3.store);
    let serial = 0;
    s3.store.putContent = async (file, content) => {
      const temporary = path.join(folder, `${serial++}.tmp`);
      try {
        const result = await put(temporary, content);
        renameSync(temporary, file);
        return result;
      } finally {
        rmSync(temporary, { force: true });
      }
    };
    const server = new ObjectStoreServer(folder, s3);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The address at which anybody can read the bucket. */
  get base(): string {
    return `${this.endpoint}/${bucket}`;
  }

  keys(): string[] {
    return [...keysBelow(this.#folder)].sort();
  }

  /** The content of an object; undefined if it does not exist. */
  read(key: string): Buffer | undefined {
    const file = path.join(this.#folder, `${key}${suffix}`);
    return existsSync(file) ? readFileSync(file) : undefined;
  }

  /** Forgets the requests so far, and returns the keys of those with this method, in order. */
  take(method: string): string[] {
    return this.requests
      .splice(0)
      .filter((request) => request.method === method)
      .map(({ key }) => key);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse, answer: RequestListener): void {
    const url = new URL(request.url ?? '', 'http://store');
    const key = decodeURIComponent(url.pathname).slice(bucket.length + 2);
    const { method = '', headers } = request;
    const asked = { method, key, headers };
    this.requests.push(asked);
    const refusal = this.refuse?.(asked, this.requests.length);
    if (refusal !== undefined) {
      refuse(request, response, refusal);
      return;
    }
    const delay = this.delay?.(asked);
    if (delay === undefined) this.#keep(request, response, answer, key);
    else delay.then(() => this.#keep(request, response, answer, key));
  }

  #keep(request: IncomingMessage, response: ServerResponse, answer: RequestListener, key: string): void {
    const { method, headers } = request;
    // Requests for the bucket itself concern many objects, so they do not take turns.
    if (key === '') {
      answer(request, response);
      return;
    }
    const { 'if-match': match, 'if-none-match': none } = headers;
    const ended = new Promise<void>((resolve) => response.once('close', resolve));
    // Requests for one object take turns. So if two expect the same state only one succeeds, and no reader gets the
    // length of one version with the bytes of the next.
    const before = this.#last.get(key) ?? Promise.resolve();
    const turn = before.then(async () => {
      const isConditional = method === 'PUT' && this.knowsConditions && (match !== undefined || none !== undefined);
      const isMet = !isConditional || (await this.#etagOf(key)) === match;
      if (isMet) answer(request, response);
      else refuse(request, response, { status: 412, code: 'PreconditionFailed' });
      await ended;
    });
    this.#last.set(key, turn);
  }

  #etagOf(key: string): Promise<string | undefined> {
    return this.#store.getMetadata(bucket, key).then(
      ({ etag }) => etag,
      () => undefined,
    );
  }
}

const refuse = (
  request: IncomingMessage,
  response: ServerResponse,
  { status, code, headers = {}, more = '', body: other }: Refusal,
): void => {
  request.resume();
  const error = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>as the test wants it</Message>${more}</Error>`;
  const body = other ?? error;
  response.writeHead(status, { 'content-type': 'application/xml', ...headers });
  response.end(request.method === 'HEAD' ? undefined : body);
};
