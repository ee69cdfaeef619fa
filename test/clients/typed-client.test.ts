import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as product from '../../clients/typescript/src/index.ts';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { bundleClient, bundleModule } from '../../scripts/bundling/bundle-client.ts';
import { composeClientTypes } from '../../scripts/client-types/compose-types.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { BuiltPublication, FileOrigin } from '../support/built-publication.ts';
import { packages } from '../support/catalog.ts';
import { startReplicaServer } from '../support/replica-server.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

const { ChangesLost, Client } = product;
const home = path.join(import.meta.dirname, '..', '..', 'clients', 'typescript');

const many = Array.from({ length: 30 }, (_, number) => ({ Package: `com.example.n${number}`, Name: `Snow ${number}` }));
const change = {
  package_id: 'com.example.snow',
  repository: 'one',
  change: 'updated',
  version: '2.0',
  previous_version: '1.0',
} as const;

/** What somebody writes who knows the package alone. A wrong use that compiled would be an error. */
const program = `
import { AnswerError, Client, type ClientOptions, type PackageRecord } from '@debdex/client';
declare const process: { readonly argv: readonly string[] };
const options: ClientOptions = { base: process.argv[2] ?? '', retries: 0 };
const client = new Client(options);
const [latest]: readonly PackageRecord[] = await client.package('com.example.snow');
console.log(latest?.package_id, latest?.version);
const price: 'Free' | 'Paid' | undefined = latest?.price;
if (price === undefined) throw new Error('no price');
const closure = await client.dependencies('none', { architecture: 'iphoneos-arm' });
console.log(closure === undefined ? 'nothing' : closure.outcome);
// @ts-expect-error: an architecture has to be named
client.dependencies('none', {}).catch(() => {});
// @ts-expect-error: there is no such ranking
client.repositories(6).catch(() => {});
// @ts-expect-error: a record is not to be written to
latest!.version = '';
try {
  for await (const { name } of client.searchPackages('a', { limit: 1 })) console.log(name);
} catch (error) {
  console.log(error instanceof AnswerError && error.status);
}
`;

const folder = mkdtempSync(path.join(tmpdir(), 'debdex-client-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let publication: BuiltPublication;
beforeAll(async () => {
  publication = new BuiltPublication(folder);
  const snow = { Package: 'com.example.snow', Name: 'Snow' };
  await publication.publish([{ slug: 'one', packages: packages({ ...snow, Version: '1.0' }, ...many) }]);
  await publication.publish([{ slug: 'one', packages: packages({ ...snow, Version: '2.0' }, ...many) }], {
    packages: [change],
  });
});

let ofBuild: TestServer;
let search: CatalogFiles;
beforeAll(async () => {
  const { folder: out, state } = publication;
  search = new CatalogFiles(state);
  const published = { folder: out, state, write: () => {}, remove: () => {} };
  ofBuild = await startTestServer({ published, overrides: { search, older: search.older } });
});
afterAll(async () => {
  await ofBuild.close();
  search.close();
});

const read = async <T>(all: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const one of all) found.push(one);
  return found;
};

describe('the types of the client', () => {
  it('are those of the description', () => {
    expect(readFileSync(path.join(home, 'src', 'types.ts'), 'utf8')).toBe(composeClientTypes());
  });

  // Of two of one name TypeScript makes one type, without a word.
  it('are declared once each', () => {
    const names = Array.from(composeClientTypes().matchAll(/^export (?:interface|type) (\w+)/gm), ([, name]) => name);
    expect(names).toContain('ChangeList');
    expect(names).toEqual([...new Set(names)]);
  });
});

interface Asked {
  readonly address: string;
  /** A replica leads to the publication, which is elsewhere here. */
  readonly isReplica: boolean;
}

/** What the client asks of each kind of server, over the same publication. */
const questions: Readonly<Record<string, (asked: Asked) => Promise<void>>> = {
  'for pages as they are read, each record once and none beyond what is read': async ({ address }) => {
    const asked: string[] = [];
    const counting: typeof fetch = (address, init) => {
      asked.push(String(address));
      return fetch(address, init);
    };
    const client = new Client({ base: `${address}/`, fetch: counting });
    const found = await read(client.searchPackages('snow', { limit: 10 }));
    expect([found.length, new Set(found.map(({ id }) => id)).size, asked.length]).toEqual([31, 31, 4]);
    asked.length = 0;
    for await (const { name } of client.searchPackages('snow', { limit: 10 })) {
      expect(name).toBe('Snow');
      break;
    }
    expect(asked).toHaveLength(1);
    expect(await read(client.repositoryPackages('one', { limit: 7 }))).toHaveLength(31);
    expect((await read(client.searchRepositories('one'))).map(({ slug }) => slug)).toEqual(['one']);
  },

  'for what is known and what is not': async ({ address }) => {
    const client = new Client({ base: address });
    expect((await client.package('com.example.snow')).map(({ version }) => version)).toEqual(['2.0']);
    expect(await client.package('none')).toEqual([]);
    expect((await client.repository('one'))?.package_count).toBe(31);
    expect(await client.repository('none')).toBeUndefined();
    expect(await client.findings('one')).toMatchObject({ repository_id: 'one', findings: expect.any(Array) });
    expect(await client.findings('none')).toBeUndefined();
    expect(await client.divergences()).toEqual({ pairs: [], changed: [] });
    expect((await client.description()).openapi).toBe('3.1.0');
    const ids = [
      ...many.map(({ Package }) => Package),
      ...Array.from({ length: 600 }, (__, number) => `none.${number}`),
    ];
    expect(await client.latest(ids)).toHaveLength(30);
    const uris = [
      'https://a.example/x,y',
      ...Array.from({ length: 300 }, (__, number) => `https://r${number}.example/`),
    ];
    expect((await client.safety(uris)).map(({ uri }) => uri)).toEqual(uris);
    expect(Object.keys(await client.health())).toContain('route_data');
    await expect(read(client.searchPackages('a'))).rejects.toThrow(
      expect.objectContaining({ status: 400, message: "Query parameter 'q' must be at least 2 characters" }),
    );
  },

  'what installing a package brings': async ({ address }) => {
    const client = new Client({ base: address });
    const closure = await client.dependencies('com.example.snow', {
      architecture: 'iphoneos-arm',
      repositories: ['x'],
    });
    expect(closure).toMatchObject({
      outcome: 'installable',
      packages: [{ package_id: 'com.example.snow', version: '2.0', repository_id: 'one' }],
      add: [{ repository_id: 'one' }],
      unknown_repositories: ['x'],
    });
    expect(await client.dependencies('none', { architecture: 'iphoneos-arm' })).toBeUndefined();
  },

  'with each example of its README': async ({ address, isReplica }) => {
    const text = readFileSync(path.join(home, 'README.md'), 'utf8');
    const [first = '', ...examples] = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
    expect(examples.length).toBeGreaterThanOrEqual(10);
    const AsyncFunction = (async () => {}).constructor as new (
      ...text: string[]
    ) => (...values: unknown[]) => Promise<void>;
    for (const example of examples.filter((one) => !(isReplica && one.includes('.changes(')))) {
      const code = stripTypeScriptTypes(`${first}${example}`)
        .replaceAll(/^import .*$/gm, '')
        .replaceAll('https://index.example', address);
      const said: unknown[][] = [];
      const values = { ...product, console: { log: (...words: unknown[]) => said.push(words) } };
      await new AsyncFunction(...Object.keys(values), code)(...Object.values(values));
      expect(said.length, example).toBeGreaterThan(0);
      expect(said.flat().includes(undefined), example).toBe(false);
    }
  },
};

describe('the client asks a server of a build', () => {
  it.each(Object.entries(questions))('%s', (_, ask) => ask({ address: ofBuild.address, isReplica: false }));
});

it(`the client asks a replica ${Object.keys(questions).join('; ')}`, async () => {
  const origin = await new FileOrigin(publication.folder).open();
  onTestFinished(() => origin.close().catch(() => {}));
  const replica = await startReplicaServer(origin.address);
  await replica.until(2);
  for (const ask of Object.values(questions)) {
    await ask({ address: `http://127.0.0.1:${replica.port}`, isReplica: true });
  }
});

it('C9: the client asks for documents by the names that they have, whatever something is called', async () => {
  const asked: string[] = [];
  const ask: typeof fetch = async (address) => {
    asked.push(decodeURI(new URL(String(address)).pathname).slice(1));
    return Response.json({ data: [] });
  };
  const client = new Client({ base: 'https://index.test/', files: true, fetch: ask });
  const odd = ['com.Example.Two', 'a/b', 'g++', '雪', 'x.json', 'index.html', 'a.', `"'$`, 'é'.repeat(300), '%2e'];
  for (const name of odd) {
    await client.package(name);
    await client.repository(name);
    await read(client.repositoryPackages(name));
    await client.findings(name);
    const { package: ofPackage, repository, repositoryPackages, repositoryFindings } = documentPath;
    const expected = [ofPackage(name), repository(name), repositoryPackages(name), repositoryFindings(name)];
    expect(asked.splice(0).map(decodeURIComponent), name).toEqual(expected);
  }
  await client.landing();
  for (const rank of [1, 5, '*'] as const) await client.repositories(rank);
  expect(asked).toEqual([documentPath.landing, ...(['1', '5', '*'] as const).map(documentPath.ranking)]);
});

it('the client that asks for files alone chooses the record of a package as the service would', async () => {
  const record = (id: string, version: string, bootstrap: boolean, latest: boolean) => ({
    ...{ package_id: id, version, latest_version: latest, repository: { bootstrap } },
  });
  const lists: Record<string, object[]> = {
    a: [record('a', '3', false, true), record('a', '1', true, false), record('a', '2', true, true)],
    b: [record('b', '3', false, true)],
  };
  const ask: typeof fetch = async (address) => {
    const data = lists[/\/package\/(\w+)\.json$/.exec(String(address))?.[1] ?? ''];
    return data === undefined ? new Response('', { status: 404 }) : Response.json({ data });
  };
  const client = new Client({ base: 'https://index.test', files: true, fetch: ask });
  const versions = async (ids: string[], priority: 'default' | 'bootstrap') =>
    (await client.latest(ids, { priority })).map(({ version }) => version);
  expect(await versions(['a', 'none'], 'default')).toEqual(['3']);
  expect(await versions(['a'], 'bootstrap')).toEqual(['2']);
  expect(await versions(['b'], 'bootstrap')).toEqual(['3']);
});

it('the client follows changes from generation to generation, and says where they are lost', async () => {
  const client = new Client({ base: ofBuild.address });
  expect((await client.generation()).number).toBe(2);
  const changes = client.changes({ since: 1 });
  expect((await changes.next()).value).toMatchObject({ ...change, number: 2 });
  expect(await changes.next()).toEqual({ done: true, value: 2 });
  await expect(read(client.changes({ since: 7 }))).rejects.toThrow(ChangesLost);
  const ending = new AbortController();
  const following = client.follow({ since: 1, interval: 20, signal: ending.signal });
  expect((await following.next()).value).toMatchObject(change);
  setTimeout(() => ending.abort(new Error('enough')), 100);
  await expect(following.next()).rejects.toThrow('enough');
});

it('the client tells of no changes where a list does not lead from the generation before, but for the first of all', async () => {
  const publish = (previous: Record<number, number | null>): typeof fetch => {
    const last = Math.max(...Object.keys(previous).map(Number));
    return async (address) => {
      const number = Number(/\/v2\/changes\/(\d+)\.json$/.exec(String(address))?.[1] ?? last);
      return Response.json({
        number,
        date: '2026-06-01T00:00:00.000Z',
        previous: previous[number],
        packages: [change],
      });
    };
  };
  const ask = (previous: Record<number, number | null>, since: number) =>
    read(new Client({ base: 'https://index.test', fetch: publish(previous) }).changes({ since }));
  expect(await ask({ 1: null, 2: 1 }, 0)).toHaveLength(2);
  await expect(ask({ 1: null, 2: 1, 3: null }, 1)).rejects.toThrow(ChangesLost);
  await expect(ask({ 1: null, 2: 1, 3: 1 }, 2)).rejects.toThrow('What generation 3 changed is not known as a whole');
  expect(await ask({ 3: null, 4: 3 }, 3)).toHaveLength(1);
});

it('the client that follows says that changes are lost where numbers are given anew, as by a service that was restored', async () => {
  /** Follows from the first generation; between two questions the service has other ones, each with its date. */
  const follow = async (...states: (readonly string[])[]) => {
    let dates = states[0] ?? [];
    const ask: typeof fetch = async (address) => {
      const asked = /\/v2\/changes\/(\d+)\.json$/.exec(String(address))?.[1];
      const number = Number(asked ?? dates.length);
      const date = dates[number - 1];
      if (date === '') return new Response('', { status: 404 });
      const previous = number === 1 ? null : number - 1;
      if (asked === undefined) dates = states.shift() ?? dates;
      return Response.json({ number, date, previous, packages: [{ ...change, version: date }] });
    };
    const ending = new AbortController();
    const { signal } = ending;
    const seen: (string | null)[] = [];
    try {
      for await (const { version } of new Client({ base: 'https://index.test', fetch: ask }).follow({
        since: 1,
        interval: 0,
        signal,
      })) {
        seen.push(version);
        if (version === 'last') ending.abort(new Error('enough'));
      }
    } catch (error) {
      return [...seen, (error as Error).message];
    }
    return seen;
  };
  expect(await follow(['a', 'b'], ['a', 'b'], ['a', 'b', 'c', 'last'])).toEqual(['b', 'c', 'last', 'enough']);
  const lost = 'Generation 2 is another than it was: the service began anew before it';
  expect(await follow(['a', 'b'], ['a', 'b'], ['a', 'other'], ['a', 'other', 'last'])).toEqual(['b', lost]);
  expect(await follow(['a', 'b'], ['a', 'b'], ['a', 'other', 'c', 'last'])).toEqual(['b', lost]);
  // As of a mirror that has no lists of what its publication has forgotten: so new it would be kept.
  const gone = 'The changes of generation 2 are kept no longer';
  expect(await follow(['a', 'b'], ['a', 'b'], ['', '', 'c', 'last'])).toEqual(['b', gone]);
  // What is older than what is kept tells nothing.
  const later = Array.from({ length: 99 }, (_, number) => `${number}`);
  expect(await follow(['a', 'b'], ['a', 'b'], ['', '', ...later, 'last'])).toEqual(['b', ...later, 'last', 'enough']);
});

it('the client that follows bears a replica, or a cache, that is behind the others', async () => {
  const states = [2, 3, 2, 3, 2, 4];
  const asked: number[] = [];
  const ask: typeof fetch = async (address) => {
    const number = Number(/\/v2\/changes\/(\d+)\.json$/.exec(String(address))?.[1] ?? states.shift() ?? 4);
    asked.push(number);
    // A replica leads to the publication, which has the newest.
    if (number > 4) return new Response('', { status: 404 });
    return Response.json({
      number,
      date: `${number}`,
      previous: number - 1,
      packages: [{ ...change, version: `${number}` }],
    });
  };
  const client = new Client({ base: 'https://index.test', fetch: ask });
  const seen: (string | null)[] = [];
  for await (const { version } of client.follow({ since: 1, interval: 0 })) {
    seen.push(version);
    if (version === '4') break;
  }
  expect(seen).toEqual(['2', '3', '4']);
  states.unshift(2, 2);
  const changes = client.changes({ since: { number: 3, date: '3' } });
  expect(await changes.next()).toEqual({ done: true, value: 3 });
  await expect(read(client.changes({ since: 5 }))).rejects.toThrow('is at generation 2, which is older than 5');
});

it('the client says that changes are lost where the generation that is known has another date', async () => {
  const lists: Record<number, string> = { 1: 'a', 2: 'b', 3: 'c' };
  const ask: typeof fetch = async (address) => {
    const number = Number(/\/v2\/changes\/(\d+)\.json$/.exec(String(address))?.[1] ?? 3);
    const date = lists[number];
    if (date === undefined) return new Response('', { status: 404 });
    return Response.json({ number, date, previous: number - 1, packages: [{ ...change, version: date }] });
  };
  const since = (known: { number: number; date: string }) =>
    read(new Client({ base: 'https://index.test', fetch: ask }).changes({ since: known }));
  expect((await since({ number: 1, date: 'a' })).map(({ version }) => version)).toEqual(['b', 'c']);
  expect(await since({ number: 3, date: 'c' })).toEqual([]);
  for (const known of [
    { number: 1, date: 'other' },
    { number: 3, date: 'other' },
    { number: 4, date: 'c' },
  ]) {
    await expect(since(known)).rejects.toThrow(ChangesLost);
  }
  const [last] = await since({ number: 2, date: 'b' });
  expect(await since(last as { number: number; date: string })).toEqual([]);
});

it('the client takes for absent what a bucket that nobody may list says 403 of, and nothing that a server says it of', async () => {
  const ask: typeof fetch = async (address) =>
    String(address).endsWith('/generation.json')
      ? Response.json({ number: 3 })
      : new Response('<Error><Code>AccessDenied</Code></Error>', { status: 403 });
  const bucket = new Client({ base: 'https://index.test', files: true, fetch: ask });
  expect(await bucket.package('none')).toEqual([]);
  expect(await bucket.latest(['none'])).toEqual([]);
  expect(await bucket.repository('none')).toBeUndefined();
  await expect(read(bucket.changes({ since: 1 }))).rejects.toThrow(ChangesLost);
  const server = new Client({ base: 'https://index.test', fetch: ask });
  await expect(server.package('none')).rejects.toThrow(expect.objectContaining({ status: 403 }));
});

it('H5: is a package that a strict program of somebody else compiles with and runs', async () => {
  const project = path.join(folder, 'stranger');
  const installed = path.join(project, 'node_modules', '@debdex', 'client');
  await bundleClient(installed);
  const sources = Object.entries(JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8')).exports['.']);
  expect(sources).toEqual([
    ['types', './types/index.d.ts'],
    ['default', './client.mjs'],
  ]);
  writeFileSync(path.join(project, 'package.json'), '{ "type": "module" }');
  writeFileSync(path.join(project, 'program.ts'), program);
  const compiler = path.join(home, '..', '..', 'node_modules', '@typescript', 'native', 'bin', 'tsc');
  for (const [module, moduleResolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ]) {
    const compilerOptions = {
      ...{ module, moduleResolution, target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'] },
      ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, types: [] },
      // What is declared is checked too, but not what the compiler brings itself.
      ...{
        skipLibCheck: false,
        skipDefaultLibCheck: true,
        noPropertyAccessFromIndexSignature: true,
        verbatimModuleSyntax: true,
        outDir: module,
      },
    };
    writeFileSync(path.join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    const { stdout, status } = spawnSync(process.execPath, [compiler], { cwd: project, encoding: 'utf8' });
    expect([moduleResolution, stdout, status]).toEqual([moduleResolution, '', 0]);
  }
  const run = spawn(process.execPath, ['nodenext/program.js', ofBuild.address], { cwd: project });
  let said = '';
  run.stdout.on('data', (chunk) => (said += chunk));
  const [status] = await once(run, 'close');
  expect([said, status]).toEqual(['com.example.snow 2.0\nnothing\n400\n', 0]);
});

it('is bundled as one module that imports nothing, for browsers and Node', async () => {
  const code = await bundleModule();
  expect(code).not.toMatch(/^\s*import\b|\brequire\(|node:|process\.|Buffer\b/m);
  const bundled = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  expect(Object.keys(bundled).sort()).toEqual(['AnswerError', 'ChangesLost', 'Client', 'FilesAlone']);
});
