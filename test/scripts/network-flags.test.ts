import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readNotifier } from '../../scripts/read-notifier.ts';
import { readService } from '../../scripts/read-service.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { CertificateAuthority, createCertificate } from '../support/certificates.ts';
import { temporaryFolder } from '../support/folder.ts';
import { storeCredentials } from '../support/object-store.ts';
import { OriginServer } from '../support/origin-server.ts';
import { startProxy } from '../support/proxy-server.ts';
import { Publication } from '../support/publication.ts';
import { runScript } from '../support/run-script.ts';

const project = path.join(import.meta.dirname, '..', '..');

const runProcess = async (args: readonly string[], environment: NodeJS.ProcessEnv) => {
  const child = spawn(process.execPath, args, { cwd: project, env: { ...process.env, ...environment } });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (text += piece));
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, text };
};

/** Builds without the site: in a process of its own where its environment is Node's own matter. */
const build = async (
  entries: readonly { slug: string; uri: string }[],
  { flags = [], environment }: { flags?: readonly string[]; environment?: NodeJS.ProcessEnv } = {},
) => {
  const folder = temporaryFolder();
  const manifest = path.join(folder, 'manifest.json');
  writeFileSync(manifest, JSON.stringify(entries.map((entry) => ({ ...entry, ranking: 3 }))));
  const places = ['--manifest', manifest, '--state', path.join(folder, 'state'), '--out', path.join(folder, 'out')];
  const parameters = [...places, '--no-site', ...flags];
  const { status, text } = await (environment === undefined
    ? runScript('build', parameters)
    : runProcess(['scripts/build.ts', ...parameters], environment));
  const packages = (slug: string) =>
    JSON.parse(readFileSync(path.join(folder, 'out', 'v2', 'jailbreak', 'repository', slug, 'packages.json'), 'utf8'))
      .count as number;
  return { status, text, packages };
};

it('C6: a build goes through the proxies of its environment, by CONNECT for https, and leaves out what that excepts', async () => {
  const authority = new CertificateAuthority();
  const certificate = createCertificate({ names: ['secure.example'], issuer: authority });
  const ca = path.join(temporaryFolder(), 'ca.pem');
  writeFileSync(ca, authority.cert);
  const [plain, secure] = [await OriginServer.start(), await OriginServer.start('127.0.0.1', certificate)];
  for (const [number, origin] of [plain, secure].entries()) {
    origin.serve('repo', await generateRepository({ packages: makePackages(number + 2), compressions: ['gz'] }));
    onTestFinished(() => origin.stop());
  }
  const proxy = await startProxy((host) => (host === 'secure.example' ? secure.port : plain.port));
  onTestFinished(() => proxy.close());
  const { status, text, packages } = await build(
    [
      { slug: 'plain', uri: 'http://plain.example/repo' },
      { slug: 'secure', uri: 'https://secure.example/repo' },
      { slug: 'direct', uri: plain.uri('repo') },
    ],
    {
      flags: ['--allow-private-networks'],
      environment: {
        HTTP_PROXY: proxy.address,
        HTTPS_PROXY: proxy.address,
        NO_PROXY: '127.0.0.1',
        NODE_EXTRA_CA_CERTS: ca,
      },
    },
  );
  expect(text).toContain('3 fresh');
  expect(status).toBe(0);
  expect(['plain', 'secure', 'direct'].map(packages)).toEqual([2, 3, 2]);
  const asked = proxy.asked.filter((one) => !one.includes('plain.example'));
  expect(new Set(asked)).toEqual(new Set(['CONNECT secure.example:443']));
  expect(proxy.asked.join()).toContain('plain.example');
});

it('C6: mirrors, uploads and words to the operator go through the proxies of the environment too', async () => {
  const server = createServer((_, response) => response.writeHead(403).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const proxy = await startProxy(() => (server.address() as AddressInfo).port);
  onTestFinished(() => proxy.close());
  const environment = { HTTP_PROXY: proxy.address, NO_PROXY: '', ...storeCredentials };
  const publication = new Publication();
  await publication.publish({ 'v2/index.json': 'landing' });
  const folder = temporaryFolder();
  const mirrored = await runScript('mirror', ['http://index.example', path.join(folder, 'mirror')], { environment });
  const store = ['s3://publications/site', '--endpoint', 'http://store.example'];
  const sent = await runScript('upload', [...store, '--out', publication.out], { environment });
  expect([mirrored.status, sent.status]).toEqual([1, 1]);
  vi.stubEnv('HTTP_PROXY', proxy.address);
  onTestFinished(() => void vi.unstubAllEnvs());
  const warned: string[] = [];
  const log = { warn: (event: string, words: string) => void warned.push(`${event} ${words}`) };
  const notifier = readNotifier(['http://operator.example/'], { name: 'Index', base: 'http://index.example' }, log);
  const failure = { name: 'Error', reason: 'the disk is full' };
  await notifier?.tell(folder, { failure }, new Date());
  expect(warned).toEqual([expect.stringMatching(/^untold .+403/)]);
  const hosts = new Set(proxy.asked.map((asked) => new URL(asked).hostname));
  expect(hosts).toEqual(new Set(['index.example', 'store.example', 'operator.example']));
});

it('C6: a build asks nothing of a private network unless told to, and then says whom its owner may write to', async () => {
  const origin = await OriginServer.start();
  onTestFinished(() => origin.stop());
  origin.serve('repo', await generateRepository({ packages: makePackages(1), compressions: ['gz'] }));
  const entries = [{ slug: 'inside', uri: origin.uri('repo') }];
  const refused = await build(entries);
  expect([refused.status, refused.text]).toEqual([1, expect.stringContaining('Build with --allow-private-networks')]);
  expect(origin.requests).toEqual([]);
  expect((await build(entries, { flags: ['--allow-private-networks'] })).status).toBe(0);
  const { contact_email: contact } = readService();
  const agents = new Set(origin.requests.map(({ headers }) => headers['user-agent']));
  expect([...agents]).toEqual([expect.stringMatching(/^Debdex\/\d/)]);
  expect([...agents].join()).toContain(`(+${contact})`);
});

it.each([1, 4])('C6: --concurrency %i visits so many repositories at once', async (concurrency) => {
  const visited: string[] = [];
  const hosts = [1, 2, 3, 4].map((number) => `127.0.0.${number}`);
  const everyone = Promise.withResolvers<void>();
  const serve = async (host: string): Promise<string> => {
    const files = await generateRepository({ packages: makePackages(2), compressions: ['gz'] });
    const server: Server = createServer(async (request, response) => {
      if (visited.at(-1) !== host) visited.push(host);
      if (new Set(visited).size === hosts.length) everyone.resolve();
      // Nobody is answered before all have been asked, where all may be visited at once.
      if (concurrency > 1) await everyone.promise;
      const body = files.get(request.url ?? '');
      response.writeHead(body === undefined ? 404 : 200).end(body);
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    return `http://${host}:${(server.address() as AddressInfo).port}/`;
  };
  const entries = await Promise.all(
    hosts.map(async (host, number) => ({ slug: `r${number}`, uri: await serve(host) })),
  );
  const { status, text } = await build(entries, {
    flags: ['--allow-private-networks', '--concurrency', `${concurrency}`],
  });
  expect([status, text]).toEqual([0, expect.stringContaining('4 fresh')]);
  // That it ended at all says that the four were visited at once; one at a time is left for good before the next.
  if (concurrency === 1) expect(visited.toSorted()).toEqual(hosts);
});
