import { hash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { safetyFile } from '../../functions/node/safety-file.ts';
import { readEdgePublication, wranglerSettings } from '../../scripts/bundling/cloudflare-settings.ts';
import { encodeFolderName } from '../../src/contract/filenames.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { createSigner } from '../../src/publication/signature.ts';
import { runEveryClient } from '../clients/every-client.ts';
import { readPublished } from '../clients/published-records.ts';
import { BuiltPublication, FileOrigin } from '../support/built-publication.ts';
import { base, packages, type SourceRepository } from '../support/catalog.ts';
import { startEdge } from '../support/edge.ts';
import { type EdgeBundle, makeEdgeBundle } from '../support/edge-runtime.ts';
import { temporaryFolder } from '../support/folder.ts';
import { generatedRepositories } from '../support/generated.ts';
import { arbitraryRequest } from '../support/generated-requests.ts';
import { privateKey, publicKey } from '../support/publication.ts';
import { startReplicaServer } from '../support/replica-server.ts';
import { startTestServer } from '../support/test-server.ts';
import { openConnections, openWire, type Received, type Sent } from '../support/wire.ts';

const requests = 120;

const undated = (text: string): string => text.replace(/"date":"[^"]*"/, '');

const portOf = ({ address }: { readonly address: string }): number => Number(new URL(address).port);

type Connections = ReturnType<typeof openConnections>;

// A connection may be closed, as too old, while something is sent over it.
const sendTwice = (connections: Connections, sent: Sent): Promise<Received> =>
  connections.send(sent).catch(() => connections.send(sent));

const toText = ({ status, body }: Received) => ({ status, body: undated(body.toString()) });

let bundle: EdgeBundle;
beforeAll(async () => {
  bundle = await makeEdgeBundle();
  return () => rmSync(path.dirname(bundle.folder), { recursive: true });
});

const publishOnLoopback = async () => {
  const publication = new BuiltPublication();
  publication.hasPortions = true;
  const origin = await new FileOrigin(publication.folder).open();
  onTestFinished(() => origin.close().catch(() => {}));
  return { publication, origin };
};

const repository = (text: string, count = 3): SourceRepository => ({
  slug: 'one',
  aliases: ['former'],
  packages: packages(
    ...Array.from({ length: count }, (_, index) => ({ Package: `com.example.p${index}`, Description: text })),
  ),
});

const told = ({ headers, status }: Response): Record<string, unknown> => ({
  status,
  ...Object.fromEntries(
    [
      'content-type',
      'etag',
      'cache-control',
      'vary',
      'access-control-allow-origin',
      'location',
      'allow',
      'retry-after',
    ].map((name) => [name, headers.get(name)]),
  ),
});

/** What is computed, well and badly, beside the documents. */
const computed = [
  '/v2/jailbreak/package/search?q=dock',
  '/v2/jailbreak/package/search?q=dcok',
  '/v2/jailbreak/package/search?q=nowboar',
  '/v2/jailbreak/package/search?q=dock&architecture=iphoneos-arm64&firmware=16.7&price=Free&limit=2&page=2',
  '/jailbreak/package/search?q=com.&limit=250',
  '/v2/jailbreak/package/multi?ids=com.example.p0,none,com.example.p7&priority=bootstrap',
  '/v2/jailbreak/repository/search?q=one',
  '/v2/jailbreak/repository/one/packages?limit=50&page=2',
  '/v2/jailbreak/repository/former/packages?page=1',
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
  '/livez',
  '/readyz',
  '/',
  '/packages/',
];

// Each says how long it has answered from what it has.
const isOfMoment = (target: string): boolean => /^\/(?:v2\/?)?(?:index\.json|healthz)?(?:\?|$)/.test(target);

describe('the function at the edge', () => {
  it('E1: is one small module of web standards, and its configuration binds what it reads', () => {
    expect(bundle.compressed).toBeLessThan(150_000);
    const text = readFileSync(path.join(bundle.folder, 'worker.js'), 'utf8');
    expect([...text.matchAll(/\bimport\s*(?:[\w{},*\s$]+from\s*)?["']([^"']+)["']/g)].map(([, name]) => name)).toEqual([
      'cloudflare:workers',
    ]);
    expect(readdirSync(bundle.folder).sort()).toEqual(['LICENSE', 'LICENSES', 'worker.js', 'wrangler.jsonc']);
    expect(readFileSync(path.join(bundle.folder, 'LICENSES'), 'utf8')).toMatch(/^hono .*^jose .*^zod /ms);
    const settings = readFileSync('functions/cloudflare/settings.ts', 'utf8');
    const bound = new Set([...settings.matchAll(/^ {2}readonly ([A-Z_]+)\??:/gm)].map(([, name]) => name));
    const named = (where: string): string[] => {
      const publication = readEdgePublication(where);
      if (publication === undefined) throw new Error(where);
      const written = wranglerSettings({ publication, publicKey: 'key', name: 'debdex' }, '/a/b');
      const { durable_objects, migrations, main, vars, ...rest } = JSON.parse(written.replace(/^\/\/.*\n/, ''));
      expect(main).toBe('worker.js');
      const classes = durable_objects.bindings.map(({ class_name: one }: { class_name: string }) => one);
      expect(migrations.flatMap(({ new_sqlite_classes: each }: { new_sqlite_classes: string[] }) => each)).toEqual(
        classes,
      );
      for (const one of classes) expect(text).toMatch(new RegExp(`export\\s*\\{[^}]*\\b${one}\\b`));
      return [
        ...durable_objects.bindings.map(({ name }: { name: string }) => name),
        ...(rest.assets ? [rest.assets.binding] : []),
        ...(rest.r2_buckets ?? []).map(({ binding }: { binding: string }) => binding),
        ...Object.keys(vars),
      ];
    };
    const all = ['/a/dist', 'r2://bucket/v/', 'https://index.example/x/'].flatMap(named);
    expect(new Set(all)).toEqual(bound);
    expect(readEdgePublication('r2://bucket/v/')).toEqual({ kind: 'bucket', bucket: 'bucket', prefix: 'v' });
    for (const none of ['r2://Bucket', 'ftp://a', 'https://a:b@c/', 'https://a/?b']) {
      expect(readEdgePublication(none), none).toBeUndefined();
    }
  });

  it('E1: answers byte for byte as a replica on Node does, but for the date', { timeout: 180_000 }, async () => {
    const { publication, origin } = await publishOnLoopback();
    await publication.publish([...generatedRepositories(), repository('x'.repeat(3000), 200)]);
    const replica = await startReplicaServer(origin.address, { safetyList: safetyFile });
    const edge = await startEdge(bundle, { source: { address: origin.address } });
    await Promise.all([replica.until(1), edge.until(1)]);
    const files = publication
      .files()
      .filter((file) => file.startsWith('v2/') && file !== documentPath.status)
      .map((file) => `/${file.split('/').map(encodeURIComponent).join('/')}`);
    const isAsked = (file: string, index: number) => index % 4 === 0 || !file.includes('/package/');
    for (const target of [...files.filter(isAsked), ...computed]) {
      if (isOfMoment(target)) continue;
      const [ours, theirs] = await Promise.all([edge.get(target), replica.get(target)]);
      const [our, their] = [await ours.text(), await theirs.text()];
      const isDated = !files.includes(target);
      expect(isDated ? undated(our) : our, target).toBe(isDated ? undated(their) : their);
      const [said, expected] = [told(ours), told(theirs)];
      // A large document is not read twice for its digest.
      if (our.length > 256 * 1024) said.etag = expected.etag;
      // Whoever compresses what is computed says that it depends on that: the platform, there.
      if (isDated) said.vary = expected.vary;
      expect(said, target).toEqual(expected);
      const etag = ours.headers.get('etag');
      if (etag !== null) expect((await edge.get(target, { 'if-none-match': etag })).status, target).toBe(304);
    }

    const { packages: records, repositories } = readPublished(publication.folder);
    const ids = [...new Set(records.map(({ package_id }) => package_id))].filter((_, index) => index % 5 === 0);
    const slugs = repositories.map(({ slug }) => slug);
    const [atEdge, onNode] = [openConnections(portOf(edge)), openConnections(portOf(replica))];
    let compared = 0;
    for (const { headers = {}, ...request } of fc.sample(arbitraryRequest(ids, slugs), {
      numRuns: requests,
      seed: 16,
    })) {
      // What no client may send as it is, whatever stands before the Worker reads in its own way; and it takes these
      // headers for itself.
      if (isOfMoment(request.target) || /[#\\]|[^!-~]/.test(request.target)) continue;
      const { host: _, 'accept-encoding': __, ...others } = headers;
      const sent = { ...request, headers: others };
      const [ours, theirs] = await Promise.all([sendTwice(atEdge, sent), sendTwice(onNode, sent)]);
      expect(toText(ours), `${sent.method} ${sent.target}`).toEqual(toText(theirs));
      compared++;
    }
    expect(compared).toBeGreaterThan(requests / 2);
    atEdge.close();
    onNode.close();
    const wire = openWire(portOf(edge));
    expect(
      await runEveryClient(wire, { packages: records.slice(0, 4), repositories: repositories.slice(0, 2) }),
    ).toBeGreaterThan(100);
    wire.close();
    expect(edge.lines.filter(({ event }) => event !== 'generation-taken')).toEqual([]);
  });

  it('E1: answers pages and documents from what is deployed with it, or from a bucket, as the server of the build does', {
    timeout: 180_000,
  }, async () => {
    const publication = new BuiltPublication();
    publication.hasPortions = true;
    const pages = {
      'index.html': '<p>front',
      '404.html': '<p>none',
      'about/index.html': '<p>about',
      'assets/a.js': '"x"',
      [`repository/${encodeFolderName('Odd')}/index.html`]: '<p>odd',
    };
    for (const [file, text] of Object.entries(pages)) {
      mkdirSync(path.dirname(path.join(publication.folder, file)), { recursive: true });
      writeFileSync(path.join(publication.folder, file), text);
    }
    await publication.publish([...generatedRepositories(), repository('x'.repeat(3000), 200)]);
    const search = new CatalogFiles(publication.state);
    const built = await startTestServer({
      published: { ...publication, write: () => {}, remove: () => {} },
      overrides: { search, older: search.older, publicAddress: () => base },
    });
    onTestFinished(async () => {
      await built.close();
      search.close();
    });
    const assets = path.join(temporaryFolder(), 'public');
    cpSync(publication.folder, assets, { recursive: true, filter: (file) => !path.basename(file).startsWith('.') });
    const edges = [
      await startEdge(bundle, { source: { assets } }),
      await startEdge(bundle, { source: { bucket: true }, variables: { PREFIX: 'a/b' } }),
    ];
    for (const file of publication.files(true)) {
      const bytes = publication.read(file);
      await edges[1]?.put(`a/b/${file}`, bytes, hash('sha256', bytes));
    }
    const targets = [
      ...['/', '/about', '/about/?a=b', '/about/', '/assets/a.js', '/none', '/.hidden', '/repository/Odd/'],
      ...[
        '/v2',
        '/v2/',
        '/v2/index.json',
        '/v2/generation.json',
        '/v2/openapi.yaml',
        '/v2/jailbreak/package/com.example.p0',
      ],
      ...[
        '/jailbreak/repository/ranking?rank=*',
        '/v2/jailbreak/repository/ranking',
        '/v2/jailbreak/repository/one/packages',
      ],
      // Downloads are counted on Node alone.
      ...computed.filter((target) => !target.includes('/download/')),
    ];
    for (const edge of edges) {
      await edge.until(1);
      for (const target of targets) {
        // What is computed is one thing to everybody.
        for (const accept of computed.includes(target) ? ['*/*'] : ['text/html', 'application/json']) {
          const theirs = await fetch(built.address + target, {
            headers: { 'accept-encoding': 'identity', accept },
            redirect: 'manual',
          });
          const ours = await edge.get(target, { accept });
          const [our, their] = [await ours.text(), await theirs.text()];
          const isComputed = computed.includes(target);
          const isDated = isComputed || theirs.status >= 400;
          expect(isDated ? undated(our) : our, target).toBe(isDated ? undated(their) : their);
          const [said, expected] = [told(ours), told(theirs)];
          if (isComputed) said.vary = expected.vary;
          // Of what was deployed the platform tells no digest, and a large file is not read for it.
          if (our.length > 256 * 1024 && edge === edges[0]) said.etag = expected.etag;
          expect(said, `${target} ${accept}`).toEqual(expected);
        }
      }
      expect(edge.lines.filter(({ event }) => event !== 'generation-taken')).toEqual([]);
    }
  });
});

describe('an edge host that follows a publication', () => {
  const lookup = '/v2/jailbreak/package/com.example.p0';

  it('E2: goes from one generation to the next without losing a request, and takes only what differs', {
    timeout: 180_000,
  }, async () => {
    const { publication, origin } = await publishOnLoopback();
    const still: SourceRepository = {
      slug: 'still',
      packages: packages(
        ...Array.from({ length: 1500 }, (_, at) => ({ Package: `org.still.p${at}`, Description: `${at} `.repeat(80) })),
      ),
    };
    await publication.publish([still, repository('before')]);
    const edge = await startEdge(bundle, { source: { address: origin.address } });
    await edge.until(1);
    const portionsAsked = () => origin.asked.filter((file) => file.endsWith('.portion'));
    const first = portionsAsked();
    expect(first.length).toBeGreaterThan(10);
    const answers: string[] = [];
    let isOver = false;
    const asking = (async () => {
      while (!isOver) {
        const [one, found] = await Promise.all([
          edge.get(lookup),
          edge.get('/v2/jailbreak/package/search?q=com.example.p0'),
        ]);
        expect([one.status, found.status]).toEqual([200, 200]);
        const texts = [await one.text(), await found.text()];
        for (const text of texts) answers.push(/"description":"(\w+)"/.exec(text)?.[1] ?? text);
      }
    })();
    for (const [number, text] of [
      [2, 'second'],
      [3, 'third'],
    ] as const) {
      await publication.publish([still, repository(text)]);
      await edge.until(number);
      await vi.waitFor(() => expect(answers.slice(-2)).toEqual([text, text]));
    }
    isOver = true;
    await asking;
    expect([...new Set(answers)]).toEqual(['before', 'second', 'third']);
    // The other object had nothing at the second; at the third the first one had the first.
    const third = portionsAsked().slice(first.length * 2);
    expect(third.length).toBeGreaterThan(0);
    expect(third.length).toBeLessThan(first.length / 2);
  });

  it('E2: goes on where it was killed between two portions, and takes none of them twice', {
    timeout: 180_000,
  }, async () => {
    const { publication, origin } = await publishOnLoopback();
    await publication.publish([repository('x', 50)]);
    const storage = temporaryFolder();
    let portions = 0;
    const stuck = Promise.withResolvers<void>();
    origin.intercept = (file) => {
      if (!file.endsWith('.portion') || ++portions < 4) return undefined;
      stuck.resolve();
      return () => {};
    };
    const killed = await startEdge(bundle, { source: { address: origin.address }, storage });
    expect((await killed.get(lookup)).status).toBe(503);
    await stuck.promise;
    await killed.kill();
    const before = origin.asked.filter((file) => file.endsWith('.portion'));
    origin.intercept = undefined;
    origin.asked = [];
    const edge = await startEdge(bundle, { source: { address: origin.address }, storage });
    await edge.until(1);
    const after = origin.asked.filter((file) => file.endsWith('.portion'));
    expect(after).toContain(before[3]);
    for (const file of before.slice(0, 3)) expect(after).not.toContain(file);
    expect((await edge.get(lookup)).status).toBe(200);
    await edge.kill();
    // What it holds it answers from at once, whatever became of the publication.
    await origin.close();
    const again = await startEdge(bundle, { source: { address: origin.address }, storage });
    expect((await again.get(lookup)).status).toBe(200);
  });

  it('E2: takes what the publication has by now, where it went on before all of the first was taken', {
    timeout: 180_000,
  }, async () => {
    const { publication, origin } = await publishOnLoopback();
    await publication.publish([repository('first', 50)]);
    const former = new Set(publication.files(true).filter((file) => file.endsWith('.portion')));
    origin.intercept = (file) => (former.has(file) ? (response) => response.writeHead(404).end() : undefined);
    const edge = await startEdge(bundle, { source: { address: origin.address } });
    expect((await edge.get(lookup)).status).toBe(503);
    await vi.waitFor(() => expect(edge.lines.map(({ event }) => event)).toContain('trouble'), { timeout: 30_000 });
    await publication.publish([repository('second', 50)]);
    for (const file of publication.files(true)) former.delete(file);
    await edge.until(2);
    expect(await (await edge.get(lookup)).text()).toContain('"description":"second"');
  });

  it('P3: refuses what is altered, older, not signed or not published as rows, says why once, and goes on with what it has', {
    timeout: 180_000,
  }, async () => {
    const { publication, origin } = await publishOnLoopback();
    const signer = await createSigner(privateKey);
    await publication.publish([repository('first')], { signer });
    const older = new Map(publication.files(true).map((file) => [file, publication.read(file)]));
    const edge = await startEdge(bundle, { source: { address: origin.address }, variables: { PUBLIC_KEY: publicKey } });
    await edge.until(1);
    const troubles = () => edge.lines.flatMap(({ event, message }) => (event === 'trouble' ? String(message) : []));
    const untilTrouble = async (pattern: RegExp) => {
      await vi.waitFor(() => expect(troubles().at(-1)).toMatch(pattern), { timeout: 30_000, interval: 50 });
      expect(await (await edge.get(lookup)).text()).toContain('"description":"first"');
    };
    await publication.publish([repository('second')]);
    await untilTrouble(/generation\.jws is missing: nothing was taken/);
    await publication.publish([repository('third')], { signer });
    origin.intercept = (file) => {
      if (!file.endsWith('.portion')) return undefined;
      const bytes = Buffer.from(publication.read(file));
      bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20);
      return bytes;
    };
    await untilTrouble(/\.portion is missing or has other bytes than the generation says/);
    publication.hasPortions = false;
    await publication.publish([repository('fourth')], { signer });
    origin.intercept = undefined;
    await untilTrouble(/not published as rows: publish with npm run build -- --portions/);
    publication.hasPortions = true;
    await publication.publish([repository('fifth')], { signer });
    await edge.until(5);
    expect(await (await edge.get(lookup)).text()).toContain('"description":"fifth"');
    origin.intercept = (file) => older.get(file);
    await vi.waitFor(() => expect(troubles().at(-1)).toMatch(/Generation 1 of .* is older than generation 5/), {
      timeout: 30_000,
      interval: 50,
    });
    expect(await (await edge.get(lookup)).text()).toContain('"description":"fifth"');
    expect(new Set(troubles()).size).toBe(troubles().length);
  });
});
