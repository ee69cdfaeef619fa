import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** For how many milliseconds a reading is reused for other readers, so that nobody can keep the server busy with it. */
const keptFor = 250;

/** Where metrics are read. */
export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

const answer = (response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void => {
  const body = Buffer.from(text);
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(body.length),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
  response.end(response.req.method === 'HEAD' ? undefined : body);
};

/**
 * Answers `GET /metrics` at an address of its own with what `read` returns, and nothing else. It is for a few readers
 * of the operator: 8 connections, short heads, a few seconds. Rejects if it cannot listen on the address.
 */
export const startMetricsServer = async (
  { host, port }: { readonly host: string; readonly port: number },
  { contentType, read, report }: { contentType: string; read: () => Promise<string>; report: (error: unknown) => void },
): Promise<MetricsServer> => {
  let last: { readonly at: number; readonly text: Promise<string> } | undefined;
  const readOnce = (): Promise<string> => {
    const at = performance.now();
    if (last === undefined || at - last.at > keptFor) last = { at, text: read() };
    return last.text;
  };
  const server = createServer(
    { maxHeaderSize: 8 * 1024, headersTimeout: 5000, requestTimeout: 5000, keepAliveTimeout: 5000 },
    (request, response) => {
      // A body is discarded, and the answer does not wait for it.
      request.resume();
      if (request.url?.split('?')[0] !== '/metrics') return answer(response, 404, 'Only /metrics is here\n');
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        return answer(response, 405, 'This address answers GET and HEAD\n', { Allow: 'GET, HEAD' });
      }
      readOnce().then(
        (text) => answer(response, 200, text, { 'Content-Type': contentType }),
        (error) => {
          report(error);
          answer(response, 500, 'The figures cannot be read\n');
        },
      );
    },
  );
  server.maxConnections = 8;
  server.timeout = 10_000;
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
