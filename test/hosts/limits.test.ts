import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { limitTable } from '../../functions/node/limits.ts';
import { UsageError } from '../../scripts/options.ts';
import { readBase } from '../../scripts/read-base.ts';
import { documentPath, operations } from '../../src/contract/paths.ts';
import { searchPage } from '../../src/contract/search-page.ts';
import { cloudflareLimits } from '../../src/hosts/cloudflare.ts';
import { mostRepetitions, replaceAll } from '../../src/hosts/encoding.ts';
import type { RuleInput } from '../../src/hosts/host-rules.ts';
import { hosts } from '../../src/hosts/hosts.ts';
import { netlifyLimit } from '../../src/hosts/netlify.ts';

const inputOf = (names: readonly string[], below = ''): RuleInput => ({
  base: `https://index.test${below}`,
  below,
  folder: '/srv/dist',
  site: true,
  encodedDocuments: names.map((name) => ({
    address: operations.package.address,
    names: new Map([['packageId', name]]),
    file: documentPath.package(name),
  })),
  now: new Date('2026-05-02T00:00:00Z'),
});
const many = Array.from({ length: 6000 }, (_, index) => `com.Example.${index}`);

describe('rules', () => {
  it.each(['cloudflare-workers', 'cloudflare-pages'] as const)('keep within the limits of Cloudflare: %s', (host) => {
    const { files } = hosts[host](inputOf(many));
    const lines = (files._headers ?? files['public/_headers'] ?? '').split('\n');
    const rules = lines.filter((line) => line.startsWith('/'));
    expect(rules.length).toBeGreaterThan(10);
    expect(rules.length).toBeLessThanOrEqual(cloudflareLimits.headerRules);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(cloudflareLimits.lineCharacters);
    const routes: string[] = JSON.parse(files['_routes.json'] ?? '{"include":["/"]}').include;
    expect(routes.length).toBeLessThanOrEqual(cloudflareLimits.routes);
    expect(Math.max(...routes.map((route) => route.length))).toBeLessThanOrEqual(cloudflareLimits.routeCharacters);
    expect(Object.keys(files)).not.toContain('_redirects');
  });

  it.each(['cloudflare-workers', 'cloudflare-pages'] as const)(
    'say what of a publication is not for everybody: %s',
    (host) => {
      expect(hosts[host](inputOf([])).next).toContain('without its folder .debdex');
    },
  );

  it('say where Netlify advises against so many redirects', () => {
    const linesOf = (count: number) =>
      (hosts.netlify(inputOf(many.slice(0, count))).files._redirects ?? '').match(/^\//gm)?.length ?? 0;
    const [none, each] = [linesOf(0), linesOf(1) - linesOf(0)];
    const count = Math.ceil((netlifyLimit - none) / each);
    expect([linesOf(count), many.length > count]).toEqual([netlifyLimit, true]);
    const told = ` There are ${netlifyLimit} redirects, and Netlify advises against ${netlifyLimit} or more.`;
    expect(hosts.netlify(inputOf(many.slice(0, count))).next).toContain(told);
    expect(hosts.netlify(inputOf(many.slice(0, count - 1))).next).not.toContain('advises');
  });

  it('of nginx and Caddy do not grow with identifiers that have capitals or signs', () => {
    for (const host of ['nginx', 'caddy'] as const) {
      expect(hosts[host](inputOf(many)).files).toEqual(hosts[host](inputOf([])).files);
    }
  });

  // Of two such blocks of a site Caddy 2.6 takes the first alone, and what the second says is never said.
  it('of Caddy say once for the whole site what is said while the function is away', () => {
    const recipe = readFileSync(new URL('../../deploy/caddy/Caddyfile', import.meta.url), 'utf8');
    for (const site of [true, false]) {
      const rules = hosts.caddy({ ...inputOf([]), site, functionUrl: 'http://127.0.0.1:8080' }).files['debdex.caddy'];
      const written = `${recipe}${rules}`;
      expect(written.match(/^\s*handle_errors /gm)).toHaveLength(1);
      expect(written).toContain('503 Service Unavailable');
      expect(written.includes('@vain')).toBe(site);
    }
    expect(hosts.caddy(inputOf([])).files['debdex.caddy']).not.toContain('handle_errors');
  });

  // Of two Caddy keeps one, the first or the last by its version.
  it.each(['', '/debdex'])('of Caddy have one expression in a matcher, below "%s"', (below) => {
    const rules =
      hosts.caddy({ ...inputOf([], below), functionUrl: 'http://127.0.0.1:8080' }).files['debdex.caddy'] ?? '';
    const matchers = [...rules.matchAll(/^\s*@\w+ \{\n([^}]*?)^\s*\}/gm)].map(([, lines = '']) => lines);
    expect(matchers.length).toBeGreaterThan(5);
    for (const lines of matchers) expect(lines.match(/^\s*expression /gm)?.length ?? 0, lines).toBeLessThan(2);
    const errors = rules.slice(rules.indexOf('handle_errors'));
    expect(errors).toMatch(/@vain expression `.*502.* && .*\/search\/'`/);
    expect(errors.includes(`startsWith('${below}/')`)).toBe(below !== '');
  });

  // An error of nginx that is handed to a named location has to have a path, and one below another error is handed to
  // none unless that is said.
  it('of nginx say as JSON what cannot be read, and that the function is away, for a page of a list too', () => {
    const rules =
      hosts.nginx({ ...inputOf([]), functionUrl: 'http://127.0.0.1:8080' }).files['debdex-server.conf'] ?? '';
    const [, refused = ''] = /^error_page 400 (\S+);$/m.exec(rules) ?? [];
    expect(refused).toMatch(/^\//);
    expect(rules).toContain(`location = ${refused} {`);
    const blocks = rules.split(/^location /m).filter((block) => /return 418;/.test(block));
    expect(blocks.length).toBeGreaterThan(1);
    for (const block of blocks) expect(block).toContain('recursive_error_pages on;');
  });

  // What a location says of any error is all that holds in it.
  it('of nginx say as JSON what is beyond the limits of its recipe, wherever it is asked for', () => {
    for (const functionUrl of [undefined, 'http://127.0.0.1:8080']) {
      const rules = hosts.nginx({ ...inputOf([]), functionUrl }).files['debdex-server.conf'] ?? '';
      const [settings = '', ...blocks] = rules.split(/^location /m);
      for (const status of [413, 414, 429, 494]) expect(settings).toMatch(new RegExp(`^error_page ${status} `, 'm'));
      // Of connections nginx looks at the limit where a request comes to at last.
      const isAnswer = (block: string) => !block.startsWith('@') || block.includes('proxy_pass ');
      const asked = blocks.filter((block) => isAnswer(block) && block.includes('error_page '));
      expect(asked.length).toBeGreaterThan(4);
      for (const block of asked) expect(block).toMatch(/^ +error_page 413 @\w+;\n +error_page 429 @\w+;$/m);
    }
  });

  it('of nginx hold nothing to be uncommented, which would be lost when they are written again', () => {
    const texts = Object.values(hosts.nginx(inputOf([])).files);
    expect(texts.join('')).toContain('brotli_static on;');
    for (const text of texts) expect(text).not.toMatch(/^\s*#[^"\n]*;$/m);
  });

  it('of nginx take as long an address as the server does', () => {
    const rules = hosts.nginx(inputOf([])).files['debdex-server.conf'] ?? '';
    const [, kilobytes] = /^large_client_header_buffers 4 (\d+)k;$/m.exec(rules) ?? [];
    expect(Number(kilobytes) * 1024).toBeGreaterThanOrEqual(limitTable.requestLine.value);
  });

  it('encode as the names of files are encoded, or know that they do not', () => {
    const names = [
      'Com.Example',
      'a_b C=d~e',
      `"'$\\{}`,
      '%41',
      'A'.repeat(mostRepetitions),
      '_'.repeat(mostRepetitions),
    ];
    for (const name of names) expect(`v2/jailbreak/package/${replaceAll(name)}.json`).toBe(documentPath.package(name));
    for (const name of ['ü', 'a/b', 'A'.repeat(mostRepetitions + 1)]) expect(replaceAll(name)).toBeUndefined();
  });
});

describe('--base-url', () => {
  it('may have a plain path, which is no name of what is published', () => {
    expect(readBase('https://x.example/debdex/')).toBe('https://x.example/debdex');
    expect(readBase('https://x.example/a/b')).toBe('https://x.example/a/b');
    expect(readBase('https://x.example/')).toBe('https://x.example');
    const refused = [
      '/v2',
      '/package/x',
      '/jailbreak',
      '/healthz',
      '/search-index',
      '/badge',
      '/v1',
      '/v4/x',
      '/authenticate',
      '/a;b',
      '/a b',
      '/a//b',
      '/.git',
      '/?a',
      '/#a',
    ];
    for (const path of refused) expect(() => readBase(`https://x.example${path}`), path).toThrow(UsageError);
    for (const text of ['x.example', 'ftp://x.example', 'https://me@x.example']) {
      expect(() => readBase(text), text).toThrow(UsageError);
    }
  });
});

describe('the worker that rules are', () => {
  type Worker = {
    fetch(request: Request, bound: { ASSETS: { fetch(asked: Request): Promise<Response> } }): Promise<Response>;
  };

  it('gives out no notes of ours, and the page by itself where the function is away, or a replica that has no page', async () => {
    const { files } = hosts['cloudflare-workers']({ ...inputOf([]), functionUrl: 'https://function.test' });
    const text = encodeURIComponent(files['worker.js'] ?? '');
    const { default: worker } = (await import(`data:text/javascript,${text}`)) as { default: Worker };
    const ask = async (target: string) => {
      const ASSETS = { fetch: async ({ url }: Request) => new Response(`file ${new URL(url).pathname}`) };
      const answer = await worker.fetch(new Request(`https://index.test${target}`), { ASSETS });
      return [answer.status, await answer.text()];
    };
    for (const target of ['/', '/v2/', '/v2/..%2F', '/v2/changes/..%2F..%2F', '/v2/jailbreak/package/..%2F..%2F..%2F'])
      expect((await ask(`${target}.debdex/owner.json`))[0], target).toBe(404);
    expect(await ask('/v2/changes/1.json')).toEqual([200, 'file /v2/changes/1.json']);
    expect(await ask('/.well-known/security.txt')).toEqual([200, 'file /.well-known/security.txt']);
    const status = { of: 200 };
    const asked = vi
      .spyOn(globalThis, 'fetch')
      .mockImplementation(async () => new Response('found', { status: status.of }));
    onTestFinished(() => asked.mockRestore());
    const search = `/${searchPage.path}?${searchPage.parameter}=a`;
    expect(await ask(search)).toEqual([200, 'found']);
    for (status.of of [307, 502, 504]) expect((await ask(search))[1]).toMatch(/^file /);
    status.of = 429;
    expect(await ask(search)).toEqual([429, 'found']);
  });
});
