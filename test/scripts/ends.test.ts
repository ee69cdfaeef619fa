import { type ChildProcess, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { computeExitCode, toCommandFailure } from '../../scripts/build-end.ts';
import { memoryFlags } from '../../scripts/memory-flags.ts';
import { readUnsafe } from '../../scripts/read-service.ts';
import { readLastBuild } from '../../src/catalog/last-build.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { generationPath } from '../../src/contract/generation.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { PartlyPublished } from '../../src/pipeline/build.ts';
import { holdsPublication } from '../../src/publication/owner.ts';
import { packageAddress } from '../../src/results/package-address.ts';
import { openStore } from '../../src/snapshots/store.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench, benchClock, leaveAlone } from '../support/building.ts';
import { OriginServer } from '../support/origin-server.ts';
import { runScript } from '../support/run-script.ts';

const scripts = path.join(import.meta.dirname, '..', '..', 'scripts');

// Each test is several builds, one after the other.
vi.setConfig({ testTimeout: 120_000 });

let origin: OriginServer;
let bench: BuildBench;
let started: ChildProcess | undefined;

beforeEach(async () => {
  origin = await OriginServer.start();
  bench = new BuildBench();
});

afterEach(async () => {
  started?.kill('SIGKILL');
  started = undefined;
  await origin.stop();
});

const serve = async (slug: string, count = 3) =>
  origin.serve(slug, await generateRepository({ packages: makePackages(count, slug) }));
const entriesOf = (...slugs: string[]) => slugs.map((slug) => ({ slug, uri: origin.uri(slug) }));
/** An address at which nothing listens. */
const nowhere = 'http://127.0.0.1:1/';
/** Lists one repository that is left alone, since it could not be reached before. */
const listUnreachable = async () => {
  bench.list([{ slug: 'gone', uri: nowhere }]);
  await leaveAlone(bench.state, 'gone');
};

const accept = async (...flags: string[]) => (await runScript('accept', ['--state', bench.state, ...flags])).status;

/** Starts `npm start` on what the bench lists, until it listens or ends. */
const start = async (): Promise<{ text: string; address: string | undefined }> => {
  const command = [path.join(scripts, 'start.ts'), ...bench.flags, '--port', '0'];
  const child = spawn(process.execPath, command, { env: { ...process.env, ...benchClock } });
  started = child;
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += chunk;
    });
  }
  const ended = once(child, 'close');
  while (!text.includes('Listening on') && child.exitCode === null) {
    await Promise.race([once(child.stdout, 'data'), ended]);
  }
  return { text, address: /Listening on (\S+)/.exec(text)?.[1] };
};

describe('how a build ends', () => {
  it('C12: tells what nobody could reach from what is of no use', async () => {
    await listUnreachable();
    expect(await bench.build()).toMatchObject({ status: 5, text: expect.stringContaining('could be reached') });
    bench.list([{ slug: 'gone', uri: nowhere }, ...entriesOf('empty')]);
    expect(await bench.build()).toMatchObject({ status: 1, text: expect.stringContaining('Nothing usable') });
    expect(existsSync(path.join(bench.out, 'v2'))).toBe(false);
  });

  it('C4: says that too many repositories are stale, or that one waits for a word', async () => {
    bench.list(entriesOf('one', 'two', 'three', 'four'));
    // One has enough of them for most to vanish.
    for (const slug of ['one', 'two', 'three', 'four']) await serve(slug, slug === 'one' ? 9 : 1);
    expect((await bench.build()).status).toBe(0);
    await serve('one', 2);
    expect(await bench.build()).toMatchObject({ status: 4, text: expect.stringContaining('npm run accept') });
    origin.break('/two/Release', { kind: 'status', status: 404 });
    expect((await bench.build()).status).toBe(3);
    expect((await bench.build('DEBDEX_FAIL_ON_STALE=50% ')).status).toBe(4);
    // What else may be allowed is asked of the same outcomes.
    const lastBuild = readLastBuild(bench.state);
    if (lastBuild === undefined) throw new Error('no build is told of');
    expect(['50%', '1', '2', '0%'].map((allowed) => computeExitCode({ lastBuild }, allowed))).toEqual([4, 3, 4, 3]);
    expect(await bench.build('DEBDEX_FAIL_ON_STALE=40%% ')).toMatchObject({ status: 2 });
    expect(await accept('one')).toBe(0);
    expect((await bench.build()).status).toBe(0);
    origin.break('/one/Release', { kind: 'status', status: 404 });
    expect((await bench.build()).status).toBe(3);
  });

  it('C12: tells a mistake, and a fault of its own, from all of these', async () => {
    bench.list([]);
    expect((await bench.build()).status).toBe(2);
    bench.list(entriesOf('one'));
    await serve('one');
    for (const epoch of ['253402300800', '1780000000000', 'today']) {
      const { status, text } = await bench.build(`SOURCE_DATE_EPOCH=${epoch} `);
      expect([status, text]).toEqual([2, expect.stringContaining('seconds since 1970')]);
    }
    expect((await bench.build('DEBDEX_DOWNLOADS_DATABASE=mysql://a/b ')).status).toBe(2);
    writeFileSync(bench.out, 'no folder');
    expect((await bench.build()).status).toBe(6);
    rmSync(bench.out);
    // Counters that cannot be read cost their figures, and nothing else.
    expect(await bench.build('DEBDEX_DOWNLOADS_DATABASE=postgres://127.0.0.1:1/none ')).toMatchObject({
      status: 0,
      text: expect.stringContaining('The download counters could not be read'),
    });
    expect((await bench.build('DEBDEX_SAMPLE=1 ')).status).toBe(2);
  });
});

describe('a build whose pages fail', () => {
  it('P1: leaves all that was published as it was, and says so; the next one publishes what it had', async () => {
    bench = new BuildBench({ site: true });
    bench.list(entriesOf('one'));
    await serve('one');
    expect((await runScript('build', [...bench.flags, '--no-site'], { environment: benchClock })).status).toBe(0);
    // Pages of before are files like any, and cost a site less where a test writes them.
    for (const page of ['.', packageAddress('com.example.one1'), 'search-index/rows']) {
      mkdirSync(path.join(bench.out, page), { recursive: true });
      writeFileSync(path.join(bench.out, page, 'index.html'), 'of before');
    }
    const published = () => ({
      files: bench.digests(),
      catalog: hash('sha256', readFileSync(catalogPath(bench.state))),
    });
    const before = published();
    await serve('one', 5);
    // Where the pages are made.
    const pages = path.join(bench.state, 'site', 'pages');
    mkdirSync(path.dirname(pages), { recursive: true });
    writeFileSync(pages, 'no folder');
    const { status, text } = await bench.build();
    expect([status, text]).toEqual([6, expect.stringContaining('What was published before still stands')]);
    expect(published()).toEqual(before);
    rmSync(pages);
    expect((await bench.build()).status).toBe(0);
    expect(bench.findDamage()).toEqual([]);
    expect(bench.findUntold()).toEqual([]);
    const [unsafe] = readUnsafe(undefined);
    expect(readFileSync(path.join(bench.out, 'safety', 'index.html'), 'utf8')).toContain(unsafe?.host ?? expect.fail());
    const { previous } = JSON.parse(readFileSync(path.join(bench.out, generationPath.current), 'utf8'));
    const { packages } = JSON.parse(readFileSync(path.join(bench.out, generationPath.changes(previous + 1)), 'utf8'));
    expect(packages).toHaveLength(2);
  });

  it('C12: does not say that what was published before stands where some of it does not any more', () => {
    const full = Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'link' });
    for (const cause of [full, new Error('anything')]) {
      const { message } = toCommandFailure(new PartlyPublished('in words', { cause }));
      expect(message).toContain('Documents and search are of this build already');
      expect(message).not.toContain('still stands');
    }
  });
});

describe('word to the operator', () => {
  it('C4: of a build that failed and of what is held back comes once, and a receiver that is away fails no build', async () => {
    const received: string[] = [];
    const others = new Set(process.listeners('SIGINT'));
    const receiver = createServer(async (request, response) => {
      let text = '';
      for await (const piece of request) text += piece;
      received.push(text);
      // The word to stop comes when everything was visited, and there is nothing left to stop: it ends as ever.
      const own = received.length > 1 ? [] : process.listeners('SIGINT').filter((each) => !others.has(each));
      for (const listener of own) listener('SIGINT');
      response.end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const notify = `DEBDEX_NOTIFY=discord:http://127.0.0.1:${(receiver.address() as AddressInfo).port}/ `;
    try {
      bench.list(entriesOf('one'));
      await serve('one', 9);
      expect(await bench.build('DEBDEX_NOTIFY=ftp://x ')).toMatchObject({ status: 2 });
      expect((await bench.build(notify)).status).toBe(0);
      expect(received).toEqual([]);
      await serve('one', 2);
      expect((await bench.build(notify)).status).toBe(3);
      expect((await bench.build(notify)).status).toBe(3);
      expect(received.map((text) => JSON.parse(text).content)).toEqual([
        expect.stringContaining('one has something that waits for your word'),
      ]);
      renameSync(bench.out, `${bench.out}.away`);
      writeFileSync(bench.out, 'no folder');
      expect((await bench.build(notify)).status).toBe(6);
      expect((await bench.build(notify)).status).toBe(6);
      rmSync(bench.out);
      renameSync(`${bench.out}.away`, bench.out);
      expect(received).toHaveLength(2);
      expect(JSON.parse(received[1] ?? '').content).toContain('The build failed');
      const away = await bench.build('DEBDEX_NOTIFY=http://127.0.0.1:1/secret ');
      expect(away).toMatchObject({ status: 3 });
      await bench.build('DEBDEX_NOTIFY=http://127.0.0.1:1/secret ');
      const succeeding = await bench.build('DEBDEX_NOTIFY=http://127.0.0.1:1/secret ');
      rmSync(bench.out, { recursive: true });
      writeFileSync(bench.out, 'no folder');
      const failing = await bench.build('DEBDEX_NOTIFY=http://127.0.0.1:1/secret ');
      expect([succeeding.status, failing.status]).toEqual([3, 6]);
      for (const { text } of [succeeding, failing]) {
        expect(text.match(/127\.0\.0\.1:1, could not be told/g)).toHaveLength(1);
        expect(text).not.toContain('/secret');
      }
    } finally {
      receiver.closeAllConnections();
      receiver.close();
    }
  });
});

describe('an output folder', () => {
  it('C12: is published from one state folder, and from another only on a word', async () => {
    bench.list(entriesOf('one'));
    await serve('one');
    await bench.build();
    const before = bench.read();
    const { state } = bench;
    bench.state = path.join(bench.folder, 'other');
    bench.list(entriesOf('two'));
    await serve('two');
    expect(await bench.build()).toMatchObject({ status: 4, text: expect.stringContaining('--take-over') });
    expect(bench.read()).toEqual(before);
    expect(await accept('--take-over', bench.out)).toBe(0);
    expect(await accept('--take-over', bench.out)).toBe(1);
    expect((await bench.build()).status).toBe(0);
    bench.state = state;
    expect((await bench.build()).status).toBe(4);
  });

  it('C12: is free for what the manifest names after a build of the sample that ended before it published', async () => {
    const rehearsed = await runScript('build', [...bench.flags, '--sample', '--no-site', '--dry-run']);
    expect(rehearsed).toMatchObject({ status: 2, error: expect.stringContaining('leave out --dry-run') });
    expect(existsSync(bench.out)).toBe(false);
    expect((await runScript('build', [...bench.flags, '--sample', '--no-site', '--only', 'nope'])).status).toBe(2);
    expect(existsSync(path.join(bench.out, 'sample'))).toBe(true);
    bench.list(entriesOf('one'));
    await serve('one');
    expect((await bench.build('DEBDEX_DRY_RUN=1 ')).status).toBe(0);
    expect(existsSync(path.join(bench.out, 'sample'))).toBe(true);
    expect((await bench.build()).status).toBe(0);
    expect(existsSync(path.join(bench.out, 'sample'))).toBe(false);
  });
});

describe('npm start', () => {
  it('C12, P1: serves what was published before where no repository can be reached, and never the sample in its place, though the process of the pages has begun', async () => {
    bench.list(entriesOf('one'));
    await serve('one');
    expect((await bench.build()).status).toBe(0);
    for (const name of readdirSync(bench.state)) {
      if (name !== 'identifier') rmSync(path.join(bench.state, name), { recursive: true });
    }
    await listUnreachable();
    const before = bench.read();
    // With pages, of whose process nothing keeps the build from ending.
    const { text, address } = await start();
    expect(text).toContain('Serving what was published before');
    expect((await fetch(`${address}/v2/jailbreak/package/com.example.one1`)).status).toBe(200);
    expect((await fetch(`${address}/.debdex/owner.json`)).status).toBe(404);
    expect(bench.read()).toEqual(before);
    expect(existsSync(path.join(bench.out, 'sample'))).toBe(false);
  });

  it('C12: ends with the exit code of a build that failed, and serves nothing', async () => {
    bench.list(entriesOf('one'));
    await serve('one');
    const end = async () => {
      const flags = [...bench.flags, '--no-site', '--port', '0'];
      const { status, text } = await runScript('start', flags, { environment: benchClock });
      return [status, text];
    };
    const withCode = (code: number) => [
      code,
      expect.stringContaining(`ended with exit code ${code}; there is nothing new to serve`),
    ];
    writeFileSync(bench.out, 'no folder');
    expect(await end()).toEqual(withCode(6));
    // What needs the operator's word, with nothing that stands from before.
    rmSync(bench.out);
    mkdirSync(bench.out);
    writeFileSync(path.join(bench.out, 'of somebody'), '');
    expect(await end()).toEqual(withCode(4));
  });

  it('C4: serves what was published before while something waits for a word', async () => {
    bench.list(entriesOf('one'));
    await serve('one', 9);
    expect((await bench.build()).status).toBe(0);
    await serve('one', 2);
    // In this process, where it ends when it would serve.
    const { status, text } = await runScript('start', [...bench.flags, '--no-site', '--port', '0'], {
      environment: { ...benchClock, DEBDEX_FAIL_ON_STALE: '100%', GATEWAY_CALLBACKS: 'app: loopback' },
    });
    const lastBuild = readLastBuild(bench.state);
    expect(lastBuild && computeExitCode({ lastBuild }, '100%')).toBe(4);
    expect([status, text]).toEqual([2, expect.stringContaining('GATEWAY_CALLBACKS allows http callbacks')]);
  });

  /** Has the process of the build run this instead; resolves to how the start ended. */
  const startInstead = (program: string) => {
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(program)}`;
    return runScript('start', [...bench.flags, '--no-site', '--port', '0'], { environment: { NODE_OPTIONS } });
  };

  it('C12: serves nothing after a build that the system has ended, as where memory is short', async () => {
    const before = process.listeners('SIGTERM');
    expect(await startInstead("process.kill(process.pid, 'SIGKILL')")).toMatchObject({
      status: 128,
      error: expect.stringContaining('ended with exit code 128; there is nothing new to serve'),
    });
    // A signal that comes later is not for the build.
    expect(process.listeners('SIGTERM')).toEqual(before);
  });

  it('gives the build its own limits of memory, and passes SIGINT on to it where no terminal does', async () => {
    const [flags, heard] = [path.join(bench.folder, 'flags'), path.join(bench.folder, 'heard')];
    const others = new Set(process.listeners('SIGINT'));
    const ended = startInstead(`
      import { writeFileSync } from 'node:fs';
      process.on('SIGINT', () => writeFileSync(${JSON.stringify(heard)}, ''));
      process.on('SIGTERM', () => process.exit(143));
      writeFileSync(${JSON.stringify(flags)}, process.execArgv.join(' '));
      await new Promise(() => setInterval(() => {}, 1000));`);
    try {
      await expect.poll(() => existsSync(flags) && readFileSync(flags, 'utf8')).toContain(memoryFlags.build.join(' '));
      for (const listener of process.listeners('SIGINT')) if (!others.has(listener)) listener('SIGINT');
      await expect.poll(() => existsSync(heard)).toBe(true);
    } finally {
      for (const listener of process.listeners('SIGINT')) if (!others.has(listener)) listener('SIGTERM');
    }
    expect((await ended).status).toBe(143);
  });

  it('C12: passes a signal on to the build, which publishes what it has with links to the port that was to serve it, and ends likewise', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as AddressInfo;
    free.close();
    bench.list(entriesOf('one', 'silent'));
    await serve('one');
    origin.break('/silent/Release', { kind: 'silent' });
    origin.break('/silent/InRelease', { kind: 'silent' });
    const usual = ['--base-url', 'http://localhost:8080', '--no-site'];
    const command = [path.join(scripts, 'start.ts'), ...bench.flags, ...usual, '--port', String(port)];
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] });
    started = child;
    let said = '';
    child.stderr.on('data', (piece) => {
      said += piece;
    });
    const closed = once(child, 'close');
    const isAsked = (slug: string) => origin.requests.some(({ path: asked }) => asked.startsWith(`/${slug}/`));
    await expect.poll(() => isAsked('silent')).toBe(true);
    await expect.poll(() => openStore(bench.state).read('one')).toMatchObject({ packages: { stanzas: 3 } });
    child.kill('SIGTERM');
    expect((await closed)[0]).toBe(143);
    expect(said).not.toContain('ended with exit code');
    const published = readFileSync(path.join(bench.out, documentPath.repository('one')), 'utf8');
    expect(published).toContain(`"http://localhost:${port}/`);
  });

  it('builds the sample where nothing was ever published, and again at the next start', async () => {
    await listUnreachable();
    // In this process, where it ends when it would serve.
    const { status, text } = await runScript('start', [...bench.flags, '--no-site', '--port', '0'], {
      environment: { ...benchClock, GATEWAY_CALLBACKS: 'app: loopback' },
    });
    expect(text).toContain('bundled sample');
    expect([status, text]).toEqual([2, expect.stringContaining('GATEWAY_CALLBACKS allows http callbacks')]);
    expect(existsSync(path.join(bench.out, documentPath.repository('papercut')))).toBe(true);
    // What the next start asks and runs, in this process. The build of the sample forgot what it does not name.
    await listUnreachable();
    expect((await bench.build()).status).toBe(5);
    expect(holdsPublication(bench.out)).toBe(false);
    expect((await bench.build('DEBDEX_SAMPLE=1 ')).status).toBe(0);
    await serve('one');
    bench.list(entriesOf('one'));
    expect((await bench.build()).status).toBe(0);
    expect(readFileSync(path.join(bench.out, '.debdex', 'owner.json'), 'utf8')).toContain('manifest');
    expect(existsSync(path.join(bench.out, 'sample'))).toBe(false);
  });
});
