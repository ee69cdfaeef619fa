import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createRateLimiter } from '../../functions/http/rate-limiter.ts';
import { Meter } from '../../functions/node/meter.ts';
import { olderOperations } from '../../src/contract/older-addresses/operations.ts';
import {
  olderCheckAnswerSchema,
  olderErrorSchema,
  olderLandingSchema,
  olderLookupAnswerSchema,
  olderPackageSchema,
  olderPackagesAnswerSchema,
  olderRepositoriesAnswerSchema,
  olderRepositorySchema,
  olderSafetyAnswerSchema,
} from '../../src/contract/older-addresses/records.ts';
import { type BuiltServer, serveBuild } from '../support/built.ts';
import { packages, type SourceRepository } from '../support/catalog.ts';
import { patience } from '../support/patience.ts';
import { startTestServer } from '../support/test-server.ts';

const many = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, number) => ({ Package: `com.${prefix}.n${number}`, Name: `Name ${number}` }));

const sources: SourceRepository[] = [
  {
    slug: 'best',
    ranking: 1,
    aliases: ['former', 'older'],
    release: 'Origin: Best\nVersion: 2.0\n',
    packages: packages(
      {
        Package: 'com.example.snow',
        Name: 'Snow',
        Depiction: 'https://web.example/snow',
        Author: 'A',
        Section: 'Tweaks',
      },
      { Package: 'com.example.odd', Depiction: 'javascript:alert(1)', Icon: 'file:///x.png' },
      { Package: 'com.example.long', Description: 'x'.repeat(30_000) },
      ...many(120, 'best'),
    ),
  },
  {
    slug: 'last',
    ranking: 5,
    release: 'Version: 1\n',
    packages: packages({ Package: 'com.example.snow', Version: '9.0' }),
  },
];

let server: BuiltServer;
beforeAll(async () => {
  server = await serveBuild(sources);
  for (const path of ['v1/openapi.json', 'index-repositories.json', 'piracy-repositories.json'])
    server.write(path, '[]\n');
});
afterAll(() => server.close());

const get = (target: string, init: RequestInit = {}) => fetch(server.address + target, { redirect: 'manual', ...init });
const read = async (target: string) => {
  const answer = await get(target);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};
const community = '/v1/community';

describe('H5 addresses from before /v2', () => {
  it('answer a package field for field, the latest of the best repository, and a notice', async () => {
    const { status, body } = await read(`${community}/packages?id=com.example.snow`);
    expect([status, Object.keys(body)]).toEqual([200, ['notice', 'message', 'date', 'data']]);
    expect(Object.keys(body.notice as object)).toEqual(['api', 'data', 'migration']);
    expect(body.message).toBe('200 OK');
    expect(olderPackageSchema.parse(body.data)).toEqual({
      identifier: 'com.example.snow',
      architecture: 'iphoneos-arm',
      price: 'Free',
      latestVersion: '1.0',
      name: 'Snow',
      description: null,
      author: 'A',
      maintainer: null,
      depiction: 'https://web.example/snow',
      nativeDepiction: null,
      header: expect.stringMatching(/^https:/),
      tintColor: null,
      packageIcon: expect.stringMatching(/^https:/),
      section: 'Tweaks',
      repository: {
        slug: 'best',
        aliases: ['former', 'older'],
        uri: 'https://best.example/',
        version: '2.0',
        suite: './',
        component: null,
        ranking: 1,
        name: 'Best',
      },
    });
    const odd = await read(`${community}/packages?id=com.example.odd`);
    expect(olderPackageSchema.parse(odd.body.data).depiction).toBeNull();
  });

  it('answer a search, an empty one with the first hundred by ranking, and pages of it', async () => {
    const search = async (query: string) =>
      olderPackagesAnswerSchema.parse((await read(`${community}/packages/search?${query}`)).body).data;
    expect((await search('query=snow')).map(({ repository }) => repository?.slug)).toEqual(['best', 'last']);
    const first = await search('query=');
    expect(first).toHaveLength(100);
    expect(new Set(first.map(({ repository }) => repository?.slug))).toEqual(new Set(['best']));
    const second = await search('query=+&page=2');
    expect(second).toHaveLength(24);
    expect(
      new Set([...first, ...second].map(({ identifier, repository }) => `${identifier} ${repository?.slug}`)).size,
    ).toBe(124);
    expect(await search('query=&page=99999999999999999999')).toEqual([]);
    expect(await search('query=n&limit=7')).toHaveLength(7);
    expect(await search('query=%F0%9F%8E%89')).toEqual([]);
    expect(await search('query=snow&responseFields=name,repository.uri,__proto__,repository.nothing')).toEqual([
      { name: 'Snow', repository: { uri: 'https://best.example/' } },
      { name: null, repository: { uri: 'https://last.example/' } },
    ]);
  });

  it('answer repositories by text and by ranking, and name by its host what has no name', async () => {
    const search = async (query: string) =>
      olderRepositoriesAnswerSchema.parse((await read(`${community}/repositories/search?${query}`)).body).data;
    const slugs = async (query: string) => (await search(query)).map(({ slug }) => slug);
    for (const query of ['query=', 'ranking=1,5', 'ranking=*', 'query=&ranking=5,1', 'query=example']) {
      expect([query, await slugs(query)]).toEqual([query, ['best', 'last']]);
    }
    expect(await slugs('ranking=5')).toEqual(['last']);
    expect(await slugs('ranking=2,3')).toEqual([]);
    expect(await slugs('query=example&ranking=5')).toEqual(['last']);
    expect(await slugs('query=example&ranking=2')).toEqual([]);
    expect(await slugs('query=best&ranking=5')).toEqual([]);
    expect(await slugs('query=&limit=1&page=2')).toEqual(['last']);
    expect(await slugs('query=example&limit=1&page=2')).toEqual(['last']);
    const [, last] = await search('query=');
    expect(olderRepositorySchema.parse(last)).toMatchObject({ name: 'last.example', version: '1' });
  });

  it('look several packages up, each once and in the order asked, without those that are unknown', async () => {
    const target = `${community}/packages/lookup?packages=com.example.odd,none,com.example.snow,com.example.odd`;
    const answer = await get(target);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { data } = olderLookupAnswerSchema.parse(await answer.json());
    expect(data.map(({ package: id, fields }) => [id, fields.map(({ identifier }) => identifier)])).toEqual([
      ['com.example.odd', ['com.example.odd']],
      ['com.example.snow', ['com.example.snow']],
    ]);
    expect((await read(`${community}/packages/lookup?packages=none`)).body.data).toEqual([]);
  });

  it('judge addresses as they stand there: a word for one, a list for several, a record for a check', async () => {
    const safety = async (query: string) =>
      olderSafetyAnswerSchema.parse((await read(`${community}/repositories/safety?${query}`)).body).data;
    expect(await safety('query=https://Unsafe.test/A')).toBe('unsafe');
    expect(await safety('query=https://safe.test/')).toBe('safe');
    const listed = { repositoryURI: 'https://Unsafe.test/A', status: 'unsafe' };
    const safe = { repositoryURI: 'https://safe.test', status: 'safe' };
    expect(await safety('queries=https://Unsafe.test/A,https://safe.test')).toEqual([listed, safe]);
    expect(await safety('queries=')).toEqual([]);
    const check = async (query: string) =>
      olderCheckAnswerSchema.parse((await read(`${community}/repositories/check?${query}`)).body);
    expect(await check('query=https://Unsafe.test/A')).toMatchObject({ status: 'Successful', data: listed });
    expect(await check('queries=https://Unsafe.test/A,https://safe.test')).toMatchObject({ data: [listed, safe] });
    expect((await read(`${community}/repositories/check?queries=${'a,'.repeat(250)}`)).status).toBe(400);
  });

  it('say who runs it', async () => {
    const [slashed, bare] = [await read('/v1/'), await read('/v1')];
    const { data } = olderLandingSchema.parse(slashed.body);
    expect(olderLandingSchema.parse(bare.body).data).toEqual(data);
    expect(data).toMatchObject({ name: 'Debdex', reference: { contact_email: 'index@index.test' } });
  });

  it('redirect to http and https addresses alone', async () => {
    const target = (id: string, content: string) => `${community}/packages?id=${id}&content=${content}&redirect=true`;
    const icon = await get(target('com.example.odd', 'packageIcon'));
    expect([icon.status, await icon.text()]).toEqual([302, '']);
    expect(icon.headers.get('location')).toMatch(/^https:\/\/index\.example\//);
    expect((await get(target('com.example.snow', 'depiction'))).headers.get('location')).toBe(
      'https://web.example/snow',
    );
    const none = await read(target('com.example.odd', 'depiction'));
    expect([none.status, olderErrorSchema.parse(none.body).error]).toEqual([404, 'The package has no such address']);
    expect((await read(target('com.example.odd', 'author'))).status).toBe(400);
    expect((await get(`${community}/packages?id=none&redirect=true`)).status).toBe(404);
  });

  it.each([
    [`${community}/packages`, 400, "Missing query parameter: 'id'"],
    [`${community}/packages?id=`, 400, "Query parameter 'id' must be 1 to 255 characters"],
    [`${community}/packages?id=a&id=b`, 400, "Query parameter 'id' must be given once"],
    [`${community}/packages?id=%FF`, 400, "Query parameter 'id' must be percent-encoded UTF-8"],
    [`${community}/packages?id=none`, 404, 'Package not found'],
    [`${community}/packages/search`, 400, "Missing query parameter: 'query'"],
    [
      `${community}/packages/search?query=${'a'.repeat(257)}`,
      400,
      "Query parameter 'query' must be at most 256 characters",
    ],
    [
      `${community}/packages/search?query=a&limit=251`,
      400,
      "Query parameter 'limit' must be an integer between 1 and 250",
    ],
    [`${community}/packages/lookup`, 400, "Missing query parameter: 'packages'"],
    [
      `${community}/packages/lookup?packages=,`,
      400,
      "Query parameter 'packages' must be 1 to 2000 identifiers separated by commas",
    ],
    [`${community}/repositories/search`, 400, "Missing query parameter: 'query'"],
    [`${community}/repositories/search?ranking=6`, 400, "Query parameter 'ranking' must be one of 1, 2, 3, 4, 5, *"],
    [`${community}/repositories/safety`, 400, "Missing query parameter: 'query'"],
    [`${community}/repositories/check`, 400, "Missing query parameter: 'query'"],
    [`${community}/nothing`, 404, 'Not found'],
    ['/v1/nothing', 404, 'Not found'],
    [`${community}/packages/`, 400, 'The path must not hold an empty segment'],
    ['/v1/%FF', 400, 'The path must be percent-encoded UTF-8'],
  ])('refuse %s with %d and say why', async (target, status, error) => {
    const answer = await get(target);
    const body = olderErrorSchema.parse(await answer.json());
    expect([answer.status, body.error]).toEqual([status, error]);
    expect(body.message.startsWith(`${status} `)).toBe(true);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  });

  it('answer HEAD and OPTIONS, refuse other methods, and are open to scripts and reused as /v2 is', async () => {
    for (const { address } of Object.values(olderOperations)) {
      const target = `${address}?id=com.example.snow&query=snow&packages=com.example.snow`;
      const answer = await get(target);
      expect([target, answer.status]).toEqual([target, 200]);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('content-type')).toBe('application/json');
      const length = (await answer.arrayBuffer()).byteLength;
      const head = await get(target, { method: 'HEAD', headers: { 'accept-encoding': 'identity' } });
      expect([head.status, await head.text()]).toEqual([200, '']);
      expect(Number(head.headers.get('content-length'))).toBe(length);
      const asked = await get(target, { method: 'OPTIONS' });
      expect([asked.status, asked.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
      const posted = await get(target, { method: 'POST', body: '{}' });
      expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
      expect(olderErrorSchema.safeParse(await posted.json()).success).toBe(true);
    }
    const file = await get('/index-repositories.json');
    const again = await get('/index-repositories.json', {
      headers: { 'if-none-match': file.headers.get('etag') ?? '' },
    });
    expect([file.status, again.status]).toEqual([200, 304]);
    const computed = (await get(`${community}/packages/search?query=snow`)).headers.get('cache-control');
    expect(computed).toBe((await get('/v2/jailbreak/package/search?q=snow')).headers.get('cache-control'));
  });

  it('name an address that answers instead: the present search of repositories refuses a question without words', async () => {
    const namedIn = async (query: string) => {
      const { data } = (await read(`${community}/repositories/search?${query}`)).body.notice as { data: string };
      return new URL(data.split(' ')[0] ?? '');
    };
    for (const query of ['ranking=1,2', 'query=', 'query=&ranking=5']) {
      const { pathname, search } = await namedIn(query);
      expect((await get(pathname + search)).status, query).toBe(200);
    }
    expect((await namedIn('query=best')).pathname).toBe('/v2/jailbreak/repository/search');
  });

  it('answer below the later root with the same bytes as below /v2, and nothing beside them', async () => {
    const bytes = async (target: string, init: RequestInit = {}) => {
      const answer = await get(target, init);
      const told = ['etag', 'content-type', 'cache-control', 'allow'].map((name) => answer.headers.get(name));
      return [answer.status, ...told, (await answer.text()).replace(/"date":"[^"]*"/, '')];
    };
    for (const target of [
      '/package/com.example.snow',
      '/package/com.example.snow.json',
      '/package/none',
      '/package/search?q=snow',
      '/package/search',
      '/package/multi?ids=com.example.snow',
      '/repository/best',
      '/repository/best/packages?limit=2&page=2',
      '/repository/ranking?rank=*',
      '/repository/safety?uris=https://unsafe.test/',
      '/package/',
      '/none',
    ]) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE']) {
        const [before, after] = [`/v2/jailbreak${target}`, `/v4/canister-services/jailbreak${target}`];
        expect(await bytes(after, { method }), `${method} ${after}`).toEqual(await bytes(before, { method }));
      }
    }
    for (const target of ['/v4/canister-services/livez', '/v4/jailbreak/package/com.example.snow', '/v4/', '/v3/x']) {
      expect([target, (await get(target)).status]).toEqual([target, 404]);
    }
  });
});

it('H13: are counted by address, never by what was asked for', async () => {
  const meter = new Meter();
  const counted = await startTestServer({ onAnswered: [meter.observe], answerMemory: 2 ** 20 });
  onTestFinished(() => counted.close());
  const targets = [
    '/v1/',
    ...['a', 'b', 'a', 'a'].map((query) => `/v1/community/packages/search?query=${query}`),
    '/v1/community/packages?id=none',
    '/v1/secret',
    '/index-repositories.json',
    '/v4/canister-services/jailbreak/package/com.example.one',
    '/v4/canister-services/jailbreak/package/com.example.one.json',
    '/v4/canister-services/jailbreak/package/search?q=one',
  ];
  for (const target of targets) await (await fetch(counted.address + target)).arrayBuffer();
  await vi.waitFor(() => {
    const counts = [...meter.operations].map(([name, { durations }]) => [
      name,
      durations.counts.reduce((a, b) => a + b),
    ]);
    expect(Object.fromEntries(counts)).toEqual({
      'older.landing': 1,
      'older.packageSearch': 4,
      'older.packageLookup': 1,
      none: 1,
      'older.indexRepositories': 1,
      'v4.package': 1,
      'v4.document': 1,
      'v4.packageSearch': 1,
    });
  }, patience);
});

it('H5: are held to the rate of what is computed, in their own words', async () => {
  const now = () => new Date('2026-05-01T00:00:00Z');
  const limited = await startTestServer({ overrides: { limiter: createRateLimiter({ rate: 1, burst: 2, now }) } });
  onTestFinished(() => limited.close());
  const ask = (target: string) => fetch(limited.address + target);
  const statuses = [];
  for (let number = 0; number < 3; number++) {
    statuses.push((await ask('/v1/community/packages/search?query=example')).status);
  }
  expect(statuses).toEqual([200, 200, 429]);
  const refused = await ask('/v1/community/packages?id=com.example.one');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(olderErrorSchema.parse(await refused.json()).error).toMatch(/^Too many requests/);
  expect((await ask('/v2/jailbreak/package/com.example.one')).status).toBe(200);
});

it('can be left out, with nothing else changed', async () => {
  const without = await startTestServer({ overrides: { older: undefined } });
  onTestFinished(() => without.close());
  for (const target of [
    '/v1/',
    '/v1/community/packages?id=com.example.one',
    '/v4/canister-services/jailbreak/package/com.example.one',
  ]) {
    expect([target, (await fetch(without.address + target)).status]).toEqual([target, 404]);
  }
  expect((await fetch(`${without.address}/v2/jailbreak/package/com.example.one`)).status).toBe(200);
});
