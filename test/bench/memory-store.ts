import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// The simplest credible S3 server: it keeps objects in memory and honours conditions, but checks no signatures. An
// upload to it shows what the upload itself can do.

interface Kept {
  readonly etag: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

const objects = new Map<string, Kept>();
const kept = /^(?:content-type|cache-control|x-amz-meta-)/;

const server = createServer((request, response) => {
  const key = (request.url ?? '').split('?')[0] ?? '';
  const object = objects.get(key);
  if (request.method === 'PUT') {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { 'if-match': match, 'if-none-match': none } = request.headers;
      if ((none !== undefined && object !== undefined) || (match !== undefined && match !== object?.etag)) {
        response.writeHead(412).end();
        return;
      }
      const body = Buffer.concat(pieces);
      const etag = `"${createHash('md5').update(body).digest('hex')}"`;
      const headers = Object.entries(request.headers).filter(([name]) => kept.test(name)) as [string, string][];
      objects.set(key, { etag, headers: Object.fromEntries(headers), body });
      response.writeHead(200, { etag }).end();
    });
    return;
  }
  if (request.method === 'DELETE') {
    objects.delete(key);
    response.writeHead(204).end();
    return;
  }
  if (object === undefined) {
    // The list of an empty bucket, or a missing object.
    const isBucket = key.split('/').length === 2;
    response.writeHead(isBucket ? 200 : 404, { 'content-type': 'application/xml' }).end('<ListBucketResult/>');
    return;
  }
  response.writeHead(200, { ...object.headers, etag: object.etag, 'content-length': object.body.length });
  response.end(request.method === 'HEAD' ? undefined : object.body);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`Listening on ${(server.address() as AddressInfo).port}\n`);
});
