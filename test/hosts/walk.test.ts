import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HostName, hosts } from '../../src/hosts/hosts.ts';
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
const project = path.join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(path.join(tmpdir(), 'debdex-walk-'));
const out = path.join(folder, 'dist');
const state = path.join(folder, 'state');
const staticOut = path.join(folder, 'static');
let server: ChildProcess;
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
  await build(staticOut, path.join(folder, 'static-state'), '--static-refs');
  named = namedAddresses(out, base);
  namedStatic = namedAddresses(staticOut, base);
  const flags = ['scripts/serve.ts', '--state', state, '--out', out, '--port', '0', '--rate-limit', '0'];
  server = spawn(process.execPath, flags, { cwd: project, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: server.stdout as NodeJS.ReadableStream })) {
    address = /^Listening on (\S+)$/.exec(line)?.[1] ?? '';
    if (address !== '') break;
  }
}, 240_000);
afterAll(async () => {
  const end = once(server, 'exit');
  server.kill('SIGTERM');
  await end;
  rmSync(folder, { recursive: true, force: true });
});

describe('below a path', () => {
  it('P4: everything that is named answers from our own server, whether a proxy keeps the path or takes it off', async () => {
    expect(named.size).toBeGreaterThan(200);
    expect([...named.keys()].filter((one) => one.includes('package/')).length).toBeGreaterThan(50);
    expect(await unanswered(named, address + below)).toEqual([]);
    expect(await unanswered(named, address)).toEqual([]);
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

  it.each(Object.keys(hosts) as HostName[])('P4: everything that is named answers on %s', async (host) => {
    const program = missingProgram(host);
    if (program !== undefined) return void process.stderr.write(`SKIPPED: ${program} is not installed.\n`);
    const running = await startHost(host, { publication: out, functionUrl: address });
    try {
      expect(await unanswered(named, running.address + below)).toEqual([]);
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
  expect(namedAddresses(out, base).has('/v2/generation.jws')).toBe(true);
  expect(readFileSync(path.join(staticOut, 'api/index.html'), 'utf8')).not.toContain('signing-key');
});

describe('--static-refs', () => {
  it('P4: everything that is named answers on a host that knows files alone', async () => {
    const host = await serveFolder(staticOut, below);
    try {
      expect(namedStatic.size).toBeGreaterThan(200);
      expect(await unanswered(namedStatic, host.base + below)).toEqual([]);
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
