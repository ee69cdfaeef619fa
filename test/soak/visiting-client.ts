import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, zstdDecompress } from 'node:zlib';
import { expectThat, Failure, type Tally } from './tally.ts';

/** An answer, its body decoded. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What to send besides the address. */
export interface Sending {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const decoders: Readonly<Record<string, (body: Buffer) => Promise<Buffer>>> = {
  gzip: promisify<Buffer, Buffer>(gunzip),
  br: promisify<Buffer, Buffer>(brotliDecompress),
  zstd: promisify<Buffer, Buffer>(zstdDecompress),
};

/** Milliseconds after which an answer counts as missing. */
const patience = 30_000;

/** Asks the server over connections that stay open, and counts each request. */
export class Client {
  readonly address: URL;
  readonly #tally: Tally;
  // A server ends idle connections; one that it is about to end must not be used again.
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: 20_000 });

  constructor(address: string, tally: Tally) {
    this.address = new URL(address);
    this.#tally = tally;
  }

  /** Sends one request. Throws a Failure where no whole answer comes, or one whose body is not what its headers say. */
  async send(kind: string, path: string, { method = 'GET', headers = {}, body }: Sending = {}): Promise<Answer> {
    this.#tally.count(kind);
    const begun = performance.now();
    const answer = await this.#exchange(path, method, headers, body).catch((cause: unknown) => {
      throw new Failure(`${method} ${shorten(path)}: ${cause}`, { cause });
    });
    this.#tally.time(performance.now() - begun);
    const what = `${method} ${shorten(path)}: ${answer.status}`;
    const length = answer.headers['content-length'];
    const isEmpty = method === 'HEAD' || answer.status === 304;
    const isWhole = isEmpty || length === undefined || Number(length) === answer.body.length;
    expectThat(isWhole, `${what} with ${answer.body.length} of ${length} bytes`);
    const decode = decoders[answer.headers['content-encoding'] ?? ''];
    if (decode === undefined || isEmpty) return answer;
    const decoded = await decode(answer.body).catch((cause: unknown) => {
      throw new Failure(`${what}, and its body cannot be decoded: ${cause}`, { cause });
    });
    return { ...answer, body: decoded };
  }

  #exchange(path: string, method: string, headers: Sending['headers'], body: string | undefined): Promise<Answer> {
    const { hostname, port } = this.address;
    return new Promise((resolve, reject) => {
      const options = { agent: this.#agent, hostname, port, path, method, headers: { ...headers }, timeout: patience };
      const sent = request(options, (response) => {
        buffer(response).then(
          (received) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: received }),
          reject,
        );
      });
      sent.on('timeout', () => sent.destroy(new Error(`no answer for ${patience / 1000} s`)));
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** Counts a request that is sent in another way. */
  note(kind: string): void {
    this.#tally.count(kind);
  }

  close(): void {
    this.#agent.destroy();
  }
}

const shorten = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path);
