import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Worker } from 'node:worker_threads';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { OpenCatalog } from '../../functions/node/open-catalog.ts';
import { ReplicaIndex } from '../../functions/node/replica-index.ts';
import { healthSchema, landingSchema } from '../../src/contract/envelope.ts';
import { generationPath } from '../../src/contract/generation.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { createSigner } from '../../src/publication/signature.ts';
import { BuiltPublication, FileOrigin } from '../support/built-publication.ts';
import { base, packages, type SourceRepository } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';
import { generatedRepositories } from '../support/generated.ts';
import { patience } from '../support/patience.ts';
import { startProxy } from '../support/proxy-server.ts';
import { privateKey, publicKey } from '../support/publication.ts';
import { type ReplicaServer, startLastingReplica, startReplicaServer } from '../support/replica-server.ts';
import { startTestServer } from '../support/test-server.ts';
import { openConnections, type Received } from '../support/wire.ts';

let publication: BuiltPublication;
let origin: FileOrigin;
/** A replica that follows what one test after another publishes, signed. */
let replica: ReplicaServer;
let signer: Awaited<ReturnType<typeof createSigner>>;

const open = async (parent?: string) => {
  const opened = new BuiltPublication(parent);
  return { publication: opened, origin: await new FileOrigin(opened.folder).open() };
};

/** A publication of the test's own. */
const openOwn = async () => {
  const own = await open();
  onTestFinished(() => own.origin.close().catch(() => {}));
  return own;
};

/** Publishes the next generation, and resolves to its number when the replica answers from it. */
const publish = async (...repositories: SourceRepository[]): Promise<number> => {
  const { number } = await publication.publish(repositories, { signer });
  await replica.until(number);
  return number;
};

beforeAll(async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-replica-'));
  signer = await createSigner(privateKey);
  ({ publication, origin } = await open(folder));
  await publication.publish([repository('0')], { signer });
  replica = await startLastingReplica(origin.address, { publicKey, state: path.join(folder, 'replica') });
  await replica.until(1);
  return async () => {
    await replica.close();
    await origin.close();
    rmSync(folder, { recursive: true });
  };
});
beforeEach(() => {
  publication.address = base;
});

const repository = (text: string, count = 3): SourceRepository => ({
  slug: 'one',
  aliases: ['former'],
  packages: packages(
    ...Array.from({ length: count }, (_, index) => ({ Package: `com.example.p${index}`, Description: text })),
  ),
});
const lookup = '/v2/jailbreak/package/com.example.p0';
const sample = generatedRepositories();

/** Resolves when every read operation works. What health found is kept for a few seconds. */
const ready = (replica: ReplicaServer) =>
  vi.waitFor(async () => expect((await replica.get('/v2/readyz')).status).toBe(200), patience);

const identity = { 'accept-encoding': 'identity' };

/** The headers by which a cache or a client acts. */
const told = ({ headers, status }: Received) => ({
  status,
  ...Object.fromEntries(
    [
      'content-type',
      'content-length',
      'content-encoding',
      'etag',
      'cache-control',
      'vary',
      'access-control-allow-origin',
    ].map((name) => [name, headers[name]]),
  ),
});

describe('a server of a replica', () => {
  it('P2: answers every document as the server of the build does: bytes, tag, age and coding', async () => {
    const said = replica.lines.length;
    await publish(...sample, repository('x'.repeat(3000), 100));
    const search = new CatalogFiles(publication.state);
    const built = await startTestServer({
      published: { ...publication, write: () => {}, remove: () => {} },
      overrides: { search, older: search.older, publicAddress: () => base },
    });
    const [asked, expected] = [openConnections(replica.port), openConnections(built.port)];
    onTestFinished(async () => {
      for (const connections of [asked, expected]) connections.close();
      await built.close();
      search.close();
    });
    // What the builds did is no part of the catalog: a replica leads to who built, which has its own test below.
    const files = publication
      .files()
      .filter((file) => file.startsWith('v2/') && file !== documentPath.status)
      // Its packages differ in nothing but their number, and of those of strangers the other hosts are asked a part too.
      .filter((file) => !/com\.example\.p\d+[1-9]\./.test(file))
      .filter((file, at) => at % 4 === 0 || !file.includes('/package/'));
    const operations = [lookup, '/jailbreak/repository/ranking?rank=*', '/v2/jailbreak/repository/former/findings'];
    const computed = [
      '/v2/jailbreak/package/search?q=dock',
      '/v2/jailbreak/package/search?q=dock&architecture=iphoneos-arm64&firmware=16.7&price=Free',
      '/v2/jailbreak/package/multi?ids=com.example.p0',
      '/v2/jailbreak/repository/one/packages?limit=50&page=2',
      '/v1/',
      '/v1/community/packages?id=com.example.p0',
      '/v1/community/packages/search?query=dock',
      '/v1/community/repositories/search?query=',
      '/v4/canister-services/jailbreak/package/search?q=dock',
    ];
    const unknown = [
      '/v2/jailbreak/repository/former/packages?page=1',
      '/v2/jailbreak/package/none',
      '/v2/none',
      '/v2/jailbreak/repository/ranking?rank=9',
    ];
    const targets = [...files.map((file) => `/${file.split('/').map(encodeURIComponent).join('/')}`), ...operations];
    for (const target of [...targets, ...computed, ...unknown]) {
      const sent = { method: 'GET', target, headers: identity };
      const [ours, theirs] = await Promise.all([asked.send(sent), expected.send(sent)]);
      expect(told(ours), target).toEqual(told(theirs));
      const [our, their] = [ours.body.toString(), theirs.body.toString()];
      // What is computed says when.
      const date = /"date":"[^"]*"/;
      if (computed.includes(target) || unknown.includes(target))
        expect(our.replace(date, '')).toBe(their.replace(date, ''));
      else expect(our, target).toBe(their);
      const { etag } = ours.headers;
      if (etag === undefined) continue;
      const again = { ...sent, headers: { ...identity, 'if-none-match': etag } };
      expect((await asked.send(again)).status).toBe(304);
    }
    const large = `/${documentPath.repositoryPackages('one')}`;
    for (const target of [large, lookup]) {
      for (const coding of ['br', 'gzip', 'zstd']) {
        const sent = { method: 'GET', target, headers: { 'accept-encoding': coding } };
        const [ours, theirs] = await Promise.all([asked.send(sent), expected.send(sent)]);
        expect(told(ours)).toEqual(told(theirs));
        expect(ours.body).toEqual(theirs.body);
      }
    }
    expect(
      replica.lines.slice(said).filter(({ event }) => event !== 'generation-taken' && event !== 'unhealthy'),
    ).toEqual([]);
  }, 600_000);

  it('shows in health and the landing document from what it answers, as the contract has it', async () => {
    const number = await publish(repository('1'));
    await ready(replica);
    const health = healthSchema.parse(await (await replica.get('/v2/healthz')).json());
    const { date } = publication.current;
    expect(health.data.replica).toMatchObject({ generation: number, published: date });
    expect(health.data.replica?.age).toBeGreaterThan(0);
    const answer = await replica.get('/v2/');
    const landing = landingSchema.parse(await answer.json());
    expect(landing.data.replica).toMatchObject({ generation: number, published: date });
    expect(answer.headers.get('etag')).toBeNull();
    const { replica: _, ...data } = landing.data;
    expect({ ...landing, data }).toEqual(JSON.parse(publication.read(documentPath.landing).toString()));
    // Under its own name it is what was published.
    expect(await (await replica.get('/v2/index.json')).text()).toBe(publication.read(documentPath.landing).toString());
    await vi.waitFor(async () => expect((await replica.generation()).confirmed).not.toBeNull(), patience);
    expect(await (await replica.get(`/${generationPath.current}`)).json()).toEqual(publication.current);
    // Where only pages change it is the next generation all the same, of the same catalog.
    writeFileSync(path.join(publication.folder, 'other.html'), 'a page');
    expect(await publish(repository('1'))).toBe(number + 1);
    expect((await replica.get(lookup)).status).toBe(200);
    expect(await (await replica.get(`/${generationPath.current}`)).json()).toEqual(publication.current);
  });

  it('shows no age below nothing where the clock of the publication is ahead', async () => {
    const { now } = publication;
    publication.now = new Date('2099-01-01T00:00:00Z');
    await publish(repository('of the future'));
    expect((await replica.generation()).age).toBe(0);
    publication.now = now;
  });

  it('P4: sends who asks for a page, or for changes, which it does not keep, to where they are published, and never in a circle', async () => {
    await publish(repository('1'));
    await publish(repository('2'));
    const html = { accept: 'text/html' };
    for (const target of ['/', '/packages/?q=a%20b', '/feed.atom', '/%2F%2Felsewhere.test/x']) {
      const answer = await replica.get(target, html);
      expect([answer.status, answer.headers.get('location')]).toEqual([307, base + target]);
      // A publication may get the page that it lacks, or another address.
      expect(answer.headers.get('cache-control')).toBe('public, max-age=60');
      // Scripts of other sites may read feeds, and pages not.
      const open = target === '/feed.atom' ? '*' : null;
      expect(answer.headers.get('access-control-allow-origin'), target).toBe(open);
    }
    // A host that hands on searches would hand this on again, but the file under its own name it has itself.
    for (const [target, expected] of [
      ['/search/?q=a%20b&sort=name', '/search/index.html?q=a%20b&sort=name'],
      ['/search/?%71=%ff', '/search/index.html?%71=%ff'],
      ['/search/', '/search/'],
      ['/search?q=a', '/search?q=a'],
    ] as const) {
      expect((await replica.get(target, html)).headers.get('location')).toBe(base + expected);
    }
    // As at the publication: previews of links name no type, and are shown the site.
    for (const accept of ['*/*', 'text/plain', 'application/json, text/html']) {
      const answer = await replica.get('/', { accept });
      expect([accept, answer.status, answer.headers.get('location')]).toEqual([accept, 307, `${base}/`]);
      expect([accept, answer.headers.get('vary')]).toEqual([accept, 'Accept']);
    }
    expect((await replica.get('/', { accept: 'application/json' })).status).toBe(200);
    const builds = await replica.get('/v2/status.json');
    expect([builds.status, builds.headers.get('location')]).toEqual([307, `${base}/v2/status.json`]);
    expect((await replica.get('/none', { accept: '*/*' })).status).toBe(307);
    // A name of a host is the same in capitals.
    const host = new URL(base).host.toUpperCase();
    const { request } = await import('node:http');
    const statusByItsName = (path: string, accept: string) =>
      new Promise((resolve) =>
        request({ port: replica.port, host: '127.0.0.1', path, headers: { host, accept } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        }).end(),
      );
    expect(await statusByItsName('/packages/', '*/*')).toBe(404);
    // Caddy hands a search on with its own name, and has the file.
    for (const [path, status] of [
      ['/search/?q=a', 307],
      ['/search/', 404],
      ['/search/index.html?q=a', 404],
    ] as const) {
      expect([path, await statusByItsName(path, 'text/html')]).toEqual([path, status]);
    }
    expect(await statusByItsName('/', 'text/html')).toBe(404);
    expect(await statusByItsName('/', '*/*')).toBe(200);
    const { changes } = (await (await replica.get(`/${generationPath.current}`)).json()) as { changes: string };
    const answer = await replica.get(`/${changes}`);
    const told = ['location', 'access-control-allow-origin'].map((name) => answer.headers.get(name));
    expect([answer.status, ...told]).toEqual([307, `${base}/${changes}`, '*']);
    expect((await replica.get('/v2/jailbreak/package/none')).status).toBe(404);
  });

  it('P4: answers below the path of the publication, whether a proxy keeps the path or takes it off', async () => {
    publication.address = `${base}/debdex`;
    await publish(repository('1'));
    await ready(replica);
    const { data } = (await (await replica.get(lookup)).json()) as { data: { refs: Record<string, string> }[] };
    const named = Object.values(data[0]?.refs ?? {}).map((address) => address.replace(base, ''));
    expect(named).toEqual(['package/com.example.p0', 'repository/one'].map((one) => `/debdex/v2/jailbreak/${one}`));
    for (const target of [...named, '/debdex/v2/healthz', '/debdex/v2/jailbreak/package/search?q=exam', '/debdex/v2']) {
      const [kept, taken] = [await replica.get(target), await replica.get(target.replace('/debdex', ''))];
      expect([target, kept.status, taken.status]).toEqual([target, 200, 200]);
    }
    const page = await replica.get('/debdex/packages/', { accept: 'text/html' });
    expect([page.status, page.headers.get('location')]).toEqual([307, `${base}/debdex/packages/`]);
    const search = await replica.get('/debdex/search/?q=a', { accept: 'text/html' });
    expect(search.headers.get('location')).toBe(`${base}/debdex/search/index.html?q=a`);
    expect((await replica.get('/debdexx/v2/')).headers.get('location')).toBe(`${base}/debdex/debdexx/v2/`);
    // The next generation may lie elsewhere.
    publication.address = `${base}/elsewhere`;
    await publish(repository('2'));
    expect((await replica.get(`/elsewhere${lookup}`)).status).toBe(200);
    expect((await replica.get(`/debdex${lookup}`)).status).toBe(307);
  });

  it('P2: is a publication to another replica, and each counts downloads only where it is told to', async () => {
    await publish(repository('1'));
    const second = await startReplicaServer(replica.address, { publicKey, countDownloads: true });
    const number = await publish(repository('2'));
    await second.until(number);
    expect(await (await second.get(lookup)).text()).toBe(
      publication.read(documentPath.package('com.example.p0')).toString(),
    );
    expect(Buffer.from(await (await replica.get(`/${generationPath.current}`)).arrayBuffer())).toEqual(
      publication.read(generationPath.current),
    );
    const report = JSON.stringify([{ package_id: 'com.example.p0', package_version: '1.0' }]);
    for (const server of [replica, second]) {
      const countsDownloads = server === second;
      const answer = await fetch(`${server.address}/v2/jailbreak/download/ingest`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: report,
      });
      expect(await answer.json()).toMatchObject({ count: countsDownloads ? 1 : 0 });
      const counted = await server.get('/v2/jailbreak/download/com.example.p0');
      expect(counted.status).toBe(countsDownloads ? 200 : 404);
      expect(existsSync(path.join(server.state, 'downloads.sqlite'))).toBe(countsDownloads);
      await vi.waitFor(async () => expect((await server.get('/v2/healthz')).status).toBe(200), patience);
    }
  });

  it('P2: is one to another replica that reaches nothing else, where the publication is not signed, too', async () => {
    const { publication, origin } = await openOwn();
    await publication.publish([repository('1')]);
    const first = await startReplicaServer(origin.address);
    await first.until(1);
    const second = await startReplicaServer(first.address);
    await second.until(1);
    expect(second.lines.filter(({ event }) => event === 'replica-trouble')).toEqual([]);
  });

  it('P3, H7: waits where the publication is away at its first start, and says so; its health is found out without reading all of one large list; later it starts from what it took', async () => {
    const { publication, origin } = await openOwn();
    await publication.publish([repository('x'.repeat(3000), 400)]);
    await origin.close();
    const replica = await startReplicaServer(origin.address);
    expect((await replica.get('/v2/livez')).status).toBe(200);
    expect((await replica.get('/v2/readyz')).status).toBe(503);
    expect((await replica.get(lookup)).status).toBe(503);
    expect((await replica.get('/v2/')).status).toBe(503);
    expect((await replica.get('/v2/jailbreak/package/search?q=dock')).status).toBe(503);
    for (const page of ['/', '/package/a%2Fb/']) expect((await replica.get(page)).status, page).toBe(503);
    expect(await replica.generation()).toMatchObject({ generation: null, age: null, confirmed: null });
    await vi.waitFor(
      () =>
        expect(replica.lines.map(({ reason }) => reason)).toContainEqual(
          expect.stringMatching(/could not be read: .* Nothing was taken yet; it is tried again\./),
        ),
      patience,
    );
    // Nothing is answered from what was never taken.
    expect(replica.lines.map(({ message }) => String(message)).join()).not.toContain('taken before');
    await origin.open();
    await replica.until(1);
    await ready(replica);
    const before = await (await replica.get(lookup)).text();
    await replica.close();
    await origin.close();
    const again = await startReplicaServer(origin.address, { state: replica.state });
    expect(await (await again.get(lookup)).text()).toBe(before);
    await ready(again);
    expect((await again.generation()).confirmed).toBeNull();
  });

  it('P3: does not answer from what another key signed', async () => {
    const state = temporaryFolder();
    cpSync(replica.state, state, { recursive: true });
    const other = await startReplicaServer(origin.address, { publicKey: 'A'.repeat(43), state });
    expect((await other.get(lookup)).status).toBe(503);
    expect(other.lines.map(({ reason }) => reason)).toContainEqual(
      expect.stringMatching(/not signed by the public key/),
    );
  });

  it('C1: asks nobody inside for what the publication leads to', async () => {
    const own = await openOwn();
    await own.publication.publish([repository('0')]);
    const led = 'http://169.254.169.254/latest/meta-data';
    own.origin.intercept = (file) =>
      file.endsWith('.jws') ? (response) => void response.writeHead(302, { location: led }).end() : undefined;
    const proxy = await startProxy(() => Number(new URL(own.origin.address).port));
    onTestFinished(() => proxy.close());
    const proxies = { http: proxy.address, https: undefined, except: undefined };
    const following = await startReplicaServer('http://index.example', { proxies });
    const isRefused = ({ reason }: Record<string, unknown>) =>
      /169\.254\.169\.254 is not an address of the public Internet/.test(String(reason));
    await expect.poll(() => following.lines.some(isRefused), patience).toBe(true);
    expect(proxy.asked).not.toContain(led);
  });

  it('P3: refuses a folder that another replica uses, with a sentence', async () => {
    await expect(startReplicaServer(origin.address, { state: replica.state })).rejects.toThrow(
      /another replica is using .*: give each replica a --state folder of its own/,
    );
    await publish(repository('still following'));
  });

  it('H2: goes on where its thread ended, from what is in force, and ends with it', async () => {
    const { publication, origin } = await openOwn();
    await publication.publish([repository('1')]);
    const threads: Worker[] = [];
    const note = (thread: Worker) => threads.push(thread);
    process.on('worker', note);
    onTestFinished(() => void process.off('worker', note));
    const replica = await startReplicaServer(origin.address);
    await replica.until(1);
    const told = () => replica.lines.filter(({ event }) => event === 'generation-taken').length;
    // The thread says so after the server has it.
    await expect.poll(told, patience).toBe(1);
    // Ten seconds are waited for in this test's stead.
    const pause = vi.spyOn(globalThis, 'setTimeout');
    await threads[0]?.terminate();
    const [restart] = pause.mock.calls.find(([, milliseconds]) => milliseconds === 10_000) ?? [];
    pause.mockRestore();
    const taken = () => origin.asked.filter((file) => file === publication.current.catalog.path).length;
    expect([typeof restart, taken()]).toEqual(['function', 1]);
    const { confirmed } = await replica.generation();
    (restart as () => void)();
    await vi.waitFor(async () => {
      const again = await replica.generation();
      expect(again.confirmed).not.toBeNull();
      expect(again.confirmed).not.toBe(confirmed);
    }, patience);
    // What is in force is not taken once more.
    expect([taken(), told()]).toEqual([1, 1]);
    await publication.publish([repository('2')]);
    await replica.until(2);
    await replica.close();
    expect(threads.map(({ threadId }) => threadId)).toEqual([-1, -1]);
  });

  it('P3: takes a generation again that could not be opened, and closes the one that it replaces', async () => {
    const use = vi.spyOn(ReplicaIndex.prototype, 'use').mockImplementationOnce(() => {
      throw new Error('no room for another file');
    });
    const close = vi.spyOn(OpenCatalog.prototype, 'close');
    onTestFinished(() => {
      use.mockRestore();
      close.mockRestore();
    });
    const said = replica.lines.length;
    await publish(repository('of a second try'));
    expect(use).toHaveBeenCalledTimes(2);
    expect(close).toHaveBeenCalledTimes(1);
    expect(JSON.stringify(replica.lines.slice(said))).toContain('no room for another file');
  });

  it('H2: ends at once, whatever the publication is doing', async () => {
    const { publication, origin } = await openOwn();
    await publication.publish([repository('1')]);
    origin.intercept = (file) => (file.startsWith('v2/catalog/') ? () => {} : undefined);
    const replica = await startReplicaServer(origin.address);
    await vi.waitFor(() => expect(origin.asked).toContain(publication.current.catalog.path), patience);
    await replica.close();
    const again = await startReplicaServer(origin.address, { state: replica.state });
    origin.intercept = undefined;
    await again.close();
  });
});
