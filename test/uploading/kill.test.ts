import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mirror } from '../../src/following/mirror.ts';
import { PublicationSource, SourceError } from '../../src/following/source.ts';
import { createFetcher } from '../../src/net/fetcher.ts';
import { NetworkError } from '../../src/net/network-error.ts';
import { recordName } from '../../src/uploading/record.ts';
import { CuttingProxy } from '../support/cutting-proxy.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { ObjectStoreServer, storeCredentials } from '../support/object-store.ts';
import { type Files, Publication } from '../support/publication.ts';
import { runScript, type ScriptEnd } from '../support/run-script.ts';
import { folderTarget, storeTarget, type UploadTarget } from '../support/uploading.ts';

const kills = timesFrom('DEBDEX_TEST_KILLS', 2);
const script = path.join(import.meta.dirname, '..', '..', 'scripts', 'upload.ts');
const entrance = 'v2/index.json';
const packages = 40;

let folder: string;
let store: ObjectStoreServer;
let proxy: CuttingProxy;
let files: Server;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'debdex-kills-'));
  store = await ObjectStoreServer.start(path.join(folder, 'store'));
  // Connections are cut too, now and then.
  proxy = await CuttingProxy.start(store.port, () => 20_000 + Math.floor(Math.random() * 400_000));
});
afterEach(async () => {
  await proxy.stop();
  await store.stop();
  files?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A landing document that names lists, which name packages; in each round some come, change and go. */
const filesOf = (round: number): Files => {
  const held = Array.from({ length: packages }, (_, index) => index).filter((index) => (index + round) % 5 !== 0);
  const named = (index: number) => `v2/jailbreak/package/p${index}.json`;
  const lists = [0, 1, 2].map((list) => held.filter((index) => index % 3 === list).map(named));
  return {
    [entrance]: JSON.stringify([0, 1, 2].map((list) => `v2/list${list}-${(round + list) % 4}.json`)),
    ...Object.fromEntries(
      lists.map((names, list) => [`v2/list${list}-${(round + list) % 4}.json`, JSON.stringify(names)]),
    ),
    ...Object.fromEntries(held.map((index) => [named(index), JSON.stringify([`of ${index % 7 === 0 ? round : 0}`])])),
  };
};

const flagsOf = (publication: Publication, { options }: UploadTarget): string[] => [
  ...[options.address, '--out', publication.out],
  ...(options.endpoint === undefined ? [] : ['--endpoint', options.endpoint]),
];

/** Uploads in this process: the start of another is most of what that costs. */
const upload = async (publication: Publication, target: UploadTarget): Promise<ScriptEnd> =>
  runScript('upload', flagsOf(publication, target), { environment: storeCredentials });

/** Starts an upload as a process, to be killed, and resolves when it has noted at its destination that it is at work. */
const start = async (publication: Publication, target: UploadTarget): Promise<ChildProcess> => {
  const before = target.read(recordName)?.toString();
  const child = spawn(process.execPath, [script, ...flagsOf(publication, target)], {
    env: { ...process.env, ...storeCredentials },
    stdio: 'ignore',
  });
  while (child.exitCode === null && target.read(recordName)?.toString() === before) await sleep(5);
  return child;
};

type Read = (name: string) => Promise<string | undefined>;

/** Follows what is named from the entrance, as long as `isDone` says; returns what led nowhere. */
const follow = async (read: Read, isDone: () => boolean) => {
  const broken: string[] = [];
  let walks = 0;
  while (!isDone()) {
    const landing = await read(entrance);
    for (const list of landing === undefined ? [] : (JSON.parse(landing) as string[])) {
      const text = await read(list);
      if (text === undefined) broken.push(`${entrance} names ${list}`);
      const names = text === undefined ? [] : (JSON.parse(text) as string[]);
      const name = names[Math.floor(Math.random() * names.length)];
      if (name !== undefined && (await read(name)) === undefined) broken.push(`${list} names ${name}`);
    }
    walks++;
    // Leaves the uploads most of the processor; so does the mirror.
    await sleep(250);
  }
  return { broken, walks };
};

/** Takes a mirror again and again: what is taken must be one of these generations, whole. */
const mirrorOn = async (base: string, generations: readonly Files[], isDone: () => boolean) => {
  const fetcher = createFetcher({ allowPrivateNetworks: true });
  const source = new PublicationSource(base, fetcher);
  let [taken, refused] = [0, 0];
  for (let turn = 0; !isDone(); turn++) {
    const copy = path.join(folder, `mirror-${turn % 3 === 0 ? turn : 'kept'}`);
    try {
      const { generation } = await mirror({ source, folder: copy });
      expect(Publication.filesIn(copy)).toMatchObject(generations[generation.number - 1] ?? {});
      taken++;
    } catch (error) {
      // While it is replaced, or lies there half-replaced, then a mirror keeps what it has. The store of the tests may send
      // less of an object that is replaced meanwhile than it said.
      if (!(error instanceof SourceError) && !(error instanceof NetworkError)) throw error;
      refused++;
    }
    await sleep(1000);
  }
  await fetcher.close();
  return { taken, refused };
};

const serveFolder = async (served: string): Promise<string> => {
  const target = folderTarget(served);
  files = createServer((request, response) => {
    const bytes = target.read(decodeURIComponent(request.url ?? '').slice(1));
    // One that is kept may be closed by this end while the other asks again: this process is busy with its readers.
    const headers = { 'content-length': bytes?.length ?? 0, connection: 'close' };
    response.writeHead(bytes === undefined ? 404 : 200, headers).end(bytes);
  });
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
};

const places: readonly [string, () => Promise<{ target: UploadTarget; base: string }>][] = [
  [
    'to object storage, over connections that are cut at any byte,',
    async () => ({ target: storeTarget(store, 'site', proxy.endpoint), base: `${store.base}/site` }),
  ],
  [
    'to a folder',
    async () => {
      const to = path.join(folder, 'to');
      return { target: folderTarget(to), base: await serveFolder(to) };
    },
  ],
];

describe.each(places)('an upload %s', (_, place) => {
  it(`P1: killed at any of ${kills} moments leaves its readers nothing that names what is not there, and the next one goes on`, {
    timeout: 120_000 + kills * 30_000,
  }, async () => {
    const { target, base } = await place();
    const publication = new Publication();
    const generations: Files[] = [];
    let isDone = false;
    const publish = async (): Promise<void> => {
      generations.push(filesOf(generations.length));
      await publication.publish(generations.at(-1) ?? {});
    };
    await publish();
    const begun = performance.now();
    expect(await upload(publication, target)).toMatchObject({ status: 0 });
    let whole = performance.now() - begun;
    const read: Read = async (name) => {
      const response = await fetch(`${base}/${name}`);
      const text = await response.text();
      // A server that fails does not say that a thing is not there.
      expect([200, 404], `${name}: ${text}`).toContain(response.status);
      return response.ok ? text : undefined;
    };
    const readers = Promise.all([follow(read, () => isDone), mirrorOn(base, generations, () => isDone)]);
    // Looked at when all is over.
    readers.catch(() => {});
    let hits = 0;
    let kill = 1;
    for (; kill <= kills || (hits * 2 < kills && kill <= 4 * kills); kill++) {
      if (Math.random() < 0.7) await publish();
      const child = await start(publication, target);
      const ended = child.exitCode === null ? once(child, 'exit') : undefined;
      await Promise.race([ended, sleep(whole * Math.random())]);
      if (child.exitCode === null) hits++;
      else whole *= 0.8;
      child.kill('SIGKILL');
      await ended;
      if (kill % 3 !== 0 && kill < kills) continue;
      expect(await upload(publication, target), `after kill ${kill}`).toMatchObject({ status: 0 });
      for (const [name, text] of Object.entries(generations.at(-1) ?? {})) {
        expect(target.read(name)?.toString(), name).toBe(text);
      }
    }
    isDone = true;
    const [{ broken, walks }, { taken, refused }] = await readers;
    expect(broken).toEqual([]);
    process.stdout.write(
      `${hits} of ${kill - 1} kills hit an upload of ${Math.round(whole)} ms; ${walks} walks, ${taken} mirrors taken, ${refused} put off\n`,
    );
    expect(hits).toBeGreaterThan(0);
    expect(walks).toBeGreaterThan(0);
    expect(taken).toBeGreaterThan(0);
  });
});
