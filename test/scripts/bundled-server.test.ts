import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bundledCommands, bundleServer, compiledFolder } from '../../scripts/bundling/bundle-server.ts';
import { documentPath } from '../../src/contract/paths.ts';
import type { PackageRecord } from '../../src/contract/records.ts';
import { publishNoBuilds } from '../support/built.ts';
import { BuiltPublication } from '../support/built-publication.ts';
import { generatedRepositories } from '../support/generated.ts';
import { plainEnvironment } from '../support/production-tree.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'debdex-bundled-'));
const bundle = path.join(folder, 'bundle');
const running: ChildProcess[] = [];
const published = new BuiltPublication(path.join(folder, 'published'));
let own = '';
let bundled = '';
let unbundled = '';

const start = async (script: readonly string[], flags: readonly string[], environment: NodeJS.ProcessEnv = {}) => {
  const child = spawn(process.execPath, [...script, ...flags, '--port', '0'], {
    cwd: own,
    env: { ...plainEnvironment(own), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (piece) => (text += piece));
  while (!text.includes('Listening on')) {
    await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
    if (child.exitCode !== null) throw new Error(text);
  }
  return { child, address: /Listening on (\S+)/.exec(text)?.[1] ?? '', text: () => text };
};

const run = (name: string, flags: readonly string[], input = '') =>
  spawnSync(process.execPath, [path.join(bundle, `${name}.mjs`), ...flags], {
    cwd: own,
    env: plainEnvironment(own),
    encoding: 'utf8',
    input,
  });

const gateway = { GATEWAY_INTROSPECTION_SECRETS: 'a-secret-of-32-letters-or-even-more' };

beforeAll(async () => {
  await bundleServer(bundle);
  await published.publish(generatedRepositories());
  publishNoBuilds(published.folder);
  // Nothing but the publication lies there.
  own = path.join(folder, 'own');
  mkdirSync(own);
  for (const name of ['its', 'other']) {
    cpSync(published.folder, path.join(own, name, 'dist'), { recursive: true });
    cpSync(published.state, path.join(own, name, 'state'), { recursive: true });
  }
  const flagsOf = (name: string) => ['--out', `${name}/dist`, '--state', `${name}/state`];
  bundled = (await start([path.join(bundle, 'serve.mjs')], [...flagsOf('its'), '--metrics-port', '0'], gateway))
    .address;
  // As package.json has it, with what was compiled before.
  const script = ['--import', path.resolve('scripts/ahead.mjs'), path.resolve('scripts/serve.ts')];
  unbundled = (await start(script, flagsOf('other'), gateway)).address;
}, 120_000);
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}
interface Described {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: unknown;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

const exampleOf = ({ example, examples }: Parameter): string =>
  String(example ?? Object.values(examples ?? {})[0]?.value ?? 'a');

/** Every operation that is described, as a method and an address. */
const describedRequests = (): [method: string, address: string][] => {
  const { paths } = JSON.parse(
    readFileSync(path.join(published.folder, documentPath.openapiJson), 'utf8'),
  ) as Description;
  return Object.entries(paths).flatMap(([address, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [] }]): [string, string][] => {
      if (!/^(?:get|post)$/.test(method)) return [];
      const inPath = parameters.filter((one) => one.in === 'path');
      const query = parameters
        .filter((one) => one.in === 'query' && one.required)
        .map((one): [string, string] => [one.name, exampleOf(one)]);
      const filled = inPath.reduce(
        (text, one) => text.replace(`{${one.name}}`, encodeURIComponent(exampleOf(one))),
        address,
      );
      return [[method.toUpperCase(), `${filled}${query.length > 0 ? `?${new URLSearchParams(query)}` : ''}`]];
    }),
  );
};

const ask = async (address: string, method: string, at: string, body?: string) => {
  const response = await fetch(address + at, {
    method,
    redirect: 'manual',
    headers: { 'content-type': 'application/json' },
    ...(method === 'POST' ? { body: body ?? '{}' } : {}),
  });
  const text = (await response.text()).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'DATE');
  const told = ['content-type', 'cache-control', 'location', 'allow', 'vary', 'link', 'content-security-policy'];
  return {
    status: response.status,
    headers: told.map((name) => response.headers.get(name)?.replaceAll(address, 'ADDRESS')),
    // What is drawn by lot differs from server to server.
    text: /gateway|authenticate|login/.test(at)
      ? text.replaceAll(/[\w-]{24,}/g, 'TOKEN').replaceAll(address, 'ADDRESS')
      : text,
  };
};

describe('the bundled server', () => {
  it('H10: answers every described address as the other does, from a folder that holds nothing else', async () => {
    const requests = describedRequests();
    expect(requests.length).toBeGreaterThan(25);
    // On a busy machine their threads may start slower than a probe of the health record waits.
    for (const at of [bundled, unbundled]) {
      await vi.waitFor(async () => expect((await fetch(`${at}/v2/healthz`)).status).toBe(200), {
        timeout: 60_000,
        interval: 500,
      });
    }
    const statuses = new Set<number>();
    for (const [method, at] of requests) {
      const answer = await ask(bundled, method, at);
      statuses.add(answer.status);
      expect(answer, `${method} ${at}`).toEqual(await ask(unbundled, method, at));
      expect(answer.status, `${method} ${at}`).toBeLessThan(500);
    }
    expect(statuses).toContain(200);
    for (const at of ['/', '/nothing', '/v2/livez', '/v2/readyz', '/v2/healthz', '/v2/jailbreak/package/search?q=pa']) {
      expect(await ask(bundled, 'GET', at), at).toEqual(await ask(unbundled, 'GET', at));
    }
    expect((await fetch(`${bundled}/v2/healthz`)).status).toBe(200);
    expect(readdirSync(own).sort()).toEqual(['its', 'other']);
  });

  it('H10: counts downloads in its thread', async () => {
    const list = await (await fetch(`${bundled}/v2/jailbreak/package/search?q=pa&limit=1`)).json();
    const [record] = (list as { data: PackageRecord[] }).data;
    const { package_id: id, version, author, repository } = record as PackageRecord;
    const { uri, suite } = repository;
    const download = { package_id: id, package_version: version, package_author: author, repository_uri: uri };
    const report = JSON.stringify([{ ...download, repository_suite: suite }]);
    const answer = await ask(bundled, 'POST', '/v2/jailbreak/download/ingest', report);
    expect(answer).toEqual(await ask(unbundled, 'POST', '/v2/jailbreak/download/ingest', report));
    const counted = await ask(bundled, 'GET', `/v2/jailbreak/download/${id}`);
    expect(counted).toEqual(await ask(unbundled, 'GET', `/v2/jailbreak/download/${id}`));
    expect(counted.status).toBe(200);
  });

  it('H10: follows a publication as a replica, in its thread', async () => {
    const replica = await start([path.join(bundle, 'serve.mjs')], ['--from', bundled, '--state', 'replica']);
    const at = '/v2/jailbreak/package/search?q=pa';
    await expect.poll(async () => (await fetch(replica.address + at)).status).toBe(200);
    expect((await ask(replica.address, 'GET', at)).text).toBe((await ask(bundled, 'GET', at)).text);
    replica.child.kill('SIGTERM');
    expect((await once(replica.child, 'close'))[0]).toBe(0);
  });

  it('H10: has accounts added, and is mirrored, uploaded and backed up, by the commands beside it', () => {
    const added = run('accounts', ['add', 'alice', '--state', 'its/state'], 'correct horse battery staple\n');
    expect(added.status, added.stderr).toBe(0);
    for (const [name, flags] of [
      ['mirror', [bundled, 'mirrored']],
      ['upload', ['uploaded', '--out', 'its/dist']],
      ['gateway', ['backup', 'backup.json', '--state', 'its/state']],
    ] as const) {
      const { status, stderr } = run(name, flags);
      expect(status, `${name}: ${stderr}`).toBe(0);
    }
    expect(readFileSync(path.join(own, 'backup.json'), 'utf8')).toContain('"alice"');
  });

  it('H10: says by what it is called, keeps what was compiled beside itself, and runs as well where it cannot', () => {
    const modules = path.join(bundle, 'modules');
    const named = new RegExp(`npm run (?:${bundledCommands.join('|')})\\b.*`, 'g');
    const texts = readdirSync(modules).filter((name) => name.endsWith('.mjs'));
    expect(texts.flatMap((name) => readFileSync(path.join(modules, name), 'utf8').match(named) ?? [])).toEqual([]);
    const compiled = path.join(bundle, compiledFolder);
    const [first, ...others] = bundledCommands;
    const { status, stdout, stderr } = run(first, ['--help']);
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: expect.stringContaining(`node ${first}.mjs `),
      stderr: '',
    });
    expect(readdirSync(compiled, { recursive: true }).length).toBeGreaterThan(2);
    rmSync(compiled, { recursive: true });
    // For the others, what stands in its way is no folder. They are loaded in one process, of which each has the arguments.
    writeFileSync(compiled, '');
    const files = others.map((name) => path.join(bundle, `${name}.mjs`));
    const load = `for (const file of ${JSON.stringify(files)}) {
      process.argv = [process.execPath, file, '--help'];
      await import(file);
      if (process.exitCode) throw new Error(file);
    }`;
    const all = spawnSync(process.execPath, ['--input-type=module', '--eval', load], {
      cwd: own,
      env: plainEnvironment(own),
      encoding: 'utf8',
    });
    expect(all).toMatchObject({ status: 0, stderr: '' });
    for (const name of others) expect(all.stdout, name).toContain(`node ${name}.mjs `);
    rmSync(compiled);
  });

  it('H10: says on an older Node.js what it needs', () => {
    const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.22.0' } })";
    const flags = ['--import', `data:text/javascript,${older}`, path.join(bundle, 'serve.mjs')];
    const { status, stderr } = spawnSync(process.execPath, flags, { cwd: own, encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toBe('Debdex needs Node.js 24 or newer, and this is 22.22.0: https://nodejs.org\n');
  });

  it('H10: has the licence of each package in it', () => {
    const licences = readFileSync(path.join(bundle, 'LICENSES.txt'), 'utf8');
    for (const name of ['hono', 'kysely', 'undici', 'zod', 'pg'])
      expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });
});
