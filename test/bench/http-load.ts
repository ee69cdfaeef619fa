import { connect, type Socket } from 'node:net';

/** A request as bytes, so that composing it does not count as part of the measurement. */
export const formatRequest = (
  method: 'GET' | 'POST',
  path: string,
  { headers = {}, body = '' }: { headers?: Readonly<Record<string, string>>; body?: string } = {},
): string => {
  const lines = Object.entries({ Host: 'localhost', 'Content-Length': String(Buffer.byteLength(body)), ...headers });
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
};

/** A connection that sends one request after another, each when the answer has arrived. */
class LoadConnection {
  readonly #socket: Socket;
  #received = '';
  #waiting: ((status: number) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  constructor(base: string) {
    const { hostname, port } = new URL(base);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.setEncoding('latin1').on('data', (text: string) => this.#take(text));
    this.#socket.on('error', (error) => this.#failed?.(error));
    this.#socket.on('close', () => this.#failed?.(new Error('the connection was closed')));
  }

  /** Resolves to the status when the whole answer has arrived. */
  send(request: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting = resolve;
      this.#failed = reject;
      this.#socket.write(request);
    });
  }

  close() {
    this.#failed = undefined;
    this.#socket.destroy();
  }

  #take(text: string) {
    this.#received += text;
    const head = this.#received.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#received.slice(0, head))?.[1] ?? 0);
    if (this.#received.length < head + 4 + length) return;
    const status = Number(this.#received.slice(9, 12));
    this.#received = this.#received.slice(head + 4 + length);
    this.#waiting?.(status);
  }
}

export interface LoadResult {
  readonly perSecond: number;
  /** In milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly statuses: ReadonlyMap<number, number>;
}

/**
 * Sends requests over `connections` connections, divided among the servers, until `next` returns no more or the time is
 * over.
 */
export const runLoad = async (
  bases: readonly string[],
  { connections, seconds, next }: { connections: number; seconds: number; next: () => string | undefined },
): Promise<LoadResult> => {
  const pool = Array.from({ length: connections }, (_, index) => new LoadConnection(bases[index % bases.length] ?? ''));
  const times: number[] = [];
  const statuses = new Map<number, number>();
  const start = performance.now();
  const end = start + seconds * 1000;
  await Promise.all(
    pool.map(async (connection) => {
      for (;;) {
        const begin = performance.now();
        const request = begin < end ? next() : undefined;
        if (request === undefined) return;
        const status = await connection.send(request);
        times.push(performance.now() - begin);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }),
  );
  const elapsed = (performance.now() - start) / 1000;
  for (const connection of pool) connection.close();
  times.sort((one, other) => one - other);
  const quantile = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { perSecond: times.length / elapsed, p50: quantile(0.5), p99: quantile(0.99), statuses };
};
