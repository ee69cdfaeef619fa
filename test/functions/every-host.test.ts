import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { uncountedDownloads } from '../../functions/http/uncounted-downloads.ts';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { readSafetyEntries, safetyFile, watchSafetyList } from '../../functions/node/safety-file.ts';
import { encodeFolderName } from '../../src/contract/filenames.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { runEveryClient } from '../clients/every-client.ts';
import { readPublished } from '../clients/published-records.ts';
import { publishNoBuilds } from '../support/built.ts';
import { BuiltPublication, FileOrigin } from '../support/built-publication.ts';
import { base, packages, type SourceRepository } from '../support/catalog.ts';
import { canonicalPath } from '../support/described-answers.ts';
import { type EdgeBundle, makeEdgeBundle } from '../support/edge-runtime.ts';
import { generatedRepositories } from '../support/generated.ts';
import { arbitraryRequest } from '../support/generated-requests.ts';
import { type HostUnderTest, hosts } from '../support/hosts-under-test.ts';
import { searchPageText } from '../support/published.ts';
import type { Ask } from '../support/read-hosts.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';
import { openConnections, type Received, type Sent, wireOf } from '../support/wire.ts';

// One suite for every host of the function: the server of the build on Node is what each is compared with.

const requests = 80;

const repository: SourceRepository = {
  slug: 'one',
  aliases: ['former'],
  packages: packages(
    // More than a page of them, in a list that is too large to be kept in memory.
    ...Array.from({ length: 52 }, (_, at) => ({ Package: `com.example.p${at}`, Description: 'x'.repeat(6000) })),
  ),
};

/** Has one of these packages with other bytes. */
const other: SourceRepository = { slug: 'other', packages: packages({ Package: 'com.example.p0', Size: '101' }) };

/** All that is odd, and a part of what is usual: each is a file, which some hosts are handed one by one. */
const strange = generatedRepositories().map(({ packages, ...source }) => {
  const stanzas = packages.split(/\n\n+/);
  return { ...source, packages: stanzas.filter((_, at) => source.slug === 'odd' || at % 4 === 0).join('\n\n') };
});

const pages: Readonly<Record<string, string>> = {
  'index.html': '<p>front',
  '404.html': '<p>none',
  'about/index.html': '<p>about',
  'assets/a.js': '"x"',
  'index-repositories.json': '[]',
  'search/index.html': searchPageText,
  [`repository/${encodeFolderName('Odd')}/index.html`]: '<p>odd',
};

const [unsafe] = readSafetyEntries(safetyFile);

/** What is computed, well and badly. */
const computed = [
  `/v2/jailbreak/repository/safety?uris=${unsafe?.host}`,
  '/v2/jailbreak/package/search?q=dock',
  '/v2/jailbreak/package/search?q=dcok',
  '/v2/jailbreak/package/search?q=nowboar',
  '/v2/jailbreak/package/search?q=dock&architecture=iphoneos-arm64&firmware=16.7&price=Free&limit=2&page=2',
  '/jailbreak/package/search?q=com.&limit=250',
  '/v2/jailbreak/package/multi?ids=com.example.p0,none,com.example.p7&priority=bootstrap',
  // As many as a multi lookup takes, in as long an address as Deno reads.
  `/v2/jailbreak/package/multi?ids=${Array.from({ length: 2000 }, (_, at) => `com.example.package-no-${at}`).join(',')}`,
  '/v2/jailbreak/repository/search?q=one',
  '/v2/jailbreak/repository/one/packages?limit=50&page=2',
  '/v2/jailbreak/repository/former/packages?page=1',
  '/v2/jailbreak/repository/one/packages?limit=%ff',
  '/jailbreak/repository/one/packages?page=%ff',
  '/v2/jailbreak/package/com.example.p0/dependencies',
  '/v2/jailbreak/repository/safety?uris=https%3A%2F%2Fexample.test%2F,x',
  '/v2/jailbreak/download/com.example.p0',
  '/v1/',
  '/v1/community/packages?id=com.example.p0',
  '/v1/community/packages/search?query=dock',
  '/v1/community/repositories/search?query=',
  '/v4/canister-services/jailbreak/package/search?q=dock',
  '/v2/jailbreak/package/none',
  '/v2/none',
  '/v2/jailbreak/repository/ranking?rank=9',
  '/v2/jailbreak/package/search?q=a',
  '/v2/authenticate',
  '/v2/jailbreak/package/%ff',
  '/v1/community/%ff',
  '/livez',
];

const ofPages = [
  ...[
    '/search/',
    '/search/?q=',
    '/search/?q=dock',
    '/search/?q=dock&price=Free&section=&page=1',
    '/search/?q=dock&page=x',
    '/search/?q=%ff',
  ],
  ...['/search?q=dock', '/search/?a=dock', '/%73earch/?q=zzzz', '/search//?q=dock'],
  ...['/', '/about', '/about/?a=b', '/about/', '/assets/a.js', '/none', '/.hidden', '/repository/Odd/', '/packages/'],
  // Letters that are encoded, and what would end the path of a file that is asked for as it was decoded.
  ...['/%61bout/', '/repository/%4Fdd/', '/about%23x/', '/about/%3Fx/', '/about%2523x/', '/assets/a.js%23x'],
  ...['/v2', '/v2/', '/v2/index.json', '/v2/generation.json', '/jailbreak/repository/ranking?rank=*'],
];

let publication: BuiltPublication;
let origin: FileOrigin;
let server: TestServer;
let bundle: EdgeBundle;
let expected: ReturnType<typeof openConnections>;

beforeAll(async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-hosts-'));
  bundle = await makeEdgeBundle();
  publication = new BuiltPublication(folder);
  publication.hasPortions = true;
  for (const [file, text] of Object.entries(pages)) {
    mkdirSync(path.dirname(path.join(publication.folder, file)), { recursive: true });
    writeFileSync(path.join(publication.folder, file), text);
  }
  await publication.publish([...strange, repository, other]);
  publishNoBuilds(publication.folder);
  origin = await new FileOrigin(publication.folder).open();
  const search = new CatalogFiles(publication.state);
  const safety = watchSafetyList(safetyFile, () => {});
  server = await startTestServer({
    published: { ...publication, write: () => {}, remove: () => {} },
    overrides: { search, older: search.older, safety, publicAddress: () => base, downloads: uncountedDownloads },
  });
  expected = openConnections(server.port);
  return async () => {
    expected.close();
    await Promise.all([server.close(), origin.close()]);
    safety.close();
    search.close();
    for (const made of [folder, path.dirname(bundle.folder)]) rmSync(made, { recursive: true });
  };
});

const undated = (text: string): string => text.replace(/"date":"[^"]*"/, '');

const named = [
  ...[
    'content-type',
    'etag',
    'cache-control',
    'vary',
    'access-control-allow-origin',
    'location',
    'allow',
    'retry-after',
  ],
  'x-content-type-options',
];
const headersOf = ({ headers }: Received): Record<string, unknown> =>
  Object.fromEntries(named.map((name) => [name, headers[name]]));

// Each says how long it has answered from what it has, or asks how it is at the moment.
const isOfMoment = (target: string): boolean => /^\/(?:v2\/?)?(?:index\.json|healthz|readyz)?(?:\?|$)/.test(target);

/** What the server of the build answers, once for all hosts. */
const answered = new Map<string, Promise<Received>>();
const expectedOf = (sent: Sent): Promise<Received> => {
  const key = JSON.stringify(sent);
  const known = answered.get(key) ?? expected.send(sent).catch(() => expected.send(sent));
  answered.set(key, known);
  return known;
};

const compare = async (host: HostUnderTest, ask: Ask, sent: Sent): Promise<Received> => {
  const [ours, theirs] = await Promise.all([ask(sent), expectedOf(sent)]);
  const name = `${sent.method} ${sent.target} ${JSON.stringify(sent.headers)}`;
  expect([ours.status, undated(ours.body.toString())], name).toEqual([theirs.status, undated(theirs.body.toString())]);
  const [said, wanted] = [headersOf(ours), headersOf(theirs)];
  if (host.hasOtherTags && theirs.body.length > 256 * 1024) said.etag = wanted.etag;
  // Whoever compresses what is computed says that it depends on that.
  if (host.compresses) said.vary = wanted.vary;
  expect(said, name).toEqual(wanted);
  return ours;
};

const get = (target: string, headers: Record<string, string> = {}): Sent => ({
  method: 'GET',
  target,
  headers: { 'accept-encoding': 'identity', ...headers },
});

// What only a build has, a replica sends elsewhere for.
const isOfApi = (target: string): boolean =>
  /^\/(?:v\d(?!\/status)|jailbreak|livez|openapi)\b/.test(canonicalPath(target));

const compareFiles = async (host: HostUnderTest, ask: Ask): Promise<void> => {
  const files = publication
    .files()
    .filter((file) => file.startsWith('v2/') && file !== documentPath.status)
    .map((file) => `/${file.split('/').map(encodeURIComponent).join('/')}`)
    .filter((file, at) => at % 4 === 0 || !file.includes('/package/'));
  for (const target of [...files, ...computed]) {
    if (!host.hasPages && isOfMoment(target)) continue;
    const { headers } = await compare(host, ask, get(target));
    const { etag } = headers;
    if (etag === undefined) continue;
    expect((await ask(get(target, { 'if-none-match': etag }))).status, target).toBe(304);
  }
  if (!host.hasPages) return;
  for (const target of ofPages) {
    for (const accept of ['text/html', 'application/json']) await compare(host, ask, get(target, { accept }));
  }
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
    await compare(host, ask, { ...get('/index-repositories.json'), method });
  }
};

const compareGenerated = async (host: HostUnderTest, ask: Ask, ids: readonly string[], slugs: readonly string[]) => {
  let compared = 0;
  for (const { headers = {}, ...request } of fc.sample(arbitraryRequest(ids, slugs), { numRuns: requests, seed: 16 })) {
    // What no client may send as it is, whatever stands before a host reads in its own way.
    if (isOfMoment(request.target) || /[#\\]|[^!-~]/.test(request.target)) continue;
    if (!host.hasPages && !isOfApi(request.target)) continue;
    if (host.isAskedByRequest && request.method === 'TRACE') continue;
    const { host: _, 'accept-encoding': coding, ...others } = headers;
    const isCoded = coding !== undefined && !host.compresses;
    const sent = { ...request, headers: { ...others, ...(isCoded ? { 'accept-encoding': coding } : {}) } };
    await compare(host, ask, sent);
    compared++;
  }
  expect(compared).toBeGreaterThan(requests / 2);
};

/** A question of addresses whose bytes go out as they are, as clients send them that encode nothing. */
const rawQuestion = (bytes: Buffer): Sent => get(`/v2/jailbreak/repository/safety?uris=${bytes.toString('latin1')}`);

// Only what reads requests off connections meets such bytes.
const compareRaw = async (host: HostUnderTest, ask: Ask): Promise<void> => {
  for (const text of ['https://bücher.example/é', 'https://\u{1d5ba}b.example/', 'https://ａb.example/']) {
    await compare(host, ask, rawQuestion(Buffer.from(text)));
  }
  // What is no UTF-8 is refused by Node, and read by some with U+FFFD in its place: no host has such a name.
  for (const bytes of [
    Buffer.from('https://b\xfccher.example/', 'latin1'),
    Buffer.from([0x61, 0xed, 0xa0, 0x80, 0x2e, 0x62]),
  ]) {
    expect((await expectedOf(rawQuestion(bytes))).status).toBe(400);
    const { status, body } = await ask(rawQuestion(bytes));
    if (status !== 400) expect(JSON.parse(body.toString()).data).toEqual([expect.objectContaining({ safe: false })]);
  }
};

/** What one of many visitors asks, each in words, under an address and with credentials that no other has. */
const visit = (visitor: number): readonly Sent[] => {
  const mark = markOf(visitor);
  const headers = {
    cookie: `session=${mark}`,
    authorization: `Bearer ${mark}`,
    referer: `https://${mark}.example/`,
    'user-agent': mark,
    'x-request-id': mark,
    'x-forwarded-for': `192.0.2.${visitor}`,
    'cf-connecting-ip': `192.0.2.${visitor}`,
  };
  const targets = [
    `package/search?q=com.example&limit=1&page=${visitor + 1}`,
    `package/search?q=${mark}`,
    `repository/safety?uris=https%3A%2F%2F${mark}.example%2F,x`,
    `package/multi?ids=com.example.p${visitor},${mark}`,
    `package/com.example.p${visitor}`,
    `package/${mark}`,
  ];
  return targets.map((target) => get(`/v2/jailbreak/${target}`, headers));
};

const visitors = 8;
const markOf = (visitor: number): string => `only-of-${visitor}-alone`;

/** Has all of them ask at once, so that each is between two steps of the others. */
const compareVisitors = async (host: HostUnderTest, ask: Ask): Promise<void> => {
  const everyone = Array.from({ length: visitors }, (_, visitor) => ({ visitor, sent: visit(visitor) }));
  const all = everyone.flatMap(({ visitor, sent }) => sent.map((one) => ({ visitor, one })));
  const answers = await Promise.all(
    all.map(async ({ visitor, one }) => {
      const received = await compare(host, ask, one);
      const text = JSON.stringify(received.headers) + received.body.toString();
      expect(text.replaceAll(markOf(visitor), ''), one.target).not.toMatch(/only-of-|192\.0\.2\./);
      return { one, etag: received.headers.etag };
    }),
  );
  // A tag that one visitor holds says nothing of what another asks for, or of what the same asks for elsewhere.
  const tagged = answers.flatMap(({ one, etag }) => (etag === undefined ? [] : [{ one, etag }]));
  expect(tagged.length).toBeGreaterThanOrEqual(visitors);
  await Promise.all(
    tagged.flatMap(({ one, etag }, at) => {
      const ask304 = async () => {
        const { status, body } = await ask({ ...one, headers: { ...one.headers, 'if-none-match': etag } });
        expect([status, body.length], one.target).toEqual([304, 0]);
      };
      const others = tagged[(at + 1) % tagged.length]?.etag ?? '';
      return [ask304(), compare(host, ask, { ...one, headers: { ...one.headers, 'if-none-match': others } })];
    }),
  );
};

describe('every host of the function', () => {
  it.for(hosts)(
    'E1, H5: $name answers byte for byte as the server of the build on Node, but for the date, and holds nothing of a visitor for another',
    async (host, { skip }) => {
      const ask = await host.start({ publication, origin, bundle });
      if (ask === undefined)
        return skip(`${host.name} is not here: put it into PATH, or say where by DEBDEX_${host.name.toUpperCase()}`);
      await compareFiles(host, ask);
      if (!host.isAskedByRequest) await compareRaw(host, ask);
      await compareVisitors(host, ask);
      if (host.isProgramOfAnother) return;
      const { packages: records, repositories } = readPublished(publication.folder);
      const ids = [...new Set(records.map(({ package_id }) => package_id))].filter((_, index) => index % 2 === 0);
      const slugs = repositories.map(({ slug }) => slug);
      await compareGenerated(host, ask, ids, slugs);
      const asked = { packages: records.slice(0, 2), repositories: repositories.slice(0, 1) };
      expect(await runEveryClient(wireOf(ask), asked)).toBeGreaterThan(90);
    },
  );
});
