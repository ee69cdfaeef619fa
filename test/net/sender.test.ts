import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createSender } from '../../src/net/sender.ts';

/** A sender, and the origin of a server that answers so; both end with the test. */
const begin = async (answer: RequestListener) => {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sender = createSender({ connections: 1 });
  onTestFinished(async () => {
    await sender.close();
    server.close();
  });
  return { sender, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

it('what a server says in two lines of one header is one text', async () => {
  const { sender, origin } = await begin((_request, response) => {
    response.writeHead(200, ['X-Amz-Meta', 'a', 'X-Amz-Meta', 'b', 'ETag', '"e"']).end('body');
  });
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
  const { sender, origin } = await begin((_request, response) => response.end('body'));
  const send = (answerBytes: number) =>
    sender.send({ method: 'GET', origin, path: '/', headers: {}, timeoutMs: 60_000, answerBytes });
  expect((await send(4)).body.toString()).toBe('body');
  await expect(send(3)).rejects.toMatchObject({ code: 'too-large' });
});
