import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { lockMirror } from '../../src/catalog/lock.ts';
import { generationPath, generationSchema } from '../../src/contract/generation.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { startProcess } from '../bench/processes.ts';
import { FileOrigin } from '../support/built-publication.ts';
import { temporaryFolder } from '../support/folder.ts';
import { patience } from '../support/patience.ts';
import { startProxy } from '../support/proxy-server.ts';
import { Publication } from '../support/publication.ts';
import { runScript } from '../support/run-script.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'debdex-mirror-'));
const [state, out] = [path.join(folder, 'state'), path.join(folder, 'out')];
const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const build = (environment: Readonly<Record<string, string>> = {}) =>
  runScript('build', ['--sample', '--no-site', '--state', state, '--out', out], { environment });

let server: Awaited<ReturnType<typeof startProcess>>;
let address: string;
beforeAll(async () => {
  expect((await build({ DEBDEX_SIGNING_KEY: key })).status).toBe(0);
  const args = ['scripts/serve.ts', '--state', state, '--out', out, '--port', '0'];
  server = await startProcess(process.execPath, args, /^Listening on /);
  address = server.line.replace('Listening on ', '');
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const currentOf = (base: string) =>
  generationSchema.parse(JSON.parse(readFileSync(path.join(base, generationPath.current), 'utf8')));

describe('npm run mirror', () => {
  const mirror = path.join(folder, 'mirror');

  it('P2, P3: copies what our own server publishes, checks its signature, and then only what changed', async () => {
    const landing = (await (await fetch(`${address}/v2/`)).json()) as { data: { reference: { signing_key: string } } };
    const publicKey = landing.data.reference.signing_key;
    const args = [address, mirror, '--public-key', publicKey];
    const first = await runScript('mirror', args);
    expect(first.text).toContain('by its inventory: generation 1');
    expect(first.status).toBe(0);
    const { '.debdex/owner.json': _, ...published } = Publication.filesIn(out);
    const withoutSample = Object.fromEntries(Object.entries(published).filter(([file]) => !file.startsWith('sample/')));
    expect(Publication.filesIn(mirror)).toEqual(withoutSample);
    expect(readdirSync(path.join(mirror, 'v2')).sort()).toEqual(readdirSync(path.join(out, 'v2')).sort());
    expect((await runScript('mirror', args)).text).toContain('is up to date');
    // No key any more: another landing document, and another generation, which is not signed.
    expect(await build()).toMatchObject({ status: 0, error: expect.stringContaining('its signature goes') });
    await expect
      .poll(async () => ((await (await fetch(`${address}/v2/generation.json`)).json()) as { number: number }).number)
      .toBe(2);
    const refused = await runScript('mirror', args);
    expect(refused).toMatchObject({ status: 1, text: expect.stringContaining('generation.jws is missing') });
    const followed = await runScript('mirror', [address, mirror]);
    expect(followed.text).toContain('by its change lists: generation 2');
    expect(currentOf(mirror)).toEqual(currentOf(out));
  });

  it('P2: names the folder on whose disk there is no more room', async () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    });
    const place = vi.spyOn(OutputFolder.prototype, 'place').mockImplementation(() => {
      throw full;
    });
    const into = path.join(folder, 'full');
    const { status, text } = await runScript('mirror', [address, into]).finally(() => place.mockRestore());
    expect([status, text]).toEqual([1, expect.stringContaining(`There is no more room in ${into} (the disk is full`)]);
  });

  it('P2: says at once what it waits for, where it asks again', async () => {
    const publication = new Publication();
    await publication.publish({ 'v2/a.json': 'a' });
    const origin = await new FileOrigin(publication.out).open();
    let asked = 0;
    origin.intercept = (file) =>
      file === generationPath.current && asked++ === 0 ? (response) => response.writeHead(503).end() : undefined;
    const { status, error } = await runScript('mirror', [origin.address, path.join(temporaryFolder(), 'to')]);
    await origin.close();
    expect([status, error]).toEqual([0, `${origin.address}/v2/generation.json answered 503. It is tried again.\n`]);
  });

  it('P2: fetches as many files at once as it is told to, where that is more than usual too', async () => {
    const publication = new Publication();
    const names = Array.from({ length: 30 }, (_, index) => `v2/jailbreak/package/${index}.json`);
    await publication.publish(Object.fromEntries(names.map((name) => [name, name])));
    const origin = await new FileOrigin(publication.out).open();
    const held: (() => void)[] = [];
    origin.intercept = (file) => {
      if (!names.includes(file)) return undefined;
      return (response) => held.push(() => response.end(publication.read(file)));
    };
    const to = path.join(temporaryFolder(), 'to');
    const run = runScript('mirror', [origin.address, to, '--concurrency', '20']);
    try {
      await expect.poll(() => held.length, patience).toBe(20);
    } finally {
      origin.intercept = undefined;
      for (const answer of held) answer();
      await run;
      await origin.close();
    }
    expect((await run).status).toBe(0);
  });

  it('H4: the server lets caches keep what never changes, and asks them to look again for what does', async () => {
    const { catalog, changes, documents } = currentOf(out);
    const cacheOf = async (file: string) => (await fetch(`${address}/${file}`)).headers.get('cache-control');
    expect(await cacheOf(generationPath.current)).toBe('public, no-cache');
    const { inventory, differences = '' } = documents;
    expect(differences).not.toBe('');
    for (const file of [catalog.path, changes, inventory, differences]) {
      expect(await cacheOf(file), file).toBe('public, max-age=31536000, immutable');
    }
    const answer = await fetch(`${address}/${generationPath.current}`);
    const again = { headers: { 'if-none-match': answer.headers.get('etag') ?? '' } };
    expect((await fetch(`${address}/${generationPath.current}`, again)).status).toBe(304);
    expect((await fetch(`${address}/v2/catalog/unknown.sqlite.zst`)).status).toBe(404);
  });

  it.each([
    [[], 'mirror needs URL and DIR'],
    [['http://127.0.0.1:1'], 'mirror needs URL and DIR'],
    [['ftp://127.0.0.1/', 'x'], 'URL must be the http or https address'],
    [['http://127.0.0.1:1/?a=b', 'x'], 'URL must be the http or https address'],
    [['http://user:word@127.0.0.1:1/', 'x'], 'URL must not name a user or a password'],
    [['http://127.0.0.1:1', 'x', '--public-key', 'short'], '--public-key must be the 43 characters'],
    [['http://127.0.0.1:1', 'x', '--public-key', '.'.repeat(43)], '--public-key must be the 43 characters'],
  ])('refuses %j and says what to do', async (args, message) => {
    expect(await runScript('mirror', args)).toMatchObject({ status: 2, text: expect.stringContaining(message) });
  });

  it('P2: ends with 7 where another one is under way there', async () => {
    const taken = path.join(folder, 'taken');
    const unlock = lockMirror(path.join(taken, '.debdex'), taken);
    const { status, text } = await runScript('mirror', [address, taken]);
    unlock();
    expect([status, text]).toEqual([7, expect.stringContaining(`another mirror is bringing ${taken} up to date`)]);
  });

  it('says where nothing can be reached', async () => {
    const { status, text } = await runScript('mirror', ['http://127.0.0.1:1', path.join(folder, 'none')]);
    expect(status).toBe(1);
    expect(text).toMatch(/http:\/\/127\.0\.0\.1:1 could not be read: /);
  });

  it('C1: asks nobody inside for what a publication leads to, which it would publish as a signature', async () => {
    const origin = await new FileOrigin(mirror).open();
    const secret = await new FileOrigin('').open();
    secret.intercept = () => Buffer.from('a secret');
    const ports: Readonly<Record<string, FileOrigin>> = { 'index.example': origin, '169.254.169.254': secret };
    const proxy = await startProxy((host) => Number(new URL(ports[host]?.address ?? '').port));
    origin.intercept = (file) =>
      file.endsWith('.jws')
        ? (response) => void response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end()
        : undefined;
    const copy = path.join(folder, 'copy');
    const environment = { HTTP_PROXY: proxy.address, NO_PROXY: '' };
    const { status, text } = await runScript('mirror', ['http://index.example', copy], { environment });
    expect([status, text]).toEqual([
      1,
      expect.stringContaining('169.254.169.254 is not an address of the public Internet'),
    ]);
    expect(secret.asked).toEqual([]);
    proxy.close();
    await Promise.all([origin.close(), secret.close()]);
  });

  it('says which proxy of the environment is none', async () => {
    const environment = { HTTP_PROXY: 'socks5://127.0.0.1:1' };
    const { status, error } = await runScript('mirror', ['http://a.test', path.join(folder, 'none')], { environment });
    expect([status, error]).toEqual([2, expect.stringMatching(/^HTTP_PROXY .*\nSee npm run mirror -- --help\n$/i)]);
  });

  it('says where a file has the name of the folder, and no more', async () => {
    const file = path.join(folder, 'file');
    writeFileSync(file, '');
    const { status, text } = await runScript('mirror', ['http://127.0.0.1:1', file]);
    expect([status, text.trim()]).toEqual([1, `${file} is no folder: name one, or a name that is free.`]);
  });

  it('a build refuses a signing key that is none', async () => {
    // Of a key that lost its first line nothing is told, and its body may look like the name of a folder, or be too long for one.
    const body = 'MC4CAQAwBQYDK2VwBCIEIB/';
    for (const none of [path.join(folder, 'nowhere.pem'), body, body.replace('/', '').repeat(20)]) {
      const { status, text } = await build({ DEBDEX_SIGNING_KEY: none });
      expect([status, text]).toEqual([
        2,
        expect.stringContaining('DEBDEX_SIGNING_KEY is neither a private key in PEM'),
      ]);
      expect(text).not.toContain(none);
    }
    const inFolder = await build({ DEBDEX_SIGNING_KEY: folder });
    expect(inFolder).toMatchObject({ status: 2, text: expect.stringContaining('DEBDEX_SIGNING_KEY: is a folder') });
  });
});
