import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
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
  const [begun, ended] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')];
  const { status, headers, body } = await sender.send({
    ...{ method: 'GET', origin, path: '/', headers: {}, timeoutMs: 54_321 },
  });
  // Its clock would keep the process for as long.
  const clock = begun.mock.results[begun.mock.calls.findIndex(([, milliseconds]) => milliseconds === 54_321)]?.value;
  const isStopped = ended.mock.calls.some(([one]) => one === clock);
  vi.restoreAllMocks();
  expect([typeof clock, isStopped]).toEqual(['object', true]);
  expect([status, headers['x-amz-meta'], headers.etag, body.toString()]).toEqual([200, 'a, b', '"e"', 'body']);
});

it('an answer of as many bytes as are read at most is read, and a longer one is not', async () => {
  const server = createServer((_request, response) => response.end('body')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sender = createSender({ connections: 1 });
  onTestFinished(async () => {
    await sender.close();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const send = (answerBytes: number) =>
    sender.send({ method: 'GET', origin, path: '/', headers: {}, timeoutMs: 60_000, answerBytes });
  expect((await send(4)).body.toString()).toBe('body');
  await expect(send(3)).rejects.toMatchObject({ code: 'too-large' });
});
