import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { zstdCompressSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { LockedError } from '../../src/catalog/lock.ts';
import { catalogFormat } from '../../src/catalog/schema.ts';
import { generationPath } from '../../src/contract/generation.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { PublicationSource } from '../../src/following/source.ts';
import { largestComposed } from '../../src/following/taken-catalog.ts';
import { describeFile, TakenFolder } from '../../src/following/taken-folder.ts';
import { createFetcher } from '../../src/net/fetcher.ts';
import { packages } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';
import { follow, origin, publication, repository, useFollowedPublication } from '../support/followed-publication.ts';
import { generatedRepositories } from '../support/generated.ts';
import { sha256 } from '../support/publication.ts';
import { startReplicaServer } from '../support/replica-server.ts';

useFollowedPublication();

const documentsOf = (files: readonly string[]): string[] =>
  files.filter((file) => file.startsWith('v2/') || /^(?:changes|privacy)\.txt$/.test(file));

describe('a replica', () => {
  it('P2: makes every published document of the catalog, byte for byte, and no other', async () => {
    await publication.publish(generatedRepositories());
    const replica = await follow();
    await replica.poll();
    const files = documentsOf(publication.files());
    expect(files.length).toBeGreaterThan(100);
    for (const file of files) expect(replica.read(file)?.equals(publication.read(file)), file).toBe(true);
    for (const file of ['v2/none.json', 'index.html', 'v2/jailbreak/package/none.json', '', '..']) {
      expect(replica.read(file), file).toBeUndefined();
    }
  });

  it('C7, P2: takes an index in which a stranger has a package whose identifier begins with a byte order mark', async () => {
    const id = '\ufefforg.example.mark';
    await publication.publish([{ slug: 'one', packages: packages({ Package: id }) }]);
    const replica = await follow();
    await replica.poll();
    const file = documentPath.package(id);
    expect(replica.read(file)?.equals(publication.read(file))).toBe(true);
  });

  it('P2: writes what is large once, and keeps what did not change', async () => {
    const small = { ...repository('small'), slug: 'two' };
    await publication.publish([repository('x'.repeat(3000), 200), small]);
    const list = documentPath.repositoryPackages('one');
    expect(publication.read(list).length).toBeGreaterThan(largestComposed);
    const replica = await follow();
    await replica.poll();
    expect(replica.read(list)?.equals(publication.read(list))).toBe(true);
    const [name] = readdirSync(replica.folder.documents);
    await publication.publish([repository('x'.repeat(3000), 200), { ...small, ...repository('other'), slug: 'two' }]);
    await replica.poll();
    expect(replica.number).toBe(2);
    expect(readdirSync(replica.folder.documents)).toEqual([name]);
    await publication.publish([repository('y'.repeat(3000), 200)]);
    await replica.poll();
    expect(replica.read(list)?.equals(publication.read(list))).toBe(true);
    expect(readdirSync(replica.folder.documents)).toHaveLength(1);
    expect(readdirSync(replica.folder.documents)).not.toEqual([name]);
  });

  it('P2: asks for generation.json alone while nothing changed, and with its tag', async () => {
    await publication.publish([repository('1')]);
    const replica = await follow();
    expect(await replica.poll()).toBe(1000);
    origin.asked = [];
    origin.statuses = [];
    for (let time = 0; time < 3; time++) await replica.poll();
    expect(origin.asked).toEqual(Array(3).fill(generationPath.current));
    expect(origin.statuses).toEqual([304, 304, 304]);
    expect(replica.confirmed).toBe(4);
    expect(replica.events.map(({ event }) => event)).toEqual(['generation-taken']);
  });

  it('C6: spreads its questions, so that many replicas do not ask all at once', async () => {
    await publication.publish([repository('1')]);
    for (const [random, pause] of [
      [0, 900],
      [1, 1100],
    ] as const) {
      const replica = await follow(undefined, { random: () => random });
      expect(Math.round(await replica.poll())).toBe(pause);
    }
  });

  it('P2: takes no catalog again where only pages changed', async () => {
    await publication.publish([repository('1')]);
    const replica = await follow();
    await replica.poll();
    writeFileSync(path.join(publication.folder, 'other.html'), 'another page');
    const { catalog } = await publication.publish([repository('1')]);
    origin.asked = [];
    await replica.poll();
    expect(replica.number).toBe(2);
    expect(origin.asked).not.toContain(catalog.path);
  });

  it('P3: starts from what it took, and takes nothing again', async () => {
    await publication.publish([repository('1')]);
    const state = temporaryFolder();
    const first = await follow(state);
    await first.poll();
    first.unlock();
    const second = await follow(state);
    expect(second.number).toBe(1);
    origin.asked = [];
    await second.poll();
    expect(origin.asked).toEqual([generationPath.current]);
    expect(origin.statuses.at(-1)).toBe(304);
  });

  it('P3: names what is no file in the place of its note, takes anew, and writes the note', async () => {
    await publication.publish([repository('1')]);
    const state = temporaryFolder();
    const note = path.join(state, 'replica', 'in-force.json');
    mkdirSync(path.dirname(note));
    // As a pipe would be, which to open waits for ever.
    symlinkSync('/dev/null', note);
    await expect(new TakenFolder(state).read()).rejects.toThrow('no regular file is in the place of the file in-force');
    const replica = await follow(state);
    await replica.poll();
    expect(replica.number).toBe(1);
    expect((await new TakenFolder(state).read())?.generation.number).toBe(1);
  });

  it('P3: takes anew what was damaged on its own disk', async () => {
    await publication.publish([repository('x'.repeat(3000), 200)]);
    const state = temporaryFolder();
    const first = await follow(state);
    await first.poll();
    first.unlock();
    const { sha256: digest } = publication.current.catalog;
    const [large = ''] = readdirSync(first.folder.documents);
    for (const file of [first.folder.catalog(digest, 'sqlite'), path.join(first.folder.documents, large)]) {
      const bytes = readFileSync(file);
      bytes[5000] = (bytes[5000] ?? 0) ^ 1;
      writeFileSync(file, bytes);
      await expect(new TakenFolder(state).read()).rejects.toThrow(/damaged: it is taken anew/);
      bytes[5000] = (bytes[5000] ?? 0) ^ 1;
      // The same bytes at another time are the same.
      writeFileSync(file, bytes);
      expect((await new TakenFolder(state).read())?.generation.number).toBe(1);
    }
    writeFileSync(path.join(first.folder.root, 'in-force.json'), '{');
    await expect(new TakenFolder(state).read()).rejects.toThrow(/damaged/);
    const [plain, compressed] = (['sqlite', 'sqlite.zst'] as const).map((end) => first.folder.catalog(digest, end));
    const flip = (bytes: Buffer) => {
      const middle = bytes.length >> 1;
      return bytes.fill((bytes[middle] ?? 0) ^ 1, middle, middle + 1);
    };
    for (const [file = '', damage] of [
      [plain, flip],
      [plain, (bytes: Buffer) => bytes.subarray(0, 5000)],
      [plain, () => undefined],
      [compressed, flip],
      [compressed, (bytes: Buffer) => bytes.subarray(0, 100)],
      [compressed, () => undefined],
    ] as const) {
      const whole = readFileSync(file);
      const damaged = damage(Buffer.from(whole));
      rmSync(file);
      if (damaged !== undefined) writeFileSync(file, damaged);
      // The catalog that people copy is not looked at before answers are given.
      if (file === compressed) writeFileSync(path.join(first.folder.root, 'in-force.json'), '{');
      const again = await follow(state);
      expect(again.number).toBeUndefined();
      await again.poll();
      expect([again.number, again.reasons]).toEqual([1, ['generation-taken']]);
      expect(readFileSync(file).equals(whole)).toBe(true);
      again.unlock();
    }
  });

  it('P2: takes anew what somebody removed from its disk while it runs, whether something else is published or not', async () => {
    const large = repository('x'.repeat(3000), 200);
    await publication.publish([large]);
    const list = documentPath.repositoryPackages('one');
    const replica = await follow();
    await replica.poll();
    for (const number of [1, 2]) {
      if (number === 2) await publication.publish([large, { ...repository('new'), slug: 'two' }]);
      replica.events.length = 0;
      rmSync(replica.folder.root, { recursive: true });
      for (let time = 0; time < 2; time++) await replica.poll();
      // The same trouble is not told again so soon.
      const told = number === 1 ? [expect.stringMatching(/was removed: it is taken anew/)] : [];
      expect(replica.reasons).toEqual([...told, 'generation-taken']);
      expect((await replica.folder.read())?.generation.number).toBe(number);
      expect(replica.read(list)?.equals(publication.read(list))).toBe(true);
    }
  });

  it('P2: keeps others out again where somebody removed its folder, and leaves alone what another then took', async () => {
    await publication.publish([repository('1')]);
    const state = temporaryFolder();
    const replica = await follow(state);
    await replica.poll();
    rmSync(replica.folder.root, { recursive: true });
    await replica.poll();
    expect(() => new TakenFolder(state).lock()).toThrow(LockedError);
    rmSync(replica.folder.root, { recursive: true });
    const other = await follow(state);
    await other.poll();
    writeFileSync(path.join(other.folder.root, 'staging', 'half'), '');
    await publication.publish([repository('2')]);
    replica.events.length = 0;
    await replica.poll();
    expect(replica.reasons).toEqual([expect.stringMatching(/another replica is using .*Generation 1 of .* stays/)]);
    expect(readdirSync(path.join(other.folder.root, 'staging'))).toEqual(['half']);
    await other.poll();
    expect([replica.number, other.number]).toEqual([1, 2]);
  });

  it('P3: takes anew what an older version of it took, and removes that', async () => {
    await publication.publish([repository('1')]);
    const state = temporaryFolder();
    const older = await follow(state);
    await older.poll();
    older.unlock();
    const { folder } = older;
    // As that left it: whole, under the digest of what it is, of the format before.
    const before = folder.catalog(publication.current.catalog.sha256, 'sqlite');
    const database = new DatabaseSync(before);
    database.exec(`PRAGMA user_version = ${catalogFormat - 1}`);
    database.close();
    const digest = sha256(readFileSync(before));
    renameSync(before, folder.catalog(digest, 'sqlite'));
    renameSync(`${before}.zst`, folder.catalog(digest, 'sqlite.zst'));
    const file = path.join(folder.root, 'in-force.json');
    const note = JSON.parse(readFileSync(file, 'utf8'));
    const generation = JSON.parse(note.text);
    const text = JSON.stringify({ ...generation, catalog: { ...generation.catalog, sha256: digest } });
    const catalog = describeFile(folder.catalog(digest, 'sqlite'), digest);
    writeFileSync(file, JSON.stringify({ ...note, text, catalog }));

    await expect(new TakenFolder(state).read()).rejects.toThrow(/of another version of Debdex: it is taken anew/);
    const replica = await startReplicaServer(origin.address, { state });
    await replica.until(1);
    const asked = documentPath.package('com.example.p0');
    expect(Buffer.from(await (await replica.get(`/${asked}`)).arrayBuffer()).equals(publication.read(asked))).toBe(
      true,
    );
    expect(replica.lines).toContainEqual(
      expect.objectContaining({ event: 'replica-trouble', reason: expect.stringContaining('it is taken anew') }),
    );
    await expect.poll(() => readdirSync(path.dirname(before)).some((name) => name.startsWith(digest))).toBe(false);
  });

  it('P2: takes a catalog of several frames of any length, and none of which one is missing', async () => {
    const content = randomBytes(100_001);
    const frames = [content.subarray(0, 70_001), content.subarray(70_001)].map((plain) => zstdCompressSync(plain));
    const compressed = Buffer.concat(frames);
    const announced = {
      ...{ path: 'v2/catalog/framed', sha256: sha256(content) },
      ...{ size: content.length, compressed_size: compressed.length },
    };
    const fetcher = createFetcher({ allowPrivateNetworks: true });
    const folder = temporaryFolder();
    const take = (sent: Uint8Array, name: string) => {
      origin.intercept = () => (response) => void response.end(sent);
      const into = { compressed: path.join(folder, `${name}.zst`), plain: path.join(folder, name) };
      return new PublicationSource(origin.address, fetcher).takeCatalog(announced, into);
    };
    expect(await take(compressed, 'whole')).toBe(sha256(compressed));
    expect(readFileSync(path.join(folder, 'whole')).equals(content)).toBe(true);
    for (const [name, sent] of [
      ['one missing', frames[0] ?? compressed],
      ['cut', compressed.subarray(0, -1)],
    ] as const)
      await expect(take(sent, name)).rejects.toThrow('cut short');
    await fetcher.close();
  });

  it('P3: takes no more of a catalog where the disk says while it is taken that it could not keep a part', async () => {
    const content = randomBytes(12 * 2 ** 20);
    const compressed = zstdCompressSync(content);
    const announced = {
      ...{ path: 'v2/catalog/large', sha256: sha256(content) },
      ...{ size: content.length, compressed_size: compressed.length },
    };
    origin.intercept = () => (response) => {
      let sent = 0;
      const send = () => {
        if (sent >= compressed.length || response.destroyed) return void response.end();
        const piece = compressed.subarray(sent, sent + 256 * 1024);
        sent += piece.length;
        return void response.write(piece, send);
      };
      send();
    };
    const fetcher = createFetcher({ allowPrivateNetworks: true });
    const folder = temporaryFolder();
    const handle = await open(folder, 'r');
    const prototype = Object.getPrototypeOf(handle);
    await handle.close();
    for (const [method, code] of [
      ['datasync', 'ENOSPC'],
      ['datasync', 'EIO'],
      ['appendFile', 'ENOSPC'],
    ] as const) {
      const into = {
        compressed: path.join(folder, `${method}-${code}.zst`),
        plain: path.join(folder, `${method}-${code}`),
      };
      const failure = Object.assign(new Error('of the test'), { code, syscall: 'write' });
      // Once, as a disk does: all that comes after goes well.
      const flush = vi.spyOn(prototype, method).mockRejectedValueOnce(failure);
      const taking = new PublicationSource(origin.address, fetcher).takeCatalog(announced, into);
      await expect(taking).rejects.toBe(failure);
      flush.mockRestore();
    }
    await fetcher.close();
  });

  it('H10: leaves nothing of former generations and of what was cut', async () => {
    const replica = await follow();
    for (const text of ['1', '2', '3']) {
      await publication.publish([repository(text)]);
      await replica.poll();
    }
    const { sha256: digest } = publication.current.catalog;
    expect(readdirSync(path.join(replica.folder.root, 'catalog')).sort()).toEqual([
      `${digest}.sqlite`,
      `${digest}.sqlite.zst`,
    ]);
    expect(readdirSync(path.join(replica.folder.root, 'staging'))).toEqual([]);
  });

  it('P2: begins again where another generation comes in force while it takes one', async () => {
    await publication.publish([repository('1')]);
    const first = publication.current.catalog.path;
    const replica = await follow();
    const publishing: Promise<unknown>[] = [];
    origin.intercept = (file) => {
      if (file !== first || publishing.length > 0) return undefined;
      return (response) => {
        const body = publication.read(file);
        publishing.push(publication.publish([repository('2')]).then(() => response.end(body)));
      };
    };
    await replica.poll();
    expect(replica.number).toBe(2);
    expect(replica.events).toHaveLength(1);
    // By the tag of what it has taken, and not of what it began with.
    origin.statuses = [];
    await replica.poll();
    expect(origin.statuses).toEqual([304]);
  });

  it('P2: takes what is whole though the publication never stands still', async () => {
    await publication.publish([repository('0')]);
    const replica = await follow();
    let times = 0;
    origin.intercept = (file) => {
      if (!file.startsWith('v2/catalog/')) return undefined;
      return (response) => {
        const body = publication.read(file);
        void publication.publish([repository(`${++times}`)]).then(() => response.end(body));
      };
    };
    await replica.poll();
    expect(times).toBe(3);
    expect(replica.number).toBe(3);
  });
});

it('P3: two replicas do not share one folder', async () => {
  const folder = temporaryFolder();
  const unlock = new TakenFolder(folder).lock();
  expect(() => new TakenFolder(folder).lock()).toThrow(/another replica is using .*: give each replica a --state/);
  unlock();
  const again = new TakenFolder(folder).lock();
  again();
  expect(existsSync(path.join(folder, 'replica'))).toBe(true);
});

it('P2: goes on to the next generation with as many requests and files, and work that grows as the packages do', async () => {
  const counts: { requests: number; files: number; calls: number }[] = [];
  for (const packages of [40, 160]) {
    await publication.publish([repository('before', packages)]);
    const replica = await follow();
    await replica.poll();
    await publication.publish([repository('after', packages)]);
    origin.asked = [];
    const calls = (['run', 'get', 'all', 'iterate'] as const).map((name) => vi.spyOn(StatementSync.prototype, name));
    await replica.poll();
    const called = calls.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    for (const one of calls) one.mockRestore();
    expect(replica.number).toBe(publication.current.number);
    replica.unlock();
    const files = readdirSync(replica.folder.root, { recursive: true }).length;
    counts.push({ requests: origin.asked.length, files, calls: called });
  }
  const [less, more] = counts;
  expect(less?.requests).toBeGreaterThan(0);
  expect(more?.requests).toBe(less?.requests);
  expect(more?.files).toBe(less?.files);
  expect(less?.calls).toBeGreaterThan(0);
  expect((more?.calls ?? Number.NaN) / (less?.calls ?? Number.NaN)).toBeLessThan(4 * 1.1);
});
