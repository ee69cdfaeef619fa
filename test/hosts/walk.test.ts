import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client, FilesAlone } from '../../clients/typescript/src/index.ts';
import { startBuildHost } from '../../functions/node/host.ts';
import type { Host } from '../../functions/node/host-options.ts';
import { safetyFile } from '../../functions/node/safety-file.ts';
import { bundleModule } from '../../scripts/bundling/bundle-client.ts';
import { type HostName, hosts } from '../../src/hosts/hosts.ts';
import { createLog } from '../../src/log/log.ts';
import { isPublicKey } from '../../src/publication/signature.ts';
import { launchBrowser } from '../support/browser.ts';
import { missingProgram, startHost } from '../support/host-programs.ts';
import { namedAddresses, unanswered } from '../support/named-addresses.ts';
import { privateKey, publicKey } from '../support/publication.ts';
import { runScript } from '../support/run-script.ts';
import { serveFolder } from '../support/static-server.ts';

// The sample below a path, as it comes and with static refs: everything that it names is asked for on every host.

const below = '/debdex';
const base = `https://index.example${below}`;
const folder = mkdtempSync(path.join(tmpdir(), 'debdex-walk-'));
const out = path.join(folder, 'dist');
const state = path.join(folder, 'state');
const staticOut = path.join(folder, 'static');
let server: Host;
let address = '';
/** What the publication names, and what that with static refs does. */
let named: ReadonlyMap<string, string>;
let namedStatic: ReadonlyMap<string, string>;

const build = async (to: string, kept: string, ...flags: string[]): Promise<void> => {
  const parameters = ['--sample', '--out', to, '--state', kept, '--base-url', base, ...flags];
  const environment = to === out ? { DEBDEX_SIGNING_KEY: privateKey } : {};
  const { status, text } = await runScript('build', parameters, { environment });
  if (status !== 0) throw new Error(text);
};

beforeAll(async () => {
  await build(out, state);
  // What the first one read, drew and indexed is the same for both.
  const staticState = path.join(folder, 'static-state');
  cpSync(state, staticState, { recursive: true });
  await build(staticOut, staticState, '--static-refs');
  named = namedAddresses(out, base);
  namedStatic = namedAddresses(staticOut, base);
  // In this process: one of its own would take more to start than to answer.
  server = await startBuildHost({
    ...{ out, state, host: '127.0.0.1', port: 0, rate: 0, answerMemory: 2 ** 20, trustedProxies: 0, limits: {} },
    ...{ olderAddresses: true, accessLog: 'off', safetyList: safetyFile, environment: {}, development: false },
    log: createLog({ level: 'warn', format: 'json', write: (lines) => void process.stderr.write(lines) }),
  });
  address = server.address;
}, 240_000);
afterAll(async () => {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

const gather = async <T>(all: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const one of all) found.push(one);
  return found;
};

/** What the typed client is told of everything that files answer. */
const readByClient = async (client: Client) => {
  const repositories = await client.repositories();
  const lists = await Promise.all(repositories.map(({ slug }) => gather(client.repositoryPackages(slug))));
  const ids = [...new Set(lists.flat().map(({ package_id }) => package_id))].sort().filter((_, at) => at % 4 === 0);
  const versions = await Promise.all(ids.map((id) => client.package(id)));
  return {
    statistics: (await client.landing()).statistics,
    ranked: (await client.repositories(1)).map(({ slug }) => slug),
    repositories: await Promise.all(
      repositories.map(async ({ slug }) => (await client.repository(slug))?.package_count),
    ),
    lists: lists.map((list) => list.map(({ id }) => id)),
    findings: await Promise.all(repositories.map(({ slug }) => client.findings(slug))),
    divergences: await client.divergences(),
    downloads: await client.downloadTotals(),
    status: (await client.status()).repositories.map(({ repository_id }) => repository_id),
    described: (await client.description()).openapi,
    versions: versions.map((list) => list.map(({ id }) => id)),
    latest: (await client.latest(ids)).map(({ id }) => id),
    bootstrap: (await client.latest(ids, { priority: 'bootstrap' })).map(({ id }) => id),
    unknown: [
      await client.package('no.such.package'),
      (await client.repository('no-such')) ?? null,
      (await client.findings('no-such')) ?? null,
    ],
  };
};

/** The same of what only the function answers. */
const askByClient = async (client: Client) => {
  const found = await gather(client.searchPackages('night', { limit: 2 }));
  const [first] = found;
  const closure = await client.dependencies(first?.package_id ?? '', { architecture: first?.architecture ?? '' });
  return {
    found: found.map(({ id }) => id),
    closure: closure?.packages.map(({ package_id }) => package_id),
    safe: await client.safety(['https://a.example/', 'https://b.example/x,y']),
    counted: (await client.downloads(first?.package_id ?? ''))?.package_id,
  };
};

/** The same of our own server, which is asked once: what is published does not change. */
let read: ReturnType<typeof readByClient> | undefined;
const readOurs = () => (read ??= readByClient(new Client({ base: address + below, retries: 0 })));
let told: ReturnType<typeof askByClient> | undefined;
const askOurs = () => (told ??= askByClient(new Client({ base: address + below, retries: 0 })));

/** What a rule of a host may tell names by: their endings, and all in them that is neither a plain word nor between two. */
const kindOf = (name: string): string =>
  name.replaceAll(/[a-z0-9]+(?:[.-][a-z0-9]+)*?(?=\.\w+$|[^a-z0-9.-]|$)/g, '*').replaceAll(/[A-Z]+/g, 'A');

/** Of the addresses that are alike but for the letters of the names in them, one. */
const oneOfEach = (all: ReadonlyMap<string, string>): ReadonlyMap<string, string> => {
  const { paths } = JSON.parse(readFileSync(path.join(out, 'v2/openapi.json'), 'utf8'));
  const words = new Set(Object.keys(paths).flatMap((one) => one.split('/')));
  const kinds = new Set<string>();
  return new Map(
    [...all].filter(([asked]) => {
      const parts = asked.replace(/\?.*/, '?').split('/');
      const kind = parts.map((part, depth) => (depth < 2 || words.has(part) ? part : kindOf(part))).join('/');
      const isFirst = !kinds.has(kind);
      kinds.add(kind);
      return isFirst;
    }),
  );
};

describe('below a path', () => {
  it('P4: everything that is named answers from our own server, whether a proxy keeps the path or takes it off', async () => {
    expect(named.size).toBeGreaterThan(200);
    expect([...named.keys()].filter((one) => one.includes('package/')).length).toBeGreaterThan(50);
    expect(await unanswered(named, address + below)).toEqual([]);
    // Without the path it is one server still, which knows the rest by the same table.
    const few = oneOfEach(named);
    expect(few.size).toBeGreaterThan(60);
    expect(await unanswered(few, address)).toEqual([]);
  });

  it('redirects and answers below the path, whatever the proxy does', async () => {
    for (const asked of [`${below}/about`, '/about']) {
      const { status, headers } = await fetch(address + asked, { redirect: 'manual' });
      expect([status, headers.get('location')]).toEqual([308, `${below}/about/`]);
    }
    const search = await fetch(`${address}${below}/v2/jailbreak/package/search?q=a&limit=1`).then((answer) =>
      answer.json(),
    );
    expect(search).toMatchObject({ error: expect.stringContaining('2 characters') });
    expect((await fetch(`${address}${below}x/about/`)).status).toBe(404);
  });

  it.each(Object.keys(hosts) as HostName[])('P4: every kind of what is named answers on %s', async (host) => {
    const program = missingProgram(host);
    if (program !== undefined) return void process.stderr.write(`SKIPPED: ${program} is not installed.\n`);
    const running = await startHost(host, { publication: out, functionUrl: address });
    try {
      expect(await unanswered(oneOfEach(named), running.address + below)).toEqual([]);
      const theirs = new Client({ base: running.address + below, retries: 0 });
      expect(await readByClient(theirs)).toEqual(await readOurs());
      expect(await askByClient(theirs)).toEqual(await askOurs());
    } finally {
      await running.close();
    }
  });
});

it('P3: says on the site by which key it is signed, to be pasted, and to programs in the landing document', () => {
  const page = readFileSync(path.join(out, 'api/index.html'), 'utf8');
  expect(/<code id="signing-key">([^<]*)<\/code>/.exec(page)?.[1]).toBe(publicKey);
  expect(isPublicKey(publicKey)).toBe(true);
  expect(JSON.parse(readFileSync(path.join(out, 'v2/index.json'), 'utf8')).data.reference.signing_key).toBe(publicKey);
  // Links to the signature are among what was walked.
  expect(named.has('/v2/generation.jws')).toBe(true);
  expect(readFileSync(path.join(staticOut, 'api/index.html'), 'utf8')).not.toContain('signing-key');
});

describe('--static-refs', () => {
  it('P4: everything that is named answers on a host that knows files alone', async () => {
    const host = await serveFolder(staticOut, below);
    try {
      expect(namedStatic.size).toBeGreaterThan(200);
      expect(await unanswered(namedStatic, host.base + below)).toEqual([]);
      const client = new Client({ base: host.base + below, files: true, retries: 0 });
      const told = await readByClient(client);
      expect(told).toEqual(await readOurs());
      expect(told.versions.flat().length).toBeGreaterThan(8);
      await expect(askByClient(client)).rejects.toThrow(FilesAlone);
      for (const ask of [
        () => client.safety(['https://a.example/']),
        () => client.dependencies('a', { architecture: 'iphoneos-arm' }),
        () => client.downloads('a'),
        () => client.reportDownloads([]),
        () => client.health(),
      ])
        await expect(ask()).rejects.toThrow(/ask a server/);
    } finally {
      await host.close();
    }
  });

  it('names nothing but files: no address of the API without an ending, in documents, pages or description', () => {
    const asked = [...namedStatic.keys()].filter((one) => one.startsWith('/v2'));
    expect(asked.length).toBeGreaterThan(40);
    expect(asked.filter((one) => !/\.(?:json|yaml|zst|jws)$/.test(one))).toEqual([]);
    const { paths } = JSON.parse(readFileSync(path.join(staticOut, 'v2/openapi.json'), 'utf8'));
    expect(Object.keys(paths).filter((one) => !/\.(?:json|yaml|atom|svg)$/.test(one))).toEqual([]);
    expect(readFileSync(path.join(staticOut, 'search/index.html'), 'utf8')).not.toContain('/v2/jailbreak');
  });
});

/** A program of somebody else's page, as text: what it imports is a file beside the page. */
const program = (server: string, alone: string): string => `(async () => {
  const { AnswerError, Client } = await import('/client.js');
  const client = new Client({ base: '${server}', cache: new Map() });
  const found = [];
  for await (const { name } of client.searchPackages('night', { limit: 1 })) found.push(name);
  const wrong = await client.searchPackages('a').next().catch((error) => error instanceof AnswerError && error.message);
  const [before, again] = [await client.landing(), await client.landing()];
  const unread = await new Client({ base: '${alone}', files: true, retries: 0 }).landing().catch(({ name }) => name);
  const counted = await client.reportDownloads([{ package_id: 'none', package_version: '1' }]);
  return { found, wrong, same: before.statistics.packages === again.statistics.packages, unread, counted };
})()`;

describe('a browser below a path', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  const open = async (asked: string): Promise<{ page: Page; strays: string[] }> => {
    const strays: string[] = [];
    const page = await browser.newPage();
    page.on('response', (response) => {
      if (response.url().startsWith(address) && response.status() >= 400) strays.push(response.url());
    });
    page.on('pageerror', (error) => strays.push(error.message));
    await page.route('**/*', (route) => (route.request().url().startsWith(address) ? route.continue() : route.abort()));
    await page.goto(address + below + asked);
    return { page, strays };
  };

  it('runs the bundled client on a page of another origin, over a server and over files alone', async () => {
    const home = path.join(folder, 'stranger');
    mkdirSync(home);
    writeFileSync(path.join(home, 'client.js'), await bundleModule());
    writeFileSync(path.join(home, 'index.html'), '<!doctype html><title>A program of somebody else</title>');
    const [site, files] = await Promise.all([serveFolder(home), serveFolder(staticOut, below)]);
    const page = await browser.newPage();
    try {
      await page.goto(`${site.base}/`);
      const told = await page.evaluate<{ readonly found: readonly string[]; readonly unread: unknown }>(
        program(address + below, files.base + below),
      );
      expect(told.found.length).toBeGreaterThan(0);
      expect(told).toMatchObject({ wrong: expect.stringContaining('2 characters'), same: true, counted: 0 });
      // A host that sends no header for other origins cannot be read from them: the browser refuses it.
      expect(told.unread).toBe('TypeError');
    } finally {
      await Promise.all([page.close(), site.close(), files.close()]);
    }
  });

  it('searches, shows what it found with its pictures, and leads there', async () => {
    const { page, strays } = await open('/');
    await page.locator('main input[name=q]').pressSequentially('night');
    const first = page.locator('#suggestions a').first();
    await first.waitFor();
    expect(await first.getAttribute('href')).toMatch(/^\/debdex\/(?:package|search)\//);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${below}/search/?q=night`);
    const found = page.locator('#results a.name').first();
    await found.waitFor();
    await found.click();
    await page.waitForURL(`**${below}/package/**`);
    await page.waitForLoadState('networkidle');
    expect(await page.locator('h1').count()).toBe(1);
    expect(strays).toEqual([]);
    await page.close();
  });
});
