import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { Wire } from '../clients/client.ts';

/** A request as it is sent: the target byte for byte, with characters from U+0021 to U+00FF. */
export interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body after decoding its content coding. */
  readonly body: Buffer;
}

const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** An answer with its body decoded. */
export const decoded = ({ body, ...answer }: Received): Received => {
  const decode = decoders[answer.headers['content-encoding'] ?? ''];
  return { ...answer, body: decode && body.length > 0 ? decode(body) : body };
};

/** Sends requests to a server on this port of loopback, over this many kept connections. */
export const openConnections = (port: number, connections = 8) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const send = ({ method, target, headers = {}, body }: Sent): Promise<Received> =>
    new Promise((resolve, reject) => {
      // For some methods node sends a body without its length.
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const options = { host: '127.0.0.1', port, method, path: target, headers: { ...headers, ...length }, agent };
      const asking = request(options, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          resolve(decoded({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }));
        });
      });
      asking.on('error', reject);
      asking.end(body);
    });
  return { send, close: () => agent.destroy() };
};

/** The requests of programs that decode JSON. Targets are sent in UTF-8, encoded or not. */
export const wireOf = (send: (sent: Sent) => Promise<Received>): Wire => {
  const ask = async (sent: Sent) => {
    const { status, body } = await send({ ...sent, target: Buffer.from(sent.target).toString('latin1') });
    return { status, body: JSON.parse(body.toString()), size: body.length };
  };
  return {
    get: (target) => ask({ method: 'GET', target }),
    post: (target, headers, body) => ask({ method: 'POST', target, headers, body }),
  };
};

/** The same over connections to a server on this port of loopback. */
export const openWire = (port: number): Wire & { close(): void } => {
  const { send, close } = openConnections(port);
  return { ...wireOf(send), close };
};
