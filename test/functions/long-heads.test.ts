import { afterEach, describe, expect, it } from 'vitest';
import type { ServerLimits } from '../../functions/node/limits.ts';
import { patience } from '../support/patience.ts';
import { exchange, openSocket, readToEnd } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

let server: TestServer;
afterEach(() => server.close());
const start = async (limits: Partial<ServerLimits>, trustedProxies = 0) => {
  server = await startTestServer({ limits, trustedProxies });
};

const long = `GET /v2/livez?${'a'.repeat(60_000)}`;
const end = ' HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const ask = async (head = long) => (await exchange(server.port, head + end)).slice(9, 12);

/** A connection with a long head that does not end. */
const begin = async () => {
  const socket = await openSocket(server.port);
  const answer = readToEnd(socket);
  socket.write(long);
  return { socket, answer };
};

describe('H10 long heads', () => {
  it.each([
    ['clientLongHeads', '429', { clientLongHeads: 100_000 }],
    ['longHeads', '503', { longHeads: 100_000 }],
  ] as const)('take no more room than %s has, and are refused with %s beyond', async (limit, status, limits) => {
    await start(limits);
    expect(await ask()).toBe('200');
    const first = await begin();
    // The second finds no room once the first has been read.
    await expect.poll(() => ask(), patience).toBe(status);
    expect(await exchange(server.port, long + end)).toMatch(/\r\nRetry-After: [15]\r\n/);
    expect(await ask('GET /v2/livez')).toBe('200');
    expect(server.refusals[limit]).toBeGreaterThan(0);
    first.socket.write(end);
    expect((await first.answer).slice(9, 12)).toBe('200');
    expect(await ask()).toBe('200');

    const { socket } = await begin();
    await expect.poll(() => ask(), patience).toBe(status);
    socket.destroy();
    await expect.poll(() => ask(), patience).toBe('200');
  });

  it('of everybody behind a proxy of ours take the room for all, because its connections are of many', async () => {
    await start({ clientLongHeads: 60_000, longHeads: 150_000 }, 1);
    const two = [await begin(), await begin()];
    await expect.poll(() => ask(), patience).toBe('503');
    for (const { socket } of two) socket.write(end);
    for (const { answer } of two) expect((await answer).slice(9, 12)).toBe('200');
  });

  it('give their room back with each answer on a connection that stays', async () => {
    await start({ clientLongHeads: 100_000 });
    const socket = await openSocket(server.port);
    const answer = readToEnd(socket);
    for (let count = 0; count < 4; count++) socket.write(`${long} HTTP/1.1\r\nHost: a\r\n\r\n`);
    socket.write(`GET /v2/livez${end}`);
    expect((await answer).match(/HTTP\/1\.1 \d+/g)).toEqual(Array.from({ length: 5 }, () => 'HTTP/1.1 200'));
  });
});
