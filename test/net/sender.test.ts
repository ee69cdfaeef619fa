import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createSender } from '../../src/net/sender.ts';

it('what a server says in two lines of one header is one text', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, ['X-Amz-Meta', 'a', 'X-Amz-Meta', 'b', 'ETag', '"e"']).end('body');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sender = createSender({ connections: 1 });
  onTestFinished(async () => {
    await sender.close();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { status, headers, body } = await sender.send({
    ...{ method: 'GET', origin, path: '/', headers: {}, timeoutMs: 60_000 },
  });
  expect([status, headers['x-amz-meta'], headers.etag, body.toString()]).toEqual([200, 'a, b', '"e"', 'body']);
});
