import { Hono } from 'hono';
import { afterEach, expect, it } from 'vitest';
import type { Environment } from '../../functions/environment.ts';
import { type RunningServer, startServer } from '../../functions/node/server.ts';

// What a host answers by itself it decides by the headers of the app's answers alone.

let server: RunningServer;
afterEach(() => server.close());

const start = async (answer: () => Response) => {
  let asked = 0;
  const app = new Hono<Environment>().get('/a', () => {
    asked++;
    return answer();
  });
  const options = { app, host: '127.0.0.1', port: 0, now: () => new Date(), trustedProxies: 0 };
  // A stamp that stays as it is: no build comes.
  server = await startServer({ ...options, answerMemory: 2 ** 20, stamp: import.meta.filename });
  return { ask: (target: string) => fetch(`http://127.0.0.1:${server.port}${target}`), timesAsked: () => asked };
};

/** How often the app is asked for an address that is asked for three times, when it answers with these headers. */
const timesAsked = async (headers: Record<string, string>, { status = 200, target = '/a' } = {}): Promise<number> => {
  const { ask, timesAsked } = await start(() => new Response(new TextEncoder().encode('some'), { status, headers }));
  for (let time = 0; time < 3; time++) {
    const answer = await ask(target);
    expect([answer.status, await answer.text()]).toEqual([status, 'some']);
  }
  return timesAsked();
};

const shared = { 'Cache-Control': 'public, max-age=60', 'Content-Length': '4' };
const streamed = () =>
  new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode('streamed'));
      controller.close();
    },
  });

it.each([
  ['a published file', { ...shared, ETag: '"x"' }],
  ['one in a coding of several', { ...shared, ETag: '"x"', Vary: 'Accept-Encoding' }],
])('H7 the app is asked once for %s', async (_, headers) => {
  expect(await timesAsked(headers)).toBe(1);
});

it.each([
  ['what is computed and may be shared', shared],
  [
    'names in any letter case',
    { 'cache-control': 'Public, Max-Age=60', vary: 'accept-encoding', 'content-length': '4' },
  ],
])('H7 the app is asked until it is clear that it is asked again, for %s', async (_, headers) => {
  expect(await timesAsked(headers)).toBe(2);
});

it.each([
  ['what may not be kept', { 'Cache-Control': 'no-store' }],
  ['what says nothing of caches', {}],
  ['what is for one client', { 'Cache-Control': 'private, max-age=60' }],
  ['what is over at once', { 'Cache-Control': 'public, max-age=0' }],
  ['what sets a cookie', { ...shared, 'Set-Cookie': 'a=b' }],
  ['what depends on more than the coding', { ...shared, ETag: '"x"', Vary: 'Accept, Accept-Encoding' }],
  ['what depends on everything', { ...shared, Vary: '*' }],
  ['what does not state its length', { 'Cache-Control': 'public, max-age=60', ETag: '"x"' }],
])('H7 the app is asked each time for %s', async (_, headers: Record<string, string>) => {
  expect(await timesAsked(headers)).toBe(3);
});

it('H7 the app is asked each time for an error, and for a file under ever another query', async () => {
  expect(await timesAsked(shared, { status: 404 })).toBe(3);
  await server.close();
  expect(await timesAsked({ ...shared, ETag: '"x"' }, { target: '/a?x=1' })).toBe(3);
});

it('H7 an answer that comes in pieces is not taken for a whole one', async () => {
  const { ask, timesAsked } = await start(
    () => new Response(streamed(), { headers: { 'Cache-Control': 'public, max-age=60', ETag: '"x"' } }),
  );
  for (let time = 0; time < 3; time++) expect(await (await ask('/a')).text()).toBe('streamed');
  expect(timesAsked()).toBe(3);
});
