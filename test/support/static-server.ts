import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.xml': 'application/xml',
  '.atom': 'application/atom+xml',
  '.txt': 'text/plain; charset=utf-8',
};
const compressed = /^(?:text|application\/(?:json|xml|atom)|image\/svg)/;

/** A plain static host on loopback, with index.html of folders, 404.html and gzip. It counts requests by path. */
export interface StaticServer {
  readonly base: string;
  readonly requests: string[];
  close(): Promise<void>;
}

/** Serves a folder, at the root of the host or below a path. */
export const serveFolder = async (folder: string, below = ''): Promise<StaticServer> => {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const asked = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    requests.push(asked);
    const pathname = asked.startsWith(`${below}/`) ? asked.slice(below.length) : '/not below the path';
    const name = path.join(folder, path.posix.normalize(pathname), pathname.endsWith('/') ? 'index.html' : '');
    let status = 200;
    let body = await readFile(name).catch(() => undefined);
    let type = types[path.extname(name)] ?? 'application/octet-stream';
    if (body === undefined) {
      status = 404;
      body = await readFile(path.join(folder, '404.html')).catch(() => Buffer.from('not found'));
      type = types['.html'] ?? '';
    }
    const headers: Record<string, string> = { 'content-type': type, 'cache-control': 'max-age=300' };
    if (compressed.test(type) && body.length > 200 && /gzip/.test(request.headers['accept-encoding'] ?? '')) {
      body = gzipSync(body);
      headers['content-encoding'] = 'gzip';
    }
    response.writeHead(status, { ...headers, 'content-length': String(body.length) });
    response.end(request.method === 'HEAD' ? undefined : body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
};
