import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { timesFrom } from '../support/longer-runs.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';
import { openConnections } from '../support/wire.ts';

let server: TestServer;
let connections: ReturnType<typeof openConnections>;
beforeAll(async () => {
  server = await startTestServer();
  // Beside what is published, not in it; and in it, under a name that is nobody's to ask for.
  server.write('../state/secret.json', '{"canary":"secret"}');
  server.write('.own/secret.json', '{"canary":"secret"}');
  connections = openConnections(server.port);
});
afterAll(async () => {
  connections.close();
  await server.close();
});

const get = async (target: string) => {
  const { status, body } = await connections.send({ method: 'GET', target, headers: { accept: 'application/json' } });
  return { status, text: body.toString().replace(/"date":"[^"]+"/g, '') };
};

const tricks = [
  '//',
  '/./',
  '/../',
  '/x/../',
  '/%2e/',
  '/%2e%2e/',
  '/.%2E/',
  '%2F',
  '%5C',
  '\\',
  '/%00',
  '%00',
  '%ff',
  '%',
  '/;/',
  '%20',
  '%C0%AE%C0%AE/',
  '/%252e%252e/',
  '#',
  '?',
];
const targets = [
  '/v2/jailbreak/package/com.example.one',
  '/v2/jailbreak/repository/sample/packages',
  '/v2/openapi.json',
  '/v2/index.json',
  '/privacy/',
  '/state/secret.json',
];

describe('H3 tricks with paths', () => {
  it('get the decision of the canonical path or a 4xx, and reach nothing that is not published', async () => {
    const answers = new Map<string, Awaited<ReturnType<typeof get>>>();
    for (const target of [...targets, '/', '/v2/', '/v2']) answers.set(target, await get(target));
    const arbitrary = fc.record({
      target: fc.constantFrom(...targets),
      inserted: fc.array(fc.tuple(fc.nat(40), fc.constantFrom(...tricks)), { minLength: 1, maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ target, inserted }) => {
        let tricked = target;
        for (const [at, trick] of inserted) tricked = tricked.slice(0, at) + trick + tricked.slice(at);
        if (!tricked.startsWith('/')) tricked = `/${tricked}`;
        const { status, text } = await get(tricked);
        expect(text).not.toContain('canary');
        if (status >= 400 && status < 500) return;
        const { pathname } = new URL(`http://host${tricked.replaceAll('#', '%23')}`);
        // What is left is another way to write a path, and answered as that path is.
        const canonical = answers.get(pathname) ?? (await get(pathname));
        expect({ status, text }, tricked).toEqual(canonical);
        expect([200, 308]).toContain(status);
      }),
      { numRuns: timesFrom('DEBDEX_TEST_SEQUENCES', 1000) },
    );
    expect(server.faults).toEqual([]);
  });

  it('know an address by any letter of it that is escaped', async () => {
    const plain = await get('/v2/jailbreak/package/com.example.one');
    expect(plain.status).toBe(200);
    expect(await get('/v2/%6Aailbreak/%70ackage/com%2eexample.one')).toEqual(plain);
    const search = await get('/v2/jailbreak/package/search?q=one');
    expect(search.status).toBe(200);
    expect(await get('/v2/jailbreak/package/s%65arch?q=one')).toEqual(search);
  });

  it.each(['catalog', 'changes', 'inventory', 'portions', 'signatures'])(
    'lead out of the folder %s of what tells of generations to nothing else that stands on the disk',
    async (folder) => {
      server.write(`v2/${folder}/1.json`, '{}');
      expect(await get(`/v2/${folder}/1.json`)).toEqual({ status: 200, text: '{}' });
      for (const rest of ['..%2F..%2F.own%2Fsecret.json', '..%2Findex.json', '.%2F1.json', '1.json%2F..%2F1.json'])
        expect(await get(`/v2/${folder}/${rest}`), rest).toMatchObject({ status: 404 });
    },
  );
});
