import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RepositoryFiles } from './apt-repository.ts';
import type { Certificate } from './certificates.ts';

/** A way in which an origin answers wrongly. */
export type Fault =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body?: string;
    }
  | { readonly kind: 'body'; readonly body: Uint8Array | string; readonly headers?: Record<string, string> }
  | { readonly kind: 'redirect'; readonly location: string; readonly status?: number }
  /** Closes the connection after this many bytes of the body, although more were announced. */
  | { readonly kind: 'cut'; readonly after: number }
  /** Resets the connection instead of answering. */
  | { readonly kind: 'reset' }
  /** Answers without a length and ends the body by closing the connection, after this many bytes if given. */
  | { readonly kind: 'unframed'; readonly after?: number }
  /** Bytes without end. */
  | { readonly kind: 'endless'; readonly chunk?: Uint8Array; readonly headers?: Record<string, string> }
  /** This many bytes of the body, and then nothing more. */
  | { readonly kind: 'stall'; readonly after: number }
  /** One byte of the body in each interval. */
  | { readonly kind: 'slow'; readonly intervalMs: number }
  /** Accepts the request and never answers. */
  | { readonly kind: 'silent' }
  /** One byte of the headers in each interval. */
  | { readonly kind: 'slow-headers'; readonly intervalMs: number }
  /** A header of this many bytes. */
  | { readonly kind: 'giant-headers'; readonly bytes: number }
  /** Bytes that are not HTTP. */
  | { readonly kind: 'no-http'; readonly text: string };

/** Answers with this status and an empty body. */
export const statusFault = (status: number, headers: Record<string, string> = {}): Fault => ({
  kind: 'status',
  status,
  headers,
});

/** What many origins answer instead of a file. */
export const webPage = '<!DOCTYPE html><html><body>Please pay</body></html>';

/** A request as it was received. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
}

/**
 * An HTTP server on loopback with whole repositories, each below a prefix of the path. It answers conditional requests
 * as a web server does, breaks single answers on demand and records every request.
 */
export class OriginServer {
  readonly requests: RecordedRequest[] = [];
  /** The most connections that were open at once. */
  greatestOpen = 0;
  readonly #files = new Map<string, { bytes: Uint8Array; modified: Date }>();
  readonly #faults = new Map<string, Fault | ((request: IncomingMessage, nth: number) => Fault | undefined)>();
  readonly #counts = new Map<string, number>();
  readonly #sockets = new Set<Socket>();
  readonly #server: ReturnType<typeof createServer>;
  readonly #scheme: 'http' | 'https';
  /** The delay before every answer, in milliseconds. */
  latencyMs = 0;
  /** Whether files have an ETag, and whether they have a Last-Modified date. */
  validators = { etag: true, lastModified: true };

  private constructor(certificate?: Certificate) {
    const answer: RequestListener = (request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    };
    const options = { keepAliveTimeout: 5000 };
    this.#scheme = certificate ? 'https' : 'http';
    this.#server = certificate
      ? createTlsServer({ ...options, ...certificate }, answer)
      : createServer(options, answer);
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      this.greatestOpen = Math.max(this.greatestOpen, this.#sockets.size);
      socket.on('error', () => {});
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  /** Starts a server on `address`, a loopback address. With a certificate it uses TLS. */
  static async start(address = '127.0.0.1', certificate?: Certificate, port = 0): Promise<OriginServer> {
    const origin = new OriginServer(certificate);
    origin.#server.listen(port, address);
    await once(origin.#server, 'listening');
    return origin;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The address of the repository with this prefix, without a trailing slash. */
  uri(prefix = ''): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return `${this.#scheme}://${address}:${port}${prefix === '' ? '' : `/${prefix}`}`;
  }

  /** Serves `files` below `prefix` and nothing else there. Files that have not changed keep their date. */
  serve(prefix: string, files: RepositoryFiles): void {
    const root = prefix === '' ? '' : `/${prefix}`;
    for (const path of this.#files.keys()) {
      if (path.startsWith(`${root}/`) && !files.has(path.slice(root.length))) this.#files.delete(path);
    }
    for (const [path, bytes] of files) this.put(root + path, bytes);
  }

  /** Serves one file. */
  put(path: string, bytes: Uint8Array | string): void {
    const next = Buffer.from(bytes);
    const known = this.#files.get(path);
    if (known && next.equals(known.bytes)) return;
    // Dates only have whole seconds, but two versions of a file must differ.
    const modified = new Date(known ? known.modified.getTime() + 1000 : Date.UTC(2026, 0, 1));
    this.#files.set(path, { bytes: next, modified });
  }

  remove(path: string): void {
    this.#files.delete(path);
  }

  /**
   * Answers requests for `path` with a fault: all of them, or those for which the function (given the count so far)
   * returns one.
   */
  break(path: string, fault: Fault | ((request: IncomingMessage, nth: number) => Fault | undefined)): void {
    this.#faults.set(path, fault);
    this.#counts.delete(path);
  }

  mend(path?: string): void {
    if (path === undefined) this.#faults.clear();
    else this.#faults.delete(path);
  }

  /** Whether there may be a fault that a client can only notice by a time limit. */
  get makesWait(): boolean {
    const kinds: readonly string[] = ['stall', 'slow', 'silent', 'slow-headers'] satisfies Fault['kind'][];
    return [...this.#faults.values()].some((fault) => typeof fault === 'function' || kinds.includes(fault.kind));
  }

  /** Forgets the requests so far. */
  reset(): void {
    this.requests.length = 0;
    this.greatestOpen = this.#sockets.size;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://origin').pathname);
    if (this.latencyMs > 0) await sleep(this.latencyMs);
    const nth = (this.#counts.get(path) ?? 0) + 1;
    this.#counts.set(path, nth);
    const fault = this.#faults.get(path);
    const chosen = typeof fault === 'function' ? fault(request, nth) : fault;
    const index = this.requests.length;
    const record = (status: number) => {
      this.requests[index] = { method: request.method ?? '', path, status, headers: request.headers };
    };
    record(0);
    response.on('close', () => record(response.headersSent ? response.statusCode : 0));
    if (chosen) await answerFault(chosen, response, this.#files.get(path)?.bytes ?? new Uint8Array());
    else this.#answerFile(request, response, path);
  }

  #answerFile(request: IncomingMessage, response: ServerResponse, path: string): void {
    const file = this.#files.get(path);
    if (!file) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
      return;
    }
    const etag = `"${hash('sha256', file.bytes).slice(0, 16)}"`;
    const headers = {
      ...(this.validators.etag ? { etag } : {}),
      ...(this.validators.lastModified ? { 'last-modified': file.modified.toUTCString() } : {}),
    };
    if (this.#isUnchanged(request, etag, file.modified)) {
      response.writeHead(304, headers).end();
      return;
    }
    response.writeHead(200, { ...headers, 'content-length': file.bytes.length }).end(file.bytes);
  }

  // RFC 9110, section 13.2.2: if If-None-Match is present, it decides.
  #isUnchanged(request: IncomingMessage, etag: string, modified: Date): boolean {
    const match = request.headers['if-none-match'];
    if (match !== undefined) return this.validators.etag && match === etag;
    const since = Date.parse(request.headers['if-modified-since'] ?? '');
    return this.validators.lastModified && since >= modified.getTime();
  }
}

const answerFault = async (fault: Fault, response: ServerResponse, bytes: Uint8Array): Promise<void> => {
  const { socket } = response;
  switch (fault.kind) {
    case 'status':
      response.writeHead(fault.status, fault.headers).end(fault.status === 304 ? undefined : (fault.body ?? 'no'));
      return;
    case 'body':
      response.writeHead(200, { 'content-length': Buffer.byteLength(fault.body), ...fault.headers }).end(fault.body);
      return;
    case 'redirect':
      response.writeHead(fault.status ?? 302, { location: fault.location }).end();
      return;
    case 'cut':
      response.writeHead(200, { 'content-length': bytes.length }).flushHeaders();
      response.write(bytes.subarray(0, fault.after), () => socket?.end());
      return;
    case 'reset':
      socket?.destroy();
      return;
    case 'unframed':
      socket?.end(
        Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n'), bytes.subarray(0, fault.after)]),
      );
      return;
    case 'endless': {
      response.writeHead(200, fault.headers);
      const chunk = fault.chunk ?? Buffer.alloc(65_536, 'x\n');
      while (!response.destroyed) if (!response.write(chunk)) await drained(response);
      return;
    }
    case 'stall':
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, fault.after));
      return;
    case 'slow':
      response.writeHead(200, { 'content-length': bytes.length });
      await drip(response, bytes, fault.intervalMs, (byte) => response.write(byte));
      response.end();
      return;
    case 'silent':
      return;
    case 'slow-headers':
      await drip(response, Buffer.from(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(10_000)}`), fault.intervalMs, (byte) => {
        socket?.write(byte);
      });
      return;
    case 'giant-headers':
      socket?.end(`HTTP/1.1 200 OK\r\nx-giant: ${'x'.repeat(fault.bytes)}\r\ncontent-length: 0\r\n\r\n`);
      return;
    case 'no-http':
      socket?.end(fault.text);
      return;
  }
};

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
  });

const drip = async (
  response: ServerResponse,
  bytes: Uint8Array,
  intervalMs: number,
  write: (byte: Uint8Array) => void,
): Promise<void> => {
  for (let at = 0; at < bytes.length && !response.destroyed && !response.socket?.destroyed; at++) {
    write(bytes.subarray(at, at + 1));
    await sleep(intervalMs);
  }
};
