import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer, text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { writeRules } from '../../src/hosts/write-rules.ts';
import { placed, recipe, type ServerProcess, startServerProcess } from '../support/deployed.ts';
import { findProgram } from '../support/find-program.ts';
import { temporaryFolder } from '../support/folder.ts';
import { freePort, type RunningHost, runCaddy, runNginx } from '../support/host-programs.ts';
import { patience } from '../support/patience.ts';
import { openSocket } from '../support/raw-http.ts';
import { runScript } from '../support/run-script.ts';

interface Place {
  readonly folder: string;
  readonly out: string;
  readonly rules: string;
  readonly port: number;
  readonly server: Pick<ServerProcess, 'port'>;
  /** How long the proxy waits for the function, as nginx and Caddy write it. */
  readonly wait: string;
}

const recipes = {
  nginx: {
    functionUrl: () => 'http://debdex_function',
    twins: ['gzip'],
    start: ({ folder, out, rules, port, server, wait }: Place) =>
      runNginx(
        placed(recipe('nginx/debdex.conf'), {
          'include debdex/': `include ${rules}/`,
          'listen 80;': `listen 127.0.0.1:${port};`,
          'listen [::]:80;': '',
          'server 127.0.0.1:8080': `server 127.0.0.1:${server.port}`,
          'root /var/lib/debdex/dist;': `root ${out};`,
          'proxy_read_timeout 30s': `proxy_read_timeout ${wait}`,
        }),
        port,
        folder,
      ),
  },
  caddy: {
    functionUrl: (server: Place['server']) => `http://127.0.0.1:${server.port}`,
    twins: ['br', 'gzip'],
    start: ({ folder, rules, port, wait }: Place) => {
      const file = path.join(rules, 'debdex.caddy');
      const waits = { 'response_header_timeout 30s': `response_header_timeout ${wait}` };
      writeFileSync(file, placed(readFileSync(file, 'utf8'), waits));
      return runCaddy(placed(recipe('caddy/Caddyfile'), { '/etc/caddy/debdex': rules }), port, folder, {
        DEBDEX_SITE: `http://127.0.0.1:${port}`,
      });
    },
  },
} as const;

// Unlike fetch it leaves a body as it came.
const askRaw = async (address: string, headers: Readonly<Record<string, string>>) => {
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    get(address, { headers }, resolve).once('error', reject),
  );
  return { encoding: answer.headers['content-encoding'], body: await buffer(answer) };
};

// Both serve the same publication, which neither changes.
const built = mkdtempSync(path.join(tmpdir(), 'debdex-proxies-'));
const [state, out] = [path.join(built, 'state'), path.join(built, 'dist')];
beforeAll(async () => {
  const places = ['--sample', '--state', state, '--out', out];
  const { status, text } = await runScript('build', [...places, '--base-url', 'https://index.test', '--precompress']);
  expect(status, text).toBe(0);
}, 240_000);
afterAll(() => rmSync(built, { recursive: true, force: true }));

const startServer = () => startServerProcess(['--state', state, '--out', out, '--port', '0', '--trusted-proxies', '1']);

const startRecipe = async <Server extends Place['server']>(
  host: keyof typeof recipes,
  server: Server,
  wait = '30s',
) => {
  const folder = temporaryFolder();
  const rules = path.join(folder, 'rules');
  const { functionUrl, start } = recipes[host];
  writeRules({ host, publication: out, out: rules, functionUrl: functionUrl(server), now: new Date() });
  const place = { folder, out, rules, port: await freePort(), server, wait };
  const proxy: RunningHost = await start(place);
  onTestFinished(() => proxy.close());
  return { ...place, proxy };
};

describe('the recipe for nginx', () => {
  it.skipIf(findProgram('nginx') === undefined)('says as JSON which of its own limits was met', async () => {
    const { proxy } = await startRecipe('nginx', await startServer());
    const port = Number(new URL(proxy.address).port);
    const long = 'a'.repeat(80_000);
    const asked = [
      [413, 'POST /v2/authenticate HTTP/1.1\r\nContent-Length: 3000000\r\n'],
      [413, 'POST /v2/jailbreak/package/random HTTP/1.1\r\nContent-Length: 3000000\r\n'],
      [414, `GET /v2/?q=${long} HTTP/1.1\r\n`],
      [431, `GET /v2/ HTTP/1.1\r\nX-Long: ${long}\r\n`],
    ] as const;
    // Where nginx has not read all that was sent, its system may reset the connection before the answer was read.
    const read = async (head: string): Promise<string> => {
      const socket = await openSocket(port);
      socket.end(`${head}Host: index.example.org\r\nConnection: close\r\n\r\n`);
      return await readText(socket).catch(() => read(head));
    };
    const expectSaid = (answer: string, status: number) => {
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer).toContain('Content-Type: application/json');
      expect(answer).toContain('Access-Control-Allow-Origin: *');
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({
        message: expect.stringMatching(new RegExp(`^${status} `)),
        error: expect.any(String),
        date: expect.stringMatching(/Z$/),
      });
    };
    for (const [status, head] of asked) expectSaid(await read(head), status);

    const waiting = await Promise.all(Array.from({ length: 100 }, () => openSocket(port)));
    onTestFinished(() => waiting.forEach((socket) => void socket.destroy()));
    for (const socket of waiting)
      socket.write('POST /v2/authenticate HTTP/1.1\r\nHost: index.example.org\r\nContent-Length: 10\r\n\r\n');
    await expect.poll(() => read('GET /v2/ HTTP/1.1\r\n'), patience).toMatch(/^HTTP\/1.1 429 /);
    for (const address of [
      '/v2/',
      '/v2/recent?limit=1',
      '/about/',
      '/v2/jailbreak/package/search?q=a',
      '/search/?q=a',
    ]) {
      const refused = await read(`GET ${address} HTTP/1.1\r\n`);
      expectSaid(refused, 429);
      expect(refused).toContain('Retry-After: 1');
    }
  });
});

describe.each(Object.keys(recipes) as (keyof typeof recipes)[])('the recipe for %s', (host) => {
  it.skipIf(findProgram(host) === undefined)(
    'P4: answers files by itself and everything else by the function, and goes on with files while that is away',
    async () => {
      const { proxy, server, out } = await startRecipe(host, await startServer());
      const ask = (address: string, init?: RequestInit) =>
        fetch(proxy.address + address, { redirect: 'manual', ...init });
      const [file = ''] = readdirSync(path.join(out, 'v2/jailbreak/package')).filter((name) => name.endsWith('.json'));
      const id = file.replace(/\.json$/, '');

      const lookup = await ask(`/v2/jailbreak/package/${id}`);
      expect(lookup.status).toBe(200);
      const { data } = (await lookup.json()) as { data: { package_id: string }[] };
      expect(data[0]?.package_id).toBe(id);

      const found = await ask(`/v2/jailbreak/package/search?q=${id}&limit=1`);
      expect(found.status).toBe(200);
      const { count, refs } = (await found.json()) as { count: number; refs: object };
      expect(count).toBe(1);
      expect(JSON.stringify(refs)).not.toContain('127.0.0.1');

      const page = await ask('/', { headers: { accept: 'text/html' } });
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toContain('text/html');
      expect(await page.text()).toContain('<html');

      const missing = await ask('/v2/jailbreak/package/no.such.package');
      expect(missing.status).toBe(404);
      expect(await missing.json()).toMatchObject({ message: '404 Not Found' });
      const missingPage = await ask('/no/such/page', { headers: { accept: 'text/html' } });
      expect(missingPage.status).toBe(404);
      expect(await missingPage.text()).toContain('<html');

      const signIn = await ask('/v2/authenticate', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ callback: 'sileo://authentication_success', udid: '0'.repeat(40), model: 'iPhone10,6' }),
      });
      expect(signIn.status).toBe(200);
      const { auth_url } = (await signIn.json()) as { auth_url: string };
      const login = await ask(auth_url.slice('https://index.test'.length));
      expect(login.status).toBe(200);
      expect(login.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(await login.text()).toContain('<h1>Sign in</h1>');

      for (const encoding of recipes[host].twins) {
        const answer = await askRaw(`${proxy.address}/v2/openapi.json`, { 'accept-encoding': encoding });
        expect(answer.encoding).toBe(encoding);
        const twin = path.join(out, `v2/openapi.json.${encoding === 'br' ? 'br' : 'gz'}`);
        expect(answer.body.equals(readFileSync(twin))).toBe(true);
      }

      await server.stop();
      expect((await ask(`/v2/jailbreak/package/${id}`)).status).toBe(200);
      const [, repository] = /"slug":"([^"]+)"/.exec(JSON.stringify(data)) ?? [];
      for (const computed of ['package/search?q=example', `repository/${repository}/packages?limit=1`]) {
        const away = await ask(`/v2/jailbreak/${computed}`);
        expect([computed, away.status]).toEqual([computed, 503]);
        expect(away.headers.get('content-type')).toContain('application/json');
        expect(away.headers.get('retry-after')).toBe('5');
        expect(away.headers.get('access-control-allow-origin')).toBe('*');
        expect(await away.json()).toMatchObject({
          message: '503 Service Unavailable',
          date: expect.stringMatching(/Z$/),
        });
      }
    },
  );

  it.skipIf(findProgram(host) === undefined)(
    'T11: tells the function of every proxy in front of it, the last one last, whatever a client says itself',
    async () => {
      const server = createServer((request, response) => response.end(request.headers['x-forwarded-for']));
      await once(server.listen(0, '127.0.0.1'), 'listening');
      onTestFinished(() => void server.close());
      const { proxy } = await startRecipe(host, server.address() as AddressInfo);
      const forwarded = (headers: Readonly<Record<string, string>>) =>
        askRaw(`${proxy.address}/v2/healthz`, headers).then(({ body }) => body.toString());
      expect(await forwarded({ 'x-forwarded-for': '192.0.2.1, 203.0.113.7' })).toBe(
        '192.0.2.1, 203.0.113.7, 127.0.0.1',
      );
      expect(await forwarded({})).toMatch(/^(?:, )?127\.0\.0\.1$/);
    },
  );

  it.skipIf(findProgram(host) === undefined)('says when to come again where the function stands still', async () => {
    const server = createServer(() => {});
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => server.closeAllConnections());
    onTestFinished(() => void server.close());
    const { proxy } = await startRecipe(host, server.address() as AddressInfo, '100ms');
    const answer = await fetch(`${proxy.address}/v2/healthz`);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await answer.json()).toMatchObject({ message: '503 Service Unavailable' });
  });
});
