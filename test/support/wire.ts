import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { Wire } from '../clients/client.ts';

/** A request as it goes out: the target byte for byte, of characters from U+0021 to U+00FF. */
export interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body, its coding undone. */
  readonly body: Buffer;
}

const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** Sends requests to a server on this port of loopback, over so many connections, which are kept. */
export const openConnections = (port: number, connections = 8) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const send = ({ method, target, headers = {}, body }: Sent): Promise<Received> =>
    new Promise((resolve, reject) => {
      // For some methods node sends a body without saying how long it is.
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const options = { host: '127.0.0.1', port, method, path: target, headers: { ...headers, ...length }, agent };
      const asking = request(options, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const decode = decoders[answer.headers['content-encoding'] ?? ''];
          const whole = decode && bytes.length > 0 ? decode(bytes) : bytes;
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: whole });
        });
      });
      asking.on('error', reject);
      asking.end(body);
    });
  return { send, close: () => agent.destroy() };
};

/** The same for programs that decode JSON. Their targets go out in UTF-8, encoded or not. */
export const openWire = (port: number): Wire & { close(): void } => {
  const { send, close } = openConnections(port);
  const ask = async (sent: Sent) => {
    const { status, body } = await send({ ...sent, target: Buffer.from(sent.target).toString('latin1') });
    return { status, body: JSON.parse(body.toString()), size: body.length };
  };
  return {
    get: (target) => ask({ method: 'GET', target }),
    post: (target, headers, body) => ask({ method: 'POST', target, headers, body }),
    close,
  };
};
