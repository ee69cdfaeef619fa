import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentPath } from '../../src/contract/paths.ts';
import { packageRecord, testAddress } from '../support/published.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

// Identifiers as strangers write them: every one must be found by its percent-encoded form and by its file name.
const hostile = [
  'Upper.Case',
  'upper.case',
  'a/b',
  '..',
  '__proto__',
  'constructor',
  'naïve paquet',
  '100%',
  'a?b#c',
  'search',
  'multi',
  'x'.repeat(255),
  'É'.repeat(100),
];
/** At whose edges stands what Unicode calls white space, and the fields of a stanza do not. */
const edged = ['\ufeffcom.example.marked', 'com.example.ended\u00a0', '\u3000com.example.wide\u2003'];
const ids = ['com.example.one', 'com.example.two', 'libstdc++', ...hostile, ...edged];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ ids });
});
afterAll(() => server.close());

const get = (target: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(server.address + target, {
    method,
    headers: { 'accept-encoding': 'identity', ...headers },
    redirect: 'manual',
  });
const bodyOf = async (answer: Response) => (await answer.json()) as Record<string, unknown>;
const getJson = async (target: string) => bodyOf(await get(target));
const published = (file: string) => readFileSync(path.join(server.folder, file), 'utf8');

describe('prebuilt documents', () => {
  it.each([
    ['/v2', documentPath.landing],
    ['/v2/', documentPath.landing],
    ['/v2/index.json', documentPath.landing],
    ['/v2/openapi.json', documentPath.openapiJson],
    ['/openapi.json', documentPath.openapiJson],
    ['/v2/openapi.yaml', documentPath.openapiYaml],
    ['/openapi.yaml', documentPath.openapiYaml],
    ['/v2/jailbreak/package/com.example.one', documentPath.package('com.example.one')],
    ['/jailbreak/package/com.example.one', documentPath.package('com.example.one')],
    ['/v2/jailbreak/package/com.example.one.json', documentPath.package('com.example.one')],
    ['/jailbreak/package/com.example.one.json', documentPath.package('com.example.one')],
    ['/v2/jailbreak/package/%63om.example.one', documentPath.package('com.example.one')],
    ['/v2/jailbreak/package/search.json', documentPath.package('search')],
    ['/v2/jailbreak/repository/sample', documentPath.repository('sample')],
    ['/v2/jailbreak/repository/sample.json', documentPath.repository('sample')],
    ['/v2/jailbreak/repository/sample/findings', documentPath.repositoryFindings('sample')],
    ['/v2/jailbreak/repository/sample/packages', documentPath.repositoryPackages('sample')],
    ['/v2/jailbreak/repository/sample/packages.json', documentPath.repositoryPackages('sample')],
    ['/v2/jailbreak/repository/ranking?rank=3', documentPath.ranking('3')],
    ['/v2/jailbreak/repository/ranking?rank=*', documentPath.ranking('*')],
    ['/v2/jailbreak/repository/ranking?rank=%2A&unknown=1', documentPath.ranking('*')],
    ['/v2/jailbreak/repository/ranking/all.json', documentPath.ranking('*')],
  ])('%s answers the bytes of %s', async (target, file) => {
    const answer = await get(target);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe(file.endsWith('.yaml') ? 'application/yaml' : 'application/json');
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(await answer.text()).toBe(published(file));
  });

  it.each(hostile.filter((id) => id !== 'search' && id !== 'multi' && id !== '..'))(
    'C9 finds the identifier %s',
    async (id) => {
      const answer = (await getJson(`/v2/jailbreak/package/${encodeURIComponent(id)}`)) as {
        data: { package_id: string }[];
      };
      expect(answer.data[0]?.package_id).toBe(id);
    },
  );

  it.each(hostile)('C9 finds the identifier %s by the name of its file', async (id) => {
    const answer = await get(`/${documentPath.package(id)}`);
    expect(await answer.text()).toBe(published(documentPath.package(id)));
  });

  it('H4 HEAD answers as GET does, without the body', async () => {
    for (const target of ['/v2/jailbreak/package/com.example.one', '/v2/jailbreak/package/none', '/healthz', '/']) {
      const [head, whole] = [await get(target, {}, 'HEAD'), await get(target)];
      expect(head.status).toBe(whole.status);
      for (const name of [
        'content-type',
        'content-length',
        'etag',
        'cache-control',
        'vary',
        'access-control-allow-origin',
      ]) {
        expect(head.headers.get(name), `${name} of ${target}`).toBe(whole.headers.get(name));
      }
      expect(await head.text()).toBe('');
    }
  });

  it('H4 answers 304 to whoever has it', async () => {
    const target = '/v2/jailbreak/repository/sample';
    const { headers } = await get(target);
    const etag = headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await get(target, { 'if-none-match': known });
      expect(answer.status, known).toBe(304);
      // A cache updates with these what it holds (RFC 9110, section 15.4.5).
      for (const name of ['etag', 'vary', 'cache-control', 'access-control-allow-origin']) {
        expect(answer.headers.get(name), name).toBe(headers.get(name));
      }
      expect(headers.get('vary')).toContain('Accept-Encoding');
      expect(await answer.text()).toBe('');
    }
    expect((await get(target, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('tells CDN and client how long it may be kept', async () => {
    const document = (await get('/v2/jailbreak/package/com.example.one')).headers.get('cache-control');
    expect(document).toMatch(/max-age=60, s-maxage=600, stale-while-revalidate=\d+/);
    expect((await get('/assets/page.B4x9.css')).headers.get('cache-control')).toContain('immutable');
    expect((await get('/healthz')).headers.get('cache-control')).toBe('no-store');
    // Whoever asks for what is not there asks again, and many do; what is wrong with a request nobody else may be told.
    const refused = async (path: string) => (await get(path)).headers.get('cache-control');
    expect(await refused('/v2/jailbreak/package/com.example.none')).toBe('public, max-age=30, s-maxage=60');
    expect(await refused('/v2/jailbreak/package/search?q=a')).toBe('no-store');
  });
});

describe('errors', () => {
  it('H4 the page of an unknown address is 404 also for whoever has it', async () => {
    const withPages = await startTestServer();
    writeFileSync(path.join(withPages.folder, '404.html'), '<p>none');
    const ask = (headers: Record<string, string> = {}) =>
      fetch(`${withPages.address}/unknown/`, { headers: { accept: 'text/html', ...headers } });
    const first = await ask();
    expect([first.status, first.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await first.text()).toBe('<p>none');
    for (const known of [first.headers.get('etag') ?? '', '*']) {
      expect((await ask({ 'if-none-match': known })).status, known).toBe(404);
    }
    const json = await ask({ accept: 'application/json' });
    expect(json.headers.get('content-type')).toBe('application/json');
    // A cache has one for each.
    for (const { headers } of [first, json]) expect(headers.get('vary')).toMatch(/^Accept(?:,|$)/);
    await withPages.close();
  });

  it.each([
    ['/v2/jailbreak/package/none', 404],
    ['/v2/jailbreak/repository/none', 404],
    ['/v2/jailbreak/repository/none/packages', 404],
    ['/v2/unknown', 404],
    ['/jailbreak/unknown', 404],
    ['/v2/jailbreak/package/none.json', 404],
  ])('%s is unknown', async (target, status) => {
    const answer = await get(target);
    expect(answer.status).toBe(status);
    const body = await bodyOf(answer);
    expect(Object.keys(body)).toEqual(['message', 'date']);
    expect(body.message).toBe('404 Not Found');
  });

  it.each([
    '/v2/jailbreak/package/%ff',
    '/v2/jailbreak/package/%',
    '/v2/jailbreak/package/%zz',
    '/v2/jailbreak/package/a%00b',
    '/v2/jailbreak/package/a%0d%0ab',
    '/v2/jailbreak/package/%C2%80',
    `/v2/jailbreak/package/${'x'.repeat(256)}`,
    `/v2/jailbreak/package/${'%C3%A9'.repeat(128)}`,
    '/v2/jailbreak/package/',
    '/v2/jailbreak//package/x',
    '/v2/healthz/',
    '//v2/healthz',
  ])('H3 %s is refused', async (target) => {
    const answer = await get(target);
    expect(answer.status).toBe(400);
    expect(Object.keys(await bodyOf(answer))).toEqual(['message', 'error', 'date']);
  });

  it.each([
    '/v2/jailbreak/package/%5C',
    '/v2/jailbreak/package/..%2f..%2findex',
    '/v2/jailbreak/package/%2e%2e%2f%2e%2e',
  ])('H3 %s stays in its folder', async (target) => {
    expect((await get(target)).status).toBe(404);
  });

  it.each([
    ['/v2/jailbreak/repository/ranking', "Missing query parameter: 'rank'"],
    ['/v2/jailbreak/repository/ranking?rank=6', "Query parameter 'rank' must be one of 1, 2, 3, 4, 5, *"],
    ['/v2/jailbreak/repository/ranking?rank=1&rank=1', "Query parameter 'rank' must be given once"],
    ['/v2/jailbreak/package/search', "Missing query parameter: 'q'"],
    ['/v2/jailbreak/package/search?q=%20a%20', "Query parameter 'q' must be at least 2 characters"],
    [`/v2/jailbreak/package/search?q=${'a'.repeat(257)}`, "Query parameter 'q' must be at most 256 characters"],
    ['/v2/jailbreak/package/search?q=ab&q=ab', "Query parameter 'q' must be given once"],
    ['/v2/jailbreak/package/search?q=ab&limit=0', "Query parameter 'limit' must be an integer between 1 and 250"],
    ['/v2/jailbreak/package/search?q=ab&limit=251', "Query parameter 'limit' must be an integer between 1 and 250"],
    ['/v2/jailbreak/package/search?q=ab&limit=1e2', "Query parameter 'limit' must be an integer between 1 and 250"],
    ['/v2/jailbreak/repository/search?q=ab&page=0', "Query parameter 'page' must be an integer of at least 1"],
    ['/v2/jailbreak/package/search?q=%ff%ff', "Query parameter 'q' must be percent-encoded UTF-8"],
    ['/v2/jailbreak/package/multi?ids=a&priority=x', "Query parameter 'priority' must be one of default, bootstrap"],
    ['/v2/jailbreak/package/multi?ids=,', "Query parameter 'ids' must be 1 to 2000 identifiers separated by commas"],
  ])('%s says: %s', async (target, sentence) => {
    const answer = await get(target);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ message: '400 Bad Request', error: sentence });
  });

  it.each([
    ['POST', '/v2/', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/v2/jailbreak/package/com.example.one', 'GET, HEAD, OPTIONS'],
    ['PUT', '/v2/jailbreak/package/none', 'GET, HEAD, OPTIONS'],
    ['POST', '/v2/jailbreak/package/search', 'GET, HEAD, OPTIONS'],
    ['POST', '/v2/jailbreak/repository/ranking/1.json', 'GET, HEAD, OPTIONS'],
    ['GET', '/v2/jailbreak/download/ingest', 'POST, OPTIONS'],
    ['POST', '/privacy/', 'GET, HEAD'],
  ])('H4 %s %s is 405 and says what is allowed', async (method, target, allowed) => {
    const answer = await get(target, {}, method);
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe(allowed);
    expect(Object.keys(await bodyOf(answer))).toEqual(['message', 'error', 'date']);
  });

  it('H4 tells a fault of ours without saying which', async () => {
    const broken = await startTestServer({
      overrides: {
        publicAddress: () => {
          throw new Error('secret of the house');
        },
      },
    });
    const answer = await fetch(`${broken.address}/v2/jailbreak/package/search?q=one`);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toMatch(/secret|at /);
    expect(broken.faults.map(String)).toEqual(['Error: secret of the house']);
    await broken.close();
  });
});

describe('scripts of other sites', () => {
  it('may ask first', async () => {
    const answer = await get(
      '/v2/jailbreak/package/com.example.one',
      { 'access-control-request-method': 'GET' },
      'OPTIONS',
    );
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-methods')).toContain('GET');
  });

  it('may read errors too', async () => {
    for (const target of ['/v2/none', '/v2/jailbreak/package/%ff', '/v2/jailbreak/package/search']) {
      expect((await get(target)).headers.get('access-control-allow-origin')).toBe('*');
    }
  });
});

describe('the root and the site', () => {
  const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

  it.each([{}, browser, { accept: '*/*' }, { accept: 'text/html;q=0.1, application/json' }, { accept: 'image/*' }])(
    'gives the front page to whoever asks with the headers %j',
    async (headers) => {
      const page = await get('/', headers as Record<string, string>);
      expect(page.headers.get('content-type')).toContain('text/html');
      expect(page.headers.get('vary')).toMatch(/\bAccept\b/);
      expect(await page.text()).toContain('Front page');
    },
  );

  it.each(['application/json', 'application/json, text/plain, */*'])(
    'gives the landing document to a program that asks for it with Accept: %s',
    async (accept) => {
      const document = await get('/', { accept });
      expect(document.headers.get('content-type')).toBe('application/json');
      expect(document.headers.get('vary')).toMatch(/\bAccept\b/);
      expect(await document.text()).toBe(published(documentPath.landing));
    },
  );

  it('gives the landing document to everybody where no pages were built', async () => {
    const bare = await startTestServer();
    try {
      rmSync(path.join(bare.folder, 'index.html'));
      const answer = await fetch(`${bare.address}/`);
      expect(await answer.text()).toBe(published(documentPath.landing));
    } finally {
      await bare.close();
    }
  });

  it('serves pages and sends folders to their slash', async () => {
    expect(await (await get('/privacy/')).text()).toContain('Privacy');
    const moved = await get('/privacy?from=app');
    expect([moved.status, moved.headers.get('location')]).toEqual([308, '/privacy/?from=app']);
  });

  it('leads to the page of a package by its identifier as it is', async () => {
    server.write('package/com._bye_dock/index.html', 'Bye');
    server.write('package/com.plain/index.html', 'Plain');
    for (const address of ['/package/com.ByeDock/', '/package/com.ByeDock', '/package/com.ByeDock/?from=bot']) {
      const moved = await get(address);
      const query = address.split('?')[1];
      expect([moved.status, moved.headers.get('location')], address).toEqual([
        308,
        `/package/com._bye_dock/${query === undefined ? '' : `?${query}`}`,
      ]);
    }
    expect((await get('/package/com.plain')).headers.get('location')).toBe('/package/com.plain/');
    // Scripts of other sites may read its feed, and its page not.
    server.write('package/com._bye_dock/feed.atom', '<feed/>');
    const origins = ['feed.atom', ''].map(async (file) =>
      (await get(`/package/com.ByeDock/${file}`)).headers.get('access-control-allow-origin'),
    );
    expect(await Promise.all(origins)).toEqual(['*', null]);
    for (const none of ['/package/com.Plain/', '/package/com.ByeDoc', '/package/', '/package/Com.ByeDock/feed.atom']) {
      expect((await get(none)).status, none).toBe(404);
    }
  });

  it('answers an unknown page with the page for it, or with JSON', async () => {
    const page = await get('/none', browser);
    expect([page.status, await page.text()]).toEqual([404, '<!doctype html><title>No such page</title>']);
    expect((await getJson('/none')).message).toBe('404 Not Found');
    expect((await get('/v2/none', browser)).headers.get('content-type')).toBe('application/json');
  });

  it.each([
    '/%2e%2e/state/generation.json',
    '/..%2fstate%2fgeneration.json',
    '/%5c..%5cstate',
    '/.git/config',
    '/.%2f.git',
    '/.well-known/.htpasswd',
    '/.well-known/../.htpasswd',
  ])('H3 %s reaches nothing', async (target) => {
    server.write('../state/generation.json', '{}');
    for (const hidden of ['.git/config', '.htpasswd', '.well-known/.htpasswd']) server.write(hidden, 'hidden');
    expect((await get(target)).status).toBe(404);
  });

  it('answers what stands in the one hidden folder that has a meaning (RFC 8615)', async () => {
    server.write('.well-known/security.txt', 'Contact: mailto:a@index.test\n');
    const answer = await get('/.well-known/security.txt');
    expect([answer.status, await answer.text()]).toEqual([200, 'Contact: mailto:a@index.test\n']);
    expect((await get('/.well-known/none')).status).toBe(404);
  });
});

describe('search', () => {
  it('joins ready records into the envelope', async () => {
    const answer = await get('/v2/jailbreak/package/search?q=com.example&limit=1');
    const text = await answer.text();
    const body = JSON.parse(text);
    expect(Object.keys(body)).toEqual(['message', 'date', 'refs', 'count', 'data']);
    expect(body.refs).toEqual({ nextPage: `${testAddress}/v2/jailbreak/package/search?q=com.example&limit=1&page=2` });
    expect(body.data).toEqual([packageRecord('com.example.one')]);
  });

  it('links to the page before and keeps q and limit', async () => {
    const { refs } = (await getJson('/v2/jailbreak/package/search?q=%26+%3D&limit=7&page=2')) as { refs: object };
    expect(refs).toEqual({ previousPage: `${testAddress}/v2/jailbreak/package/search?q=%26%20%3D&limit=7&page=1` });
  });

  it('past the end is empty', async () => {
    expect(await getJson('/v2/jailbreak/repository/search?q=sample&page=999999999')).toMatchObject({
      count: 0,
      data: [],
    });
  });
});

describe('multi lookup', () => {
  it('answers in the order asked, once each, and leaves out what is unknown', async () => {
    const body = (await getJson('/v2/jailbreak/package/multi?ids=libstdc++,none,com.example.one%2Clibstdc%2B%2B')) as {
      count: number;
      data: { package: string }[];
    };
    expect(body.data.map((record) => record.package)).toEqual(['libstdc++', 'com.example.one']);
    expect(body.count).toBe(2);
    expect(await getJson('/v2/jailbreak/package/multi?ids=none')).toMatchObject({ count: 0, data: [] });
  });

  it('finds identifiers by all of their characters, and takes no blanks around them for a part', async () => {
    const asked = encodeURIComponent(edged.map((id) => ` ${id}\t`).join(','));
    const { data } = (await getJson(`/v2/jailbreak/package/multi?ids=${asked}`)) as { data: { package_id: string }[] };
    expect(data.map((record) => record.package_id)).toEqual(edged);
  });

  it('takes a request line of 64 KiB', async () => {
    const most = Array.from({ length: 1990 }, (_, index) => `com.example.installed.${String(index).padStart(10, '0')}`);
    const line = `/v2/jailbreak/package/multi?priority=bootstrap&ids=${[...most, 'com.example.two'].join(',')}`;
    expect(line.length).toBeGreaterThan(64_000);
    expect(await getJson(line)).toMatchObject({ count: 1 });
    const many = Array.from({ length: 2001 }, (_, index) => `a${index}`).join(',');
    expect((await get(`/v2/jailbreak/package/multi?ids=${many}`)).status).toBe(400);
  });
});
