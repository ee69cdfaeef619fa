import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentPath, operations } from '../../src/contract/paths.ts';
import { noFunction } from '../../src/hosts/host-rules.ts';
import { type HostName, hosts } from '../../src/hosts/hosts.ts';
import { computedRoutes, olderRoutes } from '../../src/hosts/routes.ts';
import { CuttingProxy } from '../support/cutting-proxy.ts';
import { missingProgram, startHost } from '../support/host-programs.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

/** Identifiers in every way in which they can be odd: capitals, signs, other scripts, a slash, repetition, length. */
const oddNames = [
  'com.Example.Two',
  'COM.EXAMPLE.ONE',
  'g++',
  '.hidden',
  'a_b C=d~e',
  'snow%20board',
  'a/b',
  'ünï',
  '雪',
  '雪`',
  'AAAAAAAAAAAAAAA',
  '____________',
  'x'.repeat(255),
  'com.example.json.x',
  '__proto__',
  `"'$\\{}`,
];
const ids = ['com.example.one', 'com.example.two', ...oddNames];

/** Slugs likewise: capitals, words of the API, the names of documents and pages. */
const oddSlugs = ['A.b_C-1', 'x.json', 'search', 'Ranking', 'index.html', 'a.', 'Z'.repeat(64)];
const slugDocuments = [
  documentPath.repository,
  documentPath.repositoryPackages,
  documentPath.repositoryFindings,
  (slug: string) => documentPath.repositoryPackagesPage(slug, 1),
];
const slugAddresses = oddSlugs.flatMap((slug) =>
  [/\.json$|^search$/.test(slug) ? '.json' : '', '/packages', '/findings', '/packages/1'].map(
    (rest) => `/v2/jailbreak/repository/${slug}${rest}`,
  ),
);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ ids });
  server.write('v2/generation.json', '{"format":1}');
  server.write('v2/changes/1.json', '{"format":1}');
  server.write('v2/catalog/aa.sqlite.zst', 'not really');
  server.write('v2/portions/aa.portion', 'not really');
  server.write('v2/jailbreak/repository/sample/packages/2.json', '{"data":[]}');
  server.write('feed.atom', '<feed/>');
  for (const path of openToScripts) server.write(path.slice(1), '{}');
  for (const path of olderDocuments) server.write(path.slice(1), '[]');
  for (const slug of oddSlugs)
    for (const of of slugDocuments) server.write(of(slug), JSON.stringify({ data: of(slug) }));
});
afterAll(() => server.close());

/** What our own server answers, asked once for all hosts. */
const answered = new Map<string, ReturnType<typeof ask>>();
const askOurs = (question: Question): ReturnType<typeof ask> => {
  const name = nameOf(question);
  const answer = answered.get(name) ?? ask(server.address, question);
  answered.set(name, answer);
  return answer;
};

interface Question {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const read = (path: string, headers?: Question['headers']): Question => ({ path, ...(headers ? { headers } : {}) });
const names = ids.map((id) => `/v2/jailbreak/package/${encodeURIComponent(id)}`);
// The digits of an escape may be of either case (RFC 3986, section 2.1).
const inSmallDigits = names.map((name) => name.replaceAll(/%[0-9A-F]{2}/g, (one) => one.toLowerCase()));
const documents = [
  '/v2',
  '/v2/',
  '/v2/index.json',
  '/v2/openapi.json',
  '/v2/openapi.yaml',
  '/openapi.json',
  '/v2/generation.json',
  '/v2/changes/1.json',
  '/v2/catalog/aa.sqlite.zst',
  '/v2/portions/aa.portion',
  '/jailbreak/package/com.Example.Two',
  '/v2/jailbreak/package/com.example.one.json',
  '/jailbreak/package/com.example.one.json',
  '/v2/jailbreak/package/com._example._two.json',
  // What a mirror asks for.
  '/v2/jailbreak/package/.hidden.json',
  '/v2/jailbreak/repository/sample',
  '/v2/jailbreak/repository/sample.json',
  '/v2/jailbreak/repository/sample/packages',
  '/v2/jailbreak/repository/sample/packages.json',
  '/v2/jailbreak/repository/sample/packages?x=1&unlimited=1',
  '/v2/jailbreak/repository/sample/packages/2',
  '/jailbreak/repository/sample/packages/2',
  '/v2/jailbreak/repository/sample/packages/2.json',
  '/jailbreak/repository/sample/findings',
  ...['1', '3', '5', '*', '%2A'].map((rank) => `/v2/jailbreak/repository/ranking?rank=${rank}`),
  '/v2/jailbreak/repository/ranking?x=1&rank=3',
  '/v2/jailbreak/package/com.example.one?x=%00',
];
const searches = ['/search/', '/search/?q=', '/search/?q=example', '/search/?q=example&page=2'];
const pages = ['/', ...searches, '/privacy/', '/privacy', '/privacy?x=1', '/assets/page.B4x9.css', '/feed.atom'];
/** What the site has for programs, in folders of every depth. */
const openToScripts = [
  '/feed.json',
  '/repository/sample/feed.json',
  '/package/a/b/feed.atom',
  '/badge/sample.svg',
  '/badge/sample.json',
];
const refused = [
  // What would end the path of a file that is asked for as it was decoded.
  '/feed.atom%23x',
  '/privacy%23x/',
  '/v2/jailbreak/repository/ranking',
  '/v2/jailbreak/repository/ranking?rank=9',
  '/v2/jailbreak/repository/ranking?rank=1&rank=2',
  '/v2/jailbreak/package/com.example.one/',
  '/v2//jailbreak/package/com.example.one',
  '/v2/jailbreak/package/no.such.package',
  '/v2/jailbreak/package/com.example.ONE',
  '/v2/jailbreak/repository/no-such/packages',
  '/v2/jailbreak/repository/sample/packages/3',
  '/v2/jailbreak/repository/Sample',
  '/v2/jailbreak/repository/Sample/packages',
  '/v2/jailbreak/repository/a.b_c-1',
  '/v2/jailbreak/repository/X.json/packages',
  '/v2/jailbreak/repository/RANKING',
  '/v2/jailbreak/package/a/b',
  // What begins as one that is there, or differs in letter case alone.
  '/v2/jailbreak/package/%E9%9B%AA%E9%9B%AA',
  '/v2/jailbreak/package/%E9%9B%AA.json',
  '/v2/jailbreak/package/a%2Fb%2Fc',
  '/v2/jailbreak/package/a%2Fb/c',
  '/v2/jailbreak/package/%C3%BCN%C3%AF',
  '/v2/no/such/address',
  '/.staging/x',
  '/v2/.staging/x',
  '/v2/jailbreak/.staging/x.json',
  '/jailbreak/.staging/x.json',
  '/no/such/page',
];
const beginningWithHost = ['//other.example/privacy', '//other.example/', '/%2Fother.example%2Fprivacy'];
const computed = [
  '/v2/jailbreak/package/search?q=example',
  '/jailbreak/package/search?q=example',
  '/v2/jailbreak/package/search',
  '/v2/jailbreak/package/multi?ids=com.example.one',
  // As many as may be asked for at once.
  `/v2/jailbreak/package/multi?ids=com.example.one,${Array.from({ length: 1999 }, (_, index) => `org.example.package.${index}`).join()}`,
  '/v2/jailbreak/repository/sample/packages?limit=5&page=2',
  '/v2/jailbreak/repository/sample/packages?page=2&limit=5',
  '/v2/jailbreak/repository/sample/packages?page=1',
  '/jailbreak/repository/sample/packages?limit=3',
  '/v2/jailbreak/repository/sample/packages?limit=0',
  '/v2/jailbreak/repository/none/packages?limit=3',
  '/v2/jailbreak/repository/search?q=sample',
  '/v2/jailbreak/repository/safety?uris=https://unsafe.test/',
  '/v2/jailbreak/download/com.example.one',
  '/v2/livez',
  // Addresses from before /v2.
  '/v1',
  '/v1/',
  '/v1/community/packages?id=com.example.one',
  '/v1/community/packages?id=com.example.one&redirect=true',
  '/v1/community/packages?id=none',
  '/v1/community/repositories/search?query=',
  '/v1/community/nothing',
  '/v4/canister-services/jailbreak/package/search?q=example',
  '/v4/canister-services/jailbreak/package/com.example.one',
];
const olderDocuments = ['/v1/openapi.json', '/index-repositories.json', '/piracy-repositories.json'];
const questions: Question[] = [
  ...[
    ...new Set([...names, ...inSmallDigits]),
    ...slugAddresses,
    ...documents,
    ...pages,
    ...refused,
    ...computed,
    ...olderDocuments,
    ...openToScripts,
  ].map((path) => read(path)),
  ...[...names.slice(0, 3), ...documents.slice(0, 3), '/', '/v2/no/such'].map((path) => ({ path, method: 'HEAD' })),
  ...[...names.slice(0, 3), ...documents.slice(0, 4), documents.at(-2) ?? ''].map((path) => ({
    path,
    method: 'OPTIONS',
  })),
  ...[...names.slice(0, 2), '/v2/'].map((path) => ({ path, method: 'DELETE' })),
  // Pages answer no OPTIONS.
  ...['/', '/privacy/', '/search/', '/feed.atom', '/no/such/page'].flatMap((path) =>
    ['OPTIONS', 'DELETE'].map((method) => ({ path, method })),
  ),
  read('/', { Accept: 'application/json' }),
  read('/', { Accept: 'text/html,application/json;q=0.9' }),
  read('/no/such/page', { Accept: 'text/html' }),
  {
    path: '/v2/jailbreak/download/ingest',
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '[]',
  },
];

const compared = [
  'content-type',
  'cache-control',
  'access-control-allow-origin',
  'access-control-allow-methods',
  'access-control-allow-headers',
  'access-control-max-age',
  'x-content-type-options',
  'allow',
  'location',
];

const ask = async (address: string, { path, ...request }: Question) => {
  const { status, headers, ...response } = await fetch(address + path, { redirect: 'manual', ...request }).then(
    async (answer) => ({ status: answer.status, headers: answer.headers, body: await answer.text() }),
  );
  const told = Object.fromEntries(compared.map((name) => [name, headers.get(name)?.replace(address, '') ?? null]));
  // What is made up on the way has the time of its making, and that of redirects is for nobody.
  const body = status >= 300 && status < 400 ? '' : response.body.replace(/"date":"[^"]*"/, '"date":"now"');
  // An answer of nothing has no type, and a redirect is followed whatever it says of itself.
  if (status === 204 || status === 308) told['content-type'] = null;
  // A cache that many share must not hand on to browsers what was said to a program.
  const page = status === 404 && /(?:^|,)\s*accept\s*(?:,|$)/i.test(headers.get('vary') ?? '');
  return { status, ...told, body, page };
};

const nameOf = ({ path, method = 'GET', headers }: Question): string =>
  [method, path, ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`)].join(' ');

type Difference = readonly [question: RegExp, status: number];

/** What Cloudflare does by itself, before the worker: it redirects, and refuses other methods of files without a word. */
const cloudflareDifferences: readonly Difference[] = [
  [/^GET \/privacy(?:\?x=1)?$/, 307],
  [/^(?:OPTIONS|DELETE) \/(?:privacy\/|feed\.atom)$/, 405],
];

/** Where a host answers otherwise than our own server, and why it has to; nothing else may differ. */
const differences: Readonly<Record<HostName, readonly Difference[]>> = {
  nginx: [],
  caddy: [],
  'cloudflare-workers': cloudflareDifferences,
  'cloudflare-pages': cloudflareDifferences,
  netlify: [
    // A rewrite to a file that is not there answers with the page of the site.
    [
      /^GET \/v2\/jailbreak\/(?:package|repository)\/(?:no[.-]such|com\.example\.ONE|Sample|sample\/packages\/3|a\.b_c|X\.json|RANKING)/,
      404,
    ],
    [/^GET \/v2\/jailbreak\/package\/(?:%E9%9B%AA(?:%E9|\.json)|a%2Fb(?:%2F|\/)|%C3%BCN)/, 404],
    [/^(?:GET|HEAD) \/(?:v2\/)?(?:jailbreak\/)?(?:no\/such|\.staging|feed\.atom%|privacy%)/, 404],
    [/^GET \/jailbreak\/package\/com\.example\.one\.json$/, 404],
    // It takes no files whose names begin with a dot.
    [/^GET \/v2\/jailbreak\/package\/\.hidden/, 404],
    // No line of its rules can hold these, as its development server compares them.
    [/^GET \/v2\/jailbreak\/package\/(?:a_b%20|snow%2520)/, 404],
    // It neither refuses nor redirects.
    [/^GET \/v2\/jailbreak\/repository\/ranking(?:\?rank=9)?$/, 404],
    [/^GET \/v2\/jailbreak\/repository\/ranking\?rank=1&rank=2$/, 200],
    [/^GET \/v2\/jailbreak\/package\/com\.example\.one\/$|^GET \/v2\/\/jailbreak/, 200],
    [/^GET \/v2\/jailbreak\/package\/a\/b$/, 200],
    [/^GET \/privacy(?:\?x=1)?$/, 200],
    [/^(?:OPTIONS|DELETE) /, 200],
    [/^(?:OPTIONS|DELETE) \/no\/such/, 404],
    // Rules cannot ask what a client accepts.
    [/^GET \/ Accept: application\/json$/, 200],
  ],
};

/** Headers that a host sends with every answer, because it cannot send them with a preflight alone. */
const everywhere: Readonly<Partial<Record<HostName, RegExp>>> = {
  netlify: /^access-control-allow-(?:methods|headers)$|^access-control-max-age$/,
};

/** The codings of twins that a host sends as they come with their distribution. */
const usesTwins: Readonly<Partial<Record<HostName, readonly string[]>>> = { nginx: ['gzip'], caddy: ['br', 'gzip'] };

/** A host is started once for both, which is most of what either takes. */
const titleOf = (host: HostName): string =>
  host === 'netlify'
    ? 'P4: answers every operation as our own server does'
    : 'P4: answers every operation as our own server does, and where that is away sends the page of the search without results';

describe.each(Object.keys(hosts) as HostName[])('%s', (host) => {
  const program = missingProgram(host);
  if (program !== undefined) process.stderr.write(`SKIPPED: ${program} is not installed, and its rules go untested.\n`);

  it.skipIf(program !== undefined)(titleOf(host), async () => {
    // On the way to our own server, so that the host can lose it.
    const way = await CuttingProxy.start(server.port, () => Number.POSITIVE_INFINITY);
    const running = await startHost(host, { publication: server.folder, functionUrl: way.endpoint });
    try {
      const wrong: unknown[] = [];
      const unused = new Set(differences[host]);
      for (const question of questions) {
        const [ours, theirs] = await Promise.all([askOurs(question), ask(running.address, question)]);
        const name = nameOf(question);
        const other = Object.keys(ours).filter(
          (key) => ours[key as 'body'] !== theirs[key as 'body'] && !everywhere[host]?.test(key),
        );
        if (other.length === 0) continue;
        const excuse = differences[host].find(([pattern, status]) => pattern.test(name) && status === theirs.status);
        if (excuse === undefined) {
          wrong.push(
            [
              name,
              ...other.map((key) => `${key}: ${ours[key as 'body']} / ${theirs[key as 'body']}`.slice(0, 300)),
            ].join('\n  '),
          );
        } else unused.delete(excuse);
      }
      expect(wrong.join('\n')).toBe('');
      expect([...unused]).toEqual([]);
      // What a worker asks for by a path is not to be on a host that the path begins with.
      for (const path of host.startsWith('cloudflare') ? beginningWithHost : []) {
        expect(await ask(running.address, read(path)), path).toEqual(await askOurs(read(path)));
      }
      await way.stop();
      if (host === 'netlify') return;
      // Whoever looks for holes sends these all day, and an operator is told of 500.
      for (const path of ['/v2/%00', '/%zz', '/privacy/..%2F..%2Fx']) {
        const { status } = await ask(running.address, read(path));
        expect([path, status < 500]).toEqual([path, true]);
      }
      const plain = await ask(running.address, read('/search/'));
      expect(plain).toMatchObject({ status: 200, 'content-type': 'text/html; charset=utf-8' });
      expect(await ask(running.address, read('/search/?q=example'))).toEqual(plain);
      const away = await fetch(`${running.address}/v2/jailbreak/package/search?q=example`);
      expect(away.status).toBeGreaterThan(499);
      // Of nginx the recipe says so, not the rules.
      if (host !== 'caddy') return;
      const told = ['content-type', 'retry-after', 'access-control-allow-origin'].map((name) => away.headers.get(name));
      expect([away.status, ...told]).toEqual([503, 'application/json', '5', '*']);
      expect(await away.json()).toMatchObject({ message: '503 Service Unavailable' });
    } finally {
      await running.close();
    }
  });

  it.skipIf(program !== undefined || !usesTwins[host])(
    'H4: sends the compressed twins of files, and no part of what is compressed on the way',
    async () => {
      // So small that no host compresses it by itself.
      const [file, text] = ['v2/jailbreak/package/tiny.json', '{"data":[]}'];
      server.write(file, text);
      writeFileSync(path.join(server.folder, `${file}.gz`), gzipSync(text));
      writeFileSync(path.join(server.folder, `${file}.br`), brotliCompressSync(text));
      const running = await startHost(host, { publication: server.folder });
      try {
        for (const coding of usesTwins[host] ?? []) {
          for (const address of [`/${file}`, '/v2/jailbreak/package/tiny']) {
            const answer = await fetch(running.address + address, { headers: { 'Accept-Encoding': coding } });
            const told = ['content-encoding', 'content-type'].map((name) => answer.headers.get(name));
            expect([address, ...told]).toEqual([address, coding, 'application/json']);
            expect(answer.headers.get('vary')).toMatch(/accept-encoding/i);
            expect(await answer.text()).toBe(text);
          }
        }
        // A part of a file is none of its compressed form.
        const part = async (coding: string) => {
          const headers = { Range: 'bytes=0-2999', 'Accept-Encoding': coding };
          const answer = await fetch(`${running.address}/v2/jailbreak/package/large.json`, { headers });
          const length = (await answer.text()).length;
          return { status: answer.status, coding: answer.headers.get('content-encoding'), length };
        };
        server.write('v2/jailbreak/package/large.json', `{"data":["${'x'.repeat(5000)}"]}`);
        expect(await part('identity')).toEqual({ status: 206, coding: null, length: 3000 });
        expect(await part('gzip')).toEqual({ status: 200, coding: 'gzip', length: 5013 });
      } finally {
        rmSync(path.join(server.folder, 'v2/jailbreak/package/large.json'), { force: true });
        await running.close();
        for (const ending of ['', '.gz', '.br']) rmSync(path.join(server.folder, `${file}${ending}`));
      }
    },
  );

  it.skipIf(program !== undefined)('P4: says 501 where there is no function, and what is missing', async () => {
    const running = await startHost(host, { publication: server.folder });
    try {
      const addresses = [
        ...computedRoutes.map(({ address }) => `/v2${address.replace(/\{\w+\}|\*$/, 'x')}`),
        ...Object.values(operations)
          .filter((operation) => !('file' in operation))
          .map(({ address }) => address.replace(/\{\w+\}/, 'x')),
        ...olderRoutes.flatMap(({ folder }) => [folder, `${folder}/community/packages?id=x`]),
      ];
      for (const address of addresses) {
        const answer = await fetch(running.address + address);
        expect([address, answer.status], address).toEqual([address, 501]);
        expect(await answer.json()).toMatchObject({ message: '501 Not Implemented', error: noFunction });
        const told = ['content-type', 'access-control-allow-origin', 'cache-control'].map((name) =>
          answer.headers.get(name),
        );
        expect(told, address).toEqual(['application/json', '*', 'no-store']);
      }
      // A page of a list is the whole of it then.
      const list = '/v2/jailbreak/repository/sample/packages';
      const whole = await fetch(`${running.address}${list}?limit=1&page=2`);
      expect(await whole.text()).toBe(await (await fetch(running.address + list)).text());
    } finally {
      await running.close();
    }
  });
});
