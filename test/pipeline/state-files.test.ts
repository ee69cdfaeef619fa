import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import files, {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import fs from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readLastBuild } from '../../src/catalog/last-build.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { assertStateFiles, StateBlocked, stateFiles, stateFolders } from '../../src/pipeline/state-files.ts';
import { takeOutput } from '../../src/publication/owner.ts';
import { parseRecords } from '../../src/snapshots/record-history.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench, benchClock } from '../support/building.ts';
import { temporaryFolder } from '../support/folder.ts';
import { OriginServer, statusFault } from '../support/origin-server.ts';
import { replaceFunctions } from '../support/replaced-functions.ts';
import { runScript } from '../support/run-script.ts';

it('C12: whatever a build keeps in its state folder is a file or folder that the next one looks at first', async () => {
  const origin = await OriginServer.start();
  try {
    origin.serve('a', await generateRepository({ packages: makePackages(2, 'a') }));
    const bench = new BuildBench();
    bench.list([{ slug: 'a', uri: origin.uri('a') }]);
    expect((await bench.build()).status).toBe(0);
    const known = new Set<string>([...stateFolders, ...stateFiles]);
    const kept = ['', 'publication', 'history', 'snapshots'].flatMap((folder) =>
      readdirSync(path.join(bench.state, folder)).map((name) => path.join(folder, name)),
    );
    expect(kept.filter((name) => !known.has(name))).toEqual([]);
    rmSync(path.join(bench.state, 'builds.jsonl'));
    mkdirSync(path.join(bench.state, 'builds.jsonl'));
    origin.requests.length = 0;
    const { status, text } = await bench.build();
    expect({ status, text }).toEqual({
      status: 6,
      text: expect.stringMatching(/\/builds\.jsonl is a folder, and a build keeps a file .+ Nothing was changed\./),
    });
    expect(origin.requests).toEqual([]);
  } finally {
    await origin.stop();
  }
});

/** A receiver of notices, and what it was told. */
const receiveNotices = async () => {
  const told: string[] = [];
  const receiver = createServer(async (request, response) => {
    const { notices } = (await json(request)) as { readonly notices: readonly { readonly reason: string }[] };
    told.push(...notices.map(({ reason }) => reason));
    response.end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void receiver.close());
  await once(receiver, 'listening');
  return { told, variable: `DEBDEX_NOTIFY=http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` };
};

it('C12: what is in the way in a state folder is told of before anything reads or writes there', async () => {
  const origin = await OriginServer.start();
  try {
    origin.serve('a', await generateRepository({ packages: makePackages(2, 'a') }));
    const bench = new BuildBench();
    const good = [{ slug: 'a', uri: origin.uri('a') }];
    bench.list(good);
    expect((await bench.build()).status).toBe(0);
    const { told, variable } = await receiveNotices();
    const [target, holder] = [path.join(bench.folder, 'away'), path.join(bench.state, 'build.lock.json')];
    // A link to a disk that is not there, and what is no file, as a pipe would be.
    for (const leadsTo of [target, '/dev/null']) {
      for (const name of ['builds.jsonl', 'identifier', 'outcomes.json', 'notices.json']) {
        const file = path.join(bench.state, name);
        const kept = existsSync(file) ? readFileSync(file) : undefined;
        rmSync(file, { force: true });
        symlinkSync(leadsTo, file);
        told.length = 0;
        const before = readFileSync(holder, 'utf8');
        const sample = ['--sample', '--no-site', '--state', bench.state, '--out', path.join(bench.folder, 'sample')];
        const ends = [await bench.build(variable), await runScript('build', sample)];
        // A mistake in the manifest, too, would be recorded.
        bench.list([{ slug: 'no slug', uri: origin.uri('a') }]);
        ends.push(await bench.build(variable));
        bench.list(good);
        for (const { status, text } of ends) {
          expect(status, `${name} ${text}`).toBe(6);
          expect(text).toContain(`${file} is ${leadsTo === target ? 'a link to' : 'no regular file'}`);
        }
        // Without a note of what was told it is told again.
        expect(told).toHaveLength(name === 'notices.json' ? 2 : 1);
        expect(told[0]).toContain(file);
        expect(readFileSync(holder, 'utf8')).toBe(before);
        expect([existsSync(target), readlinkSync(file)]).toEqual([false, leadsTo]);
        rmSync(file);
        if (kept !== undefined) writeFileSync(file, kept);
        rmSync(path.join(bench.state, 'notices.json'), { force: true });
      }
    }
    // A pipe would hold up this process.
    const record = path.join(bench.state, 'builds.jsonl');
    rmSync(record);
    execFileSync('mkfifo', [record]);
    const { status, text } = await bench.end(bench.start('set -- timeout -s KILL 60 "$@";'));
    expect({ status, text }).toMatchObject({ status: 6, text: expect.stringContaining('is no regular file') });
  } finally {
    await origin.stop();
  }
});

it('C12: a build that cannot take the lock of its state folder, as on a disk that can only be read or is not there, is told of', async () => {
  const origin = await OriginServer.start();
  try {
    origin.serve('a', await generateRepository({ packages: makePackages(2, 'a') }));
    const bench = new BuildBench();
    bench.list([{ slug: 'a', uri: origin.uri('a') }]);
    const { told, variable } = await receiveNotices();
    mkdirSync(path.join(bench.state, 'build.lock-journal'), { recursive: true });
    for (const { status, text } of [await bench.build(variable), await bench.build(`${variable} DEBDEX_DRY_RUN=1`)])
      expect({ status, text }).toMatchObject({ status: 6, text: expect.stringContaining('unable to open') });
    expect(told).toEqual([expect.stringContaining('unable to open')]);
    told.length = 0;
    // Nor where the folder itself is on a disk that is not there, or is a link to itself.
    rmSync(bench.state, { recursive: true });
    for (const target of [path.join(bench.folder, 'away'), path.basename(bench.state)]) {
      told.length = 0;
      symlinkSync(target, bench.state);
      const { status, text } = await bench.build(variable);
      const words = `${bench.state} is a link to ${target}, where there is no folder: mount`;
      expect({ status, text }).toMatchObject({ status: 6, text: expect.stringContaining(words) });
      expect(told).toEqual([expect.stringContaining(words)]);
      const accepted = await runScript('accept', ['a', '--state', bench.state]);
      expect(accepted).toMatchObject({ status: 1, text: expect.stringContaining('There is no state folder') });
      rmSync(bench.state);
    }
  } finally {
    await origin.stop();
  }
});

it('C12: a file or folder of the state that leads nowhere, or is the other of the two, is named and left', () => {
  for (const name of [...stateFolders, ...stateFiles]) {
    const state = temporaryFolder();
    const file = path.join(state, name);
    mkdirSync(path.dirname(file), { recursive: true });
    expect(() => assertStateFiles(state)).not.toThrow();
    for (const target of [path.join(state, 'away'), path.basename(name)]) {
      symlinkSync(target, file);
      expect(() => assertStateFiles(state), name).toThrow(StateBlocked);
      expect(() => assertStateFiles(state)).toThrow(`${file} is a link to ${target}, where there is no`);
      expect(readlinkSync(file)).toBe(target);
      rmSync(file);
    }
    const isFolder = (stateFolders as readonly string[]).includes(name);
    // A link to a folder on another disk is as good as the folder.
    symlinkSync(temporaryFolder(), file);
    if (isFolder) expect(() => assertStateFiles(state)).not.toThrow();
    else expect(() => assertStateFiles(state)).toThrow(`${file} is a folder, and a build keeps a file of that name`);
    rmSync(file);
    // As a pipe would be, which to open waits for ever.
    symlinkSync('/dev/null', file);
    const words = isFolder ? 'no folder, and a build keeps a folder' : 'no regular file, and a build keeps a file';
    expect(() => assertStateFiles(state)).toThrow(`${file} is ${words} of that name`);
  }
});

/** Builds these repositories, of five packages each. `serve` gives one of them another number of packages. */
const buildSome = async (origin: OriginServer, slugs: readonly string[] = ['a', 'b', 'c']) => {
  const serve = async (slug: string, count: number) =>
    origin.serve(slug, await generateRepository({ packages: makePackages(count, slug) }));
  const bench = new BuildBench();
  bench.list(slugs.map((slug) => ({ slug, uri: origin.uri(slug) })));
  for (const slug of slugs) await serve(slug, 5);
  expect((await bench.build()).status).toBe(0);
  return { serve, bench };
};

// Each build tries a way on several repositories at once: one of them in each place, or each in a way of its own.

it('C4: what is no file or folder in the place of one that is kept of a repository makes that one stale, and the others are built', async () => {
  const origin = await OriginServer.start();
  try {
    const places = [
      { slug: 'b', name: 'history/v1/b/records.json', isFile: true },
      { slug: 'c', name: 'history/v1/c/repository.json', isFile: true },
      { slug: 'd', name: 'snapshots/v1/d/attempts.json', isFile: true },
      { slug: 'e', name: 'history/v1/e', isFile: false },
      { slug: 'f', name: 'snapshots/v1/f', isFile: false },
    ];
    const broken = places.map(({ slug }) => slug);
    const { serve, bench } = await buildSome(origin, ['a', ...broken]);
    const inState = (name: string) => path.join(bench.state, name);
    const away = (slug: string) => path.join(bench.folder, `away-${slug}`);
    type Place = (typeof places)[number];
    const putOther = ({ name, isFile }: Place) =>
      isFile ? mkdirSync(inState(name)) : writeFileSync(inState(name), '');
    const link = (target: string) => (place: Place) => symlinkSync(target, inState(place.name));
    const unmounted = link(path.join(bench.folder, 'unmounted'));
    // The other of the two where the repository did not change, and where it did; what is neither; and not visited.
    const ways = [
      { way: 'other, unchanged', isChanged: false, put: putOther, variables: '' },
      { way: 'other, changed', isChanged: true, put: putOther, variables: '' },
      { way: 'device', isChanged: true, put: link('/dev/null'), variables: '' },
      // To a disk that is not there.
      { way: 'unmounted, unchanged', isChanged: false, put: unmounted, variables: '' },
      { way: 'unmounted, changed', isChanged: true, put: unmounted, variables: '' },
      {
        ...{ way: 'itself', isChanged: true, variables: '' },
        put: ({ name }: Place) => symlinkSync(path.basename(name), inState(name)),
      },
      { way: 'not visited', isChanged: true, put: putOther, variables: 'DEBDEX_ONLY=a' },
    ];
    for (const { slug, name } of places) renameSync(inState(name), away(slug));
    let count = 5;
    const build = async (variables = '') => {
      const { status, text } = await bench.build(variables);
      const outcomes = readLastBuild(bench.state)?.repositories.map((one) => [one.slug, one.outcome, one.code]);
      return { status, text, outcomes };
    };
    for (const { way, isChanged, put, variables } of ways) {
      for (const place of places) put(place);
      const inodes = () => places.map(({ name }) => lstatSync(inState(name)).ino);
      const before = inodes();
      count += 1;
      for (const slug of ['a', ...(isChanged ? broken : [])]) await serve(slug, count);
      const { text, outcomes } = await build(variables);
      expect(outcomes, `${way} ${text}`).toEqual([
        ['a', 'fresh', null],
        ...broken.map((slug) => [slug, 'stale', 'store-failed']),
      ]);
      expect(inodes()).toEqual(before);
      for (const { name } of places) rmSync(inState(name), { recursive: true });
    }
    for (const { slug, name } of places) renameSync(away(slug), inState(name));
    for (const slug of broken) await serve(slug, count);
    const { status, text, outcomes } = await build();
    expect(status, text).toBe(0);
    expect(outcomes?.filter(([, outcome]) => outcome === 'stale')).toEqual([]);
  } finally {
    await origin.stop();
  }
});

it('C4: a history under a former slug that cannot be read makes only the renamed repository stale, and is taken over later', async () => {
  const origin = await OriginServer.start();
  try {
    const unmount = (file: string) => symlinkSync(`${file}.unmounted`, file);
    const ways = [
      { former: 'b', name: '', put: (file: string) => writeFileSync(file, '') },
      { former: 'c', name: '', put: unmount },
      { former: 'd', name: 'records.json', put: (file: string) => mkdirSync(file) },
      { former: 'e', name: 'repository.json', put: unmount },
    ];
    const renamed = ways.map(({ former }) => `new-${former}`);
    const { serve, bench } = await buildSome(origin, ['a', ...ways.map(({ former }) => former), 'z']);
    const history = path.join(bench.state, 'history', 'v1');
    const readRecords = (slug: string) =>
      parseRecords(readFileSync(path.join(history, slug, 'records.json'), 'utf8')).records;
    const later = `SOURCE_DATE_EPOCH=${Number(benchClock.SOURCE_DATE_EPOCH) + 86_400}`;
    const known = ways.map(({ former }) => readRecords(former));
    const fileOf = ({ former, name }: (typeof ways)[number]) => path.join(history, former, name);
    const awayOf = ({ former }: (typeof ways)[number]) => path.join(bench.folder, `away-${former}`);
    for (const way of ways) {
      renameSync(fileOf(way), awayOf(way));
      way.put(fileOf(way));
    }
    bench.list([
      { slug: 'a', uri: origin.uri('a') },
      ...ways.map(({ former }) => ({ slug: `new-${former}`, uri: origin.uri(former), aliases: [former] })),
      { slug: 'z', uri: origin.uri('z') },
    ]);
    let count = 5;
    const outcomesOf = () => readLastBuild(bench.state)?.repositories.map((one) => [one.slug, one.outcome, one.code]);
    for (const variables of ['', 'DEBDEX_ONLY=a ', '']) {
      count += 1;
      for (const slug of ['a', ...ways.map(({ former }) => former)]) await serve(slug, count);
      const { text } = await bench.build(`${variables}${later}`);
      expect(outcomesOf()?.slice(0, -1), text).toEqual([
        ['a', 'fresh', null],
        ...renamed.map((slug) => [slug, 'stale', 'store-failed']),
      ]);
      for (const way of ways) {
        expect(existsSync(path.join(bench.out, documentPath.repository(way.former))), text).toBe(true);
        expect(lstatSync(fileOf(way)).isFile()).toBe(way.former === 'b');
      }
    }
    for (const way of ways) {
      rmSync(fileOf(way), { recursive: true });
      renameSync(awayOf(way), fileOf(way));
    }
    const { status, text } = await bench.build(later);
    expect(status, text).toBe(0);
    expect(outcomesOf()?.slice(1, -1)).toEqual(renamed.map((slug) => [slug, 'fresh', null]));
    for (const [index, { former }] of ways.entries()) {
      const now = readRecords(`new-${former}`);
      for (const [key, sight] of known[index] ?? []) expect(now.get(key)).toEqual(sight);
      expect(existsSync(path.join(history, former))).toBe(false);
    }
  } finally {
    await origin.stop();
  }
});

describe('what another build keeps while it is under way', () => {
  const access = files.accessSync;
  replaceFunctions(files, {
    accessSync: (file, mode) => {
      if (path.basename(String(file)) === 'removals.json') rmSync(file);
      access(file, mode);
    },
  });

  it('C12: may go while it is looked at: whoever looks is told next that the other one is at work', () => {
    const state = temporaryFolder();
    const file = path.join(state, 'removals.json');
    writeFileSync(file, '{}');
    assertStateFiles(state);
    expect(existsSync(file)).toBe(false);
  });
});

it('an identifier that cannot be read now is no lost one, and stays', () => {
  const [state, out] = [temporaryFolder(), temporaryFolder()];
  const file = path.join(state, 'identifier');
  symlinkSync('identifier', file);
  expect(() => takeOutput(out, state, 'manifest')).toThrow(/ELOOP/);
  expect(readlinkSync(file)).toBe('identifier');
  expect(existsSync(`${file}.next`)).toBe(false);
});

describe('a repository whose attempts may not be read', () => {
  const { readFile } = fs;
  let refused: string | undefined;
  const refusing = async (...parameters: Parameters<typeof readFile>) => {
    if (refused !== undefined && String(parameters[0]).endsWith(refused))
      throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', syscall: 'open' });
    return readFile(...parameters);
  };
  replaceFunctions(fs, { readFile: refusing as typeof readFile });

  it('C4: is stale, waits for the operator as before and keeps what it has, and the others are built', async () => {
    const origin = await OriginServer.start();
    try {
      const { serve, bench } = await buildSome(origin);
      await serve('b', 1);
      expect((await bench.build()).status).toBe(4);
      await serve('a', 6);
      const attempts = path.join(bench.state, 'snapshots', 'v1', 'b', 'attempts.json');
      const before = readFileSync(attempts, 'utf8');
      refused = path.join('b', 'attempts.json');
      expect((await bench.build()).status).toBe(4);
      const [a, b] = readLastBuild(bench.state)?.repositories ?? [];
      expect([a?.outcome, b?.outcome, b?.code]).toEqual(['fresh', 'stale', 'store-failed']);
      expect(b?.heldBack.map(({ code }) => code)).toEqual(['index-shrunken']);
      expect(readFileSync(attempts, 'utf8')).toBe(before);
      await serve('a', 7);
      expect((await bench.build('DEBDEX_ONLY=a')).status).toBe(4);
      const [again, unvisited] = readLastBuild(bench.state)?.repositories ?? [];
      expect([again?.outcome, unvisited?.heldBack]).toEqual(['fresh', b?.heldBack]);
      await serve('a', 8);
      expect((await bench.build('DEBDEX_RETRY_NOW=b')).status).toBe(4);
      const [last, retried] = readLastBuild(bench.state)?.repositories ?? [];
      expect([last?.outcome, retried?.code, retried?.heldBack]).toEqual(['fresh', 'store-failed', b?.heldBack]);
    } finally {
      refused = undefined;
      await origin.stop();
    }
  });
});

describe('a repository of which nothing may be written', () => {
  const { mkdir, open } = fs;
  let refused: string | undefined;
  const assertAllowed = (file: unknown) => {
    if (refused !== undefined && String(file).includes(refused))
      throw Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS', syscall: 'open' });
  };
  replaceFunctions(fs, {
    mkdir: (async (...parameters: Parameters<typeof mkdir>) => {
      if (!existsSync(String(parameters[0]))) assertAllowed(parameters[0]);
      return mkdir(...parameters);
    }) as typeof mkdir,
    open: async (...parameters) => {
      if (String(parameters[1]).startsWith('w')) assertAllowed(parameters[0]);
      return open(...parameters);
    },
  });

  it('C4: is stale and keeps its history, and the others are built', async () => {
    const origin = await OriginServer.start();
    try {
      const { serve, bench } = await buildSome(origin);
      const folder = path.join('history', 'v1', 'b');
      const file = path.join(bench.state, folder, 'records.json');
      const kept = readFileSync(file, 'utf8');
      let count = 5;
      const build = async (variables: string) => {
        count += 1;
        await serve('a', count);
        const { status, text } = await bench.build(variables);
        const [a, b] = readLastBuild(bench.state)?.repositories ?? [];
        expect([status, a?.outcome], text).toEqual([0, 'fresh']);
        return b;
      };
      const later = `SOURCE_DATE_EPOCH=${Number(benchClock.SOURCE_DATE_EPOCH) + 86_400}`;
      refused = folder;
      await serve('b', 6);
      // Visited, and not.
      for (const variables of ['', 'DEBDEX_ONLY=a ']) {
        expect(await build(variables + later)).toMatchObject({ outcome: 'stale', code: 'store-failed' });
        expect(readFileSync(file, 'utf8')).toBe(kept);
      }
      // With its snapshot, too, where it is to be asked although its origin wants a pause.
      for (const name of ['InRelease', 'Release']) origin.break(`/b/${name}`, statusFault(429));
      expect(await build(later)).toMatchObject({ outcome: 'stale' });
      origin.mend();
      refused = path.join('v1', 'b');
      origin.reset();
      expect(await build(`DEBDEX_RETRY_NOW=b ${later}`)).toMatchObject({ outcome: 'stale', code: 'store-failed' });
      expect(origin.requests.filter(({ path: asked }) => asked.startsWith('/b/')).length).toBeGreaterThan(0);
      refused = undefined;
      expect(await build(`DEBDEX_RETRY_NOW=b ${later}`)).toMatchObject({ outcome: 'unchanged' });
      const { records } = parseRecords(readFileSync(file, 'utf8'));
      expect(records.size).toBe(6);
      for (const [key, sight] of parseRecords(kept).records) expect(records.get(key)).toEqual(sight);
      // Where it was lost, it is restored from the catalog.
      rmSync(path.join(bench.state, folder), { recursive: true });
      refused = folder;
      expect(await build(later)).toMatchObject({ outcome: 'stale', code: 'store-failed' });
      refused = undefined;
      expect(await build(`DEBDEX_RETRY_NOW=b ${later}`)).toMatchObject({ outcome: 'unchanged' });
      expect(parseRecords(readFileSync(file, 'utf8')).records).toEqual(records);
    } finally {
      refused = undefined;
      await origin.stop();
    }
  });
});

describe('a file that nobody may replace, in a folder that takes new ones', () => {
  const { rename } = fs;
  const { accessSync } = files;
  let held: string | undefined;
  const assertFree = (file: unknown) => {
    if (held !== undefined && String(file).endsWith(held))
      throw Object.assign(new Error('EPERM: operation not permitted'), { code: 'EPERM', syscall: 'rename' });
  };
  replaceFunctions(fs, {
    rename: async (from, to) => {
      assertFree(to);
      return rename(from, to);
    },
  });
  // This is what the system says of an immutable file, to root too.
  replaceFunctions(files, {
    accessSync: (file, mode) => {
      if (mode === files.constants.W_OK) assertFree(file);
      accessSync(file, mode);
    },
  });
  afterEach(() => {
    held = undefined;
  });

  it('C4: makes a repository stale where its history has one, and the others are built', async () => {
    const origin = await OriginServer.start();
    try {
      const { serve, bench } = await buildSome(origin);
      for (const slug of ['a', 'b']) await serve(slug, 6);
      held = path.join('b', 'records.json');
      const file = path.join(bench.state, 'history', 'v1', held);
      const kept = readFileSync(file, 'utf8');
      const { status, text } = await bench.build();
      const [a, b] = readLastBuild(bench.state)?.repositories ?? [];
      expect([status, a?.outcome, b?.outcome, b?.code], text).toEqual([0, 'fresh', 'stale', 'store-failed']);
      expect(b?.reason).toContain('records.json is immutable: take that from it (chattr -i)');
      expect(b?.reason).not.toContain(bench.state);
      expect(readFileSync(file, 'utf8')).toBe(kept);
      held = undefined;
      expect((await bench.build()).status).toBe(0);
      expect(parseRecords(readFileSync(file, 'utf8')).records.size).toBe(6);
    } finally {
      await origin.stop();
    }
  });

  it('C12: is named before a build begins where the state has one, unless it is written once', () => {
    const state = temporaryFolder();
    for (const name of stateFiles) {
      mkdirSync(path.dirname(path.join(state, name)), { recursive: true });
      writeFileSync(path.join(state, name), '');
      held = name;
      const check = expect(() => assertStateFiles(state), name);
      if (name === 'identifier') check.not.toThrow();
      else check.toThrow(`${path.join(state, name)} is immutable: take that from it (chattr -i), because builds`);
    }
  });

  it('C12: is one of another user in a folder where only owners replace files', () => {
    const state = temporaryFolder();
    const file = path.join(state, 'outcomes.json');
    writeFileSync(file, '');
    const others = vi.spyOn(process, 'geteuid').mockReturnValue(lstatSync(file).uid + 1);
    onTestFinished(() => others.mockRestore());
    expect(() => assertStateFiles(state)).not.toThrow();
    chmodSync(state, 0o1777);
    expect(() => assertStateFiles(state)).toThrow(`${file} belongs to another user, in a folder where only owners`);
    others.mockReturnValue(lstatSync(file).uid);
    expect(() => assertStateFiles(state)).not.toThrow();
  });
});
