import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { generationPath, portionsFolder } from '../../src/contract/generation.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { takeOutput } from '../../src/publication/owner.ts';
import { temporaryFolder } from '../support/folder.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { begin, cut, origin, read, take, useMirroredPublications } from '../support/mirrored-publication.ts';
import { sha256 } from '../support/publication.ts';

useMirroredPublications();

describe('a mirror', () => {
  it('P2: takes a catalog of several frames of any length, and none of which one is missing', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': 'a'.repeat(100_000) });
    const { path: catalog } = publication.current.catalog;
    const plain = zstdDecompressSync(readFileSync(path.join(publication.out, catalog)));
    const frames = [plain.subarray(0, 70_001), plain.subarray(70_001)].map((piece) => zstdCompressSync(piece));
    origin.intercept = (file) => (file === catalog ? frames[0] : undefined);
    await expect(take(folder)).rejects.toThrow();
    origin.intercept = (file) => (file === catalog ? Buffer.concat(frames) : undefined);
    await take(folder);
    expect(readFileSync(path.join(folder, catalog)).equals(Buffer.concat(frames))).toBe(true);
  });

  it('P2: takes everything once, then what the change lists name and no more', async () => {
    const { publication, folder } = begin();
    const files = { 'index.html': 'i', 'v2/a.json': '1', 'v2/b.json': '1', 'v2/c d/é😀.json': '1' };
    await publication.publish(files);
    expect(await take(folder)).toMatchObject({ by: 'inventory', fetched: 4, removed: 0 });
    expect(read(folder)).toEqual(files);
    expect(await take(folder)).toMatchObject({ by: 'none', fetched: 0 });
    expect(origin.asked[0]).toBe(generationPath.current);
    expect(origin.asked.slice(1).every((file) => file.endsWith('.jws'))).toBe(true);
    await publication.publish({ ...files, 'v2/a.json': '2' });
    const { 'v2/b.json': _, ...rest } = { ...files, 'v2/a.json': '3', 'v2/new.json': '1' };
    await publication.publish(rest);
    expect(await take(folder)).toMatchObject({ by: 'changes', fetched: 2, removed: 1, generation: { number: 3 } });
    expect(read(folder)).toEqual(rest);
    expect(origin.asked.filter((file) => file in files || file in rest).sort()).toEqual(['v2/a.json', 'v2/new.json']);
    for (const name of [generationPath.current, publication.current.catalog.path, publication.current.changes]) {
      expect(readFileSync(path.join(folder, name)).equals(readFileSync(path.join(publication.out, name)))).toBe(true);
    }
  });

  it('P2: goes by the lists over what came and went, or went and came back, in between', async () => {
    const { publication, folder } = begin();
    const stays = { 'v2/a.json': 'a', 'v2/b.json': 'b' };
    await publication.publish({ ...stays, 'v2/back.json': '1' });
    await take(folder);
    await publication.publish({ ...stays, 'v2/short.json': '1' });
    const last = { ...stays, 'v2/back.json': '2' };
    await publication.publish(last);
    expect(await take(folder)).toMatchObject({ by: 'changes', fetched: 1, generation: { number: 3 } });
    expect(read(folder)).toEqual(last);
  });

  it('waits for a server that still answers what it held before the generation, longer each time', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '1' });
    await take(folder);
    await publication.publish({ 'v2/a.json': '2', 'v2/b.json': '1' });
    origin.intercept = (file) => (file === 'v2/a.json' ? Buffer.from('1') : undefined);
    let pauses: number[] = [];
    const pause = async (milliseconds: number): Promise<void> => {
      pauses.push(milliseconds);
    };
    const untilFresh = async (milliseconds: number): Promise<void> => {
      await pause(milliseconds);
      if (pauses.length === 4) origin.intercept = undefined;
    };
    expect(await take(folder, { pause: untilFresh })).toMatchObject({ by: 'changes', generation: { number: 2 } });
    expect(pauses).toEqual([50, 100, 200, 400]);
    expect(read(folder)).toEqual({ 'v2/a.json': '2', 'v2/b.json': '1' });
    pauses = [];
    expect(await take(folder, { pause })).toMatchObject({ by: 'none' });
    expect(pauses).toEqual([]);
    await publication.publish({ 'v2/a.json': '3', 'v2/b.json': '1' });
    origin.intercept = (file) => (file === 'v2/a.json' ? Buffer.from('1') : undefined);
    const told: string[] = [];
    const onRetry = (reason: string) => told.push(reason);
    await expect(take(folder, { pause, onRetry })).rejects.toThrow('10 tries');
    // From the fourth on; until then any generation may look so for a moment.
    expect(told).toEqual(Array.from({ length: 6 }, () => expect.stringContaining('v2/a.json has other bytes')));
    expect(pauses).toEqual([50, 100, 200, 400, 800, 1600, 2000, 2000, 2000]);
  });

  it('P2: asks again for what fails in passing, and keeps what it has taken meanwhile', async () => {
    const { publication, folder } = begin();
    const files = ['a', 'b', 'c', 'd'].map((name) => `v2/${name}.json`);
    const publish = (content: string) => publication.publish(Object.fromEntries(files.map((file) => [file, content])));
    await publish('1');
    await take(folder);
    await publish('2');
    const failed = new Set<string>();
    const answers: Record<string, (response: ServerResponse) => unknown> = {
      'v2/b.json': (response) => response.destroy(),
      'v2/c.json': (response) => response.writeHead(503, { 'retry-after': '7' }).end(),
      'v2/d.json': cut('v2/d.json'),
    };
    answers[publication.current.catalog.path] = cut(publication.current.catalog.path);
    origin.intercept = (file) => {
      const answer = failed.has(file) ? undefined : answers[file];
      failed.add(file);
      return answer && ((response) => void answer(response));
    };
    const pauses: number[] = [];
    const left: number[] = [];
    const pause = async (milliseconds: number) => {
      pauses.push(milliseconds);
      const staged = readdirSync(path.join(folder, '.staging'), { recursive: true, withFileTypes: true });
      left.push(staged.filter((one) => one.isFile()).length);
    };
    expect(await take(folder, { pause, concurrency: 1 })).toMatchObject({ by: 'changes', fetched: 4 });
    // Nothing of what failed keeps the disk full: before each pause there is what was taken, and the inventory.
    expect(left).toEqual([2, 3, 4, 5]);
    expect(origin.asked.filter((file) => file === 'v2/a.json')).toHaveLength(1);
    expect(pauses).toHaveLength(4);
    expect(Math.max(...pauses)).toBeGreaterThan(6000);
    expect(read(folder)).toEqual(publication.files());
    // Nobody waits for an hour, nor asks on and on.
    for (const [answer, times] of [
      [(response: ServerResponse) => response.writeHead(503, { 'retry-after': '3600' }).end(), 1],
      [(response: ServerResponse) => response.writeHead(502).end(), 6],
      [(response: ServerResponse) => response.writeHead(400).end(), 1],
    ] as const) {
      await publish(`${times} ${answer}`);
      origin.intercept = (file) => (file === 'v2/b.json' ? (response) => void answer(response) : undefined);
      await expect(take(folder)).rejects.toThrow(/v2\/b\.json answered/);
      expect(origin.asked.filter((file) => file === 'v2/b.json')).toHaveLength(times);
    }
  });

  it('P2: asks again what is in force where that fails in passing, and says what it was answered at last', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': 'a' });
    const current = generationPath.current;
    const answers = [
      (response: ServerResponse) => response.destroy(),
      (response: ServerResponse) => response.writeHead(503, { 'retry-after': '7' }).end(),
    ];
    origin.intercept = (file) => {
      const answer = file === current ? answers.shift() : undefined;
      return answer && ((response) => void answer(response));
    };
    const pauses: number[] = [];
    const pause = async (milliseconds: number) => pauses.push(milliseconds);
    expect(await take(folder, { pause })).toMatchObject({ fetched: 1 });
    expect(pauses).toHaveLength(2);
    expect(pauses[1]).toBeGreaterThan(6000);
    origin.intercept = (file) => (file === current ? (response) => void response.writeHead(502).end() : undefined);
    await expect(take(folder, { pause })).rejects.toThrow(/v2\/generation\.json answered 502/);
    expect(read(folder)).toEqual(publication.files());
  });

  it('P2: asks again for a change list that fails in passing', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1' });
    await take(folder);
    await publication.publish({ 'v2/a.json': '2' });
    await publication.publish({ 'v2/a.json': '3' });
    const failed = new Set<string>();
    origin.intercept = (file) => {
      if (!file.startsWith('v2/changes/') || failed.has(file)) return undefined;
      failed.add(file);
      return (response) => void response.writeHead(503).end();
    };
    expect(await take(folder)).toMatchObject({ by: 'changes', fetched: 1 });
    expect([...failed].sort()).toEqual([1, 2, 3].map(generationPath.changes));
  });

  it.each([generationPath.current, 'v2/a.json', 'catalog', 'changes'])(
    'P2: names %s where it is cut',
    async (which) => {
      const { publication, folder } = begin();
      await publication.publish({ 'v2/a.json': 'a' });
      const { catalog, changes } = publication.current;
      const cutFile = which === 'catalog' ? catalog.path : which === 'changes' ? changes : which;
      origin.intercept = (file) => (file === cutFile ? cut(file) : undefined);
      await expect(take(folder)).rejects.toThrow(`${cutFile}: other side closed`);
    },
  );

  it('P2: of a bucket that nobody may list, which says 403 of what is not there', async () => {
    const { publication, folder } = begin();
    const absent = (file: string) => !existsSync(path.join(publication.out, file));
    const bucket = (file: string) =>
      absent(file) ? (response: ServerResponse) => void response.writeHead(403).end() : undefined;
    for (const content of ['1', '2', '3']) {
      await publication.publish({ 'v2/a.json': content });
      if (content === '2') rmSync(path.join(publication.out, publication.current.changes));
      origin.intercept = bucket;
      expect(await take(folder)).toMatchObject({ by: content === '3' ? 'changes' : 'inventory' });
      expect(read(folder)).toEqual({ 'v2/a.json': content });
    }
    origin.intercept = (file) => (file === generationPath.current ? bucket('none') : undefined);
    await expect(take(folder)).rejects.toThrow('403 for v2/generation.json');
  });

  it('P2: of a mirror is the same again', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1' });
    await take(folder);
    await publication.publish({ 'v2/a.json': '2' });
    await take(folder);
    origin.folder = folder;
    const second = path.join(temporaryFolder(), 'second');
    await take(second);
    expect(read(second)).toEqual({ 'v2/a.json': '2' });
  });

  it('P2: of which the change lists lead no more from what it has goes by the inventory', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '1' });
    await take(folder);
    await publication.publish({ 'v2/a.json': '2', 'v2/b.json': '1' });
    await publication.publish({ 'v2/a.json': '3', 'v2/c.json': '1' });
    rmSync(path.join(publication.out, generationPath.changes(2)));
    expect(await take(folder)).toMatchObject({ by: 'inventory', fetched: 2, removed: 1 });
    expect(read(folder)).toEqual({ 'v2/a.json': '3', 'v2/c.json': '1' });
    rmSync(path.join(publication.state, 'publication'), { recursive: true });
    await publication.publish({ 'v2/a.json': '4', 'v2/c.json': '1' });
    expect(publication.current.previous).toBeNull();
    expect(await take(folder)).toMatchObject({ by: 'inventory', fetched: 1 });
    expect(read(folder)).toEqual({ 'v2/a.json': '4', 'v2/c.json': '1' });
  });

  it('P2: of a publication that was restored and gives numbers anew keeps no list of what that has forgotten', async () => {
    for (const further of [0, 1]) {
      const { publication, folder } = begin();
      const lists = (of: string) => readdirSync(path.join(of, 'v2/changes')).sort();
      await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '1' });
      const backup = temporaryFolder();
      cpSync(publication.folder, backup, { recursive: true });
      for (const content of ['2', '3']) {
        await take(folder);
        await publication.publish({ 'v2/a.json': content, 'v2/b.json': '1' });
      }
      await take(folder);
      expect(lists(folder)).toEqual(['1.json', '2.json', '3.json']);
      rmSync(publication.folder, { recursive: true });
      cpSync(backup, publication.folder, { recursive: true });
      for (const content of ['4', '5', '6'].slice(0, 2 + further)) {
        await publication.publish({ 'v2/a.json': '1', 'v2/b.json': content }, { isTouched: undefined });
      }
      expect(await take(folder)).toMatchObject({ by: 'inventory' });
      expect(read(folder)).toEqual(publication.files());
      expect(lists(folder)).toEqual(lists(publication.out));
      for (const list of lists(folder)) {
        expect(readFileSync(path.join(folder, 'v2/changes', list), 'utf8')).toBe(
          publication.read(`v2/changes/${list}`),
        );
      }
    }
  });

  it('leaves alone a folder that holds what no mirror put there, or that builds publish into', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1' });
    mkdirSync(path.join(folder, 'lost+found'), { recursive: true });
    writeFileSync(path.join(folder, 'notes.txt'), 'mine');
    await expect(take(folder)).rejects.toThrow(/holds something, and no publication: nothing was taken/);
    expect(readdirSync(folder).sort()).toEqual(['lost+found', 'notes.txt']);
    rmSync(path.join(folder, 'notes.txt'));
    await take(folder);
    expect(readFileSync(path.join(folder, 'v2/a.json'), 'utf8')).toBe('1');
    const built = temporaryFolder();
    const { claim, release } = takeOutput(built, temporaryFolder(), 'manifest');
    claim();
    release();
    await expect(take(built)).rejects.toThrow(/is the output folder of builds/);
  });

  it('H7: asks for no more files of a generation of which one has other bytes', async () => {
    const { publication, folder } = begin();
    const files = (text: string) =>
      Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`v2/${String(index).padStart(2, '0')}.json`, text]));
    await publication.publish(files('1'));
    await take(folder);
    await publication.publish(files('2'));
    origin.intercept = (file) => (file === 'v2/00.json' ? Buffer.from('3') : undefined);
    await expect(take(folder, { concurrency: 4 })).rejects.toThrow(/holds other files than it says/);
    // What is begun until the first is known to be another.
    expect(origin.asked.filter((file) => /^v2\/\d\d\.json$/.test(file)).length).toBeLessThan(10 * 12);
    origin.intercept = undefined;
    await take(folder);
    expect(read(folder)).toEqual(files('2'));
  });

  it('P2: that lost what it knew takes only what it does not have', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '1' });
    await take(folder);
    rmSync(path.join(folder, generationPath.current));
    writeFileSync(path.join(folder, 'v2/b.json'), 'damaged');
    expect(await take(folder)).toMatchObject({ by: 'inventory', fetched: 1 });
    expect(read(folder)).toEqual({ 'v2/a.json': '1', 'v2/b.json': '1' });
  });

  const rounds = fc.array(
    fc.record({
      files: fc
        .dictionary(
          fc.constantFrom('v2/a.json', 'v2/b.json', 'v2/c/d.json', 'index.html'),
          fc.constantFrom('1', '2', '3'),
        )
        .filter((files) => Object.keys(files).length > 0),
      isTaken: fc.boolean(),
    }),
    { minLength: 2, maxLength: 6 },
  );
  const numRuns = timesFrom('DEBDEX_TEST_HISTORIES', 15);
  it(
    'P2: holds after each step of any history what is published, and nothing else',
    async () => {
      await fc.assert(
        fc.asyncProperty(rounds, async (history) => {
          const { publication, folder } = begin();
          for (const { files, isTaken } of history) {
            await publication.publish(files);
            if (!isTaken) continue;
            await take(folder);
            expect(read(folder)).toEqual(files);
          }
          await take(folder);
          expect(read(folder)).toEqual(history.at(-1)?.files);
        }),
        { numRuns },
      );
    },
    90_000 + numRuns * 3_000,
  );

  it('P1: that lost its inventory, and has readers, puts nothing in place before what it names', async () => {
    const { publication, folder } = begin();
    const files = { 'v2/a-list.json': '1', 'v2/b.json': '1', 'v2/index.json': '1', 'v2/z.json': '1' };
    await publication.publish(files);
    await take(folder);
    rmSync(path.join(folder, publication.current.documents.inventory));
    const next = { ...files, 'v2/a-list.json': '2', 'v2/c.json': '2', 'v2/index.json': '2', 'v2/z.json': '2' };
    await publication.publish(next);
    const placed: string[] = [];
    const place = OutputFolder.prototype.place;
    const spy = vi.spyOn(OutputFolder.prototype, 'place').mockImplementation(function (this: OutputFolder, from, to) {
      placed.push(to);
      place.call(this, from, to);
    });
    expect(await take(folder, { concurrency: 1 })).toMatchObject({ by: 'inventory', fetched: 4 });
    spy.mockRestore();
    expect(placed.filter((file) => file in next)).toEqual([
      'v2/c.json',
      'v2/a-list.json',
      'v2/z.json',
      'v2/index.json',
    ]);
    expect(read(folder)).toEqual(next);
  });

  it('E2: keeps the portions of the generation before, which somebody may be taking, and none that are older', async () => {
    const { publication, folder } = begin();
    const still = { 'v2/portions/still.portion': 'still' };
    const portionsOf = (number: number) => ({
      [`v2/portions/${number}.json`]: String(number),
      [`v2/portions/${number}.portion`]: String(number),
    });
    const standing = () => readdirSync(path.join(folder, portionsFolder)).map((name) => `${portionsFolder}/${name}`);
    const named = (...numbers: number[]) =>
      [still, ...numbers.map(portionsOf)].flatMap((files) => Object.keys(files)).sort();
    for (const number of [1, 2, 3]) {
      await publication.publish({ 'v2/a.json': String(number), ...still, ...portionsOf(number) });
      await take(folder);
      expect(standing().sort()).toEqual(named(...[number - 1, number].filter((one) => one > 0)));
    }
    // Killed before the fourth is in force: the third is still that which is taken.
    await publication.publish({ 'v2/a.json': '4', ...still, ...portionsOf(4) });
    const place = OutputFolder.prototype.place;
    const kill = vi.spyOn(OutputFolder.prototype, 'place').mockImplementation(function (this: OutputFolder, from, to) {
      if (to === 'v2/a.json') throw new Error('killed');
      place.call(this, from, to);
    });
    await expect(take(folder)).rejects.toThrow('killed');
    kill.mockRestore();
    await take(folder);
    expect(standing().sort()).toEqual(named(3, 4));
  });

  it('C9: removes nothing outside, whatever an inventory in the folder names', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1' });
    await take(folder);
    const outside = path.join(path.dirname(folder), 'outside');
    writeFileSync(outside, '');
    const text = `${'1'.repeat(64)}  ../outside\n`;
    writeFileSync(path.join(folder, generationPath.inventory(sha256(text))), zstdCompressSync(text));
    await publication.publish({ 'v2/a.json': '2' });
    await take(folder);
    expect(existsSync(outside)).toBe(true);
  });

  it('P2: of a publication that lost its change list has the files all the same', async () => {
    const { publication, folder } = begin();
    for (const content of ['1', '2']) {
      await publication.publish({ 'v2/a.json': content });
      rmSync(path.join(publication.out, publication.current.changes));
      expect(await take(folder)).toMatchObject({ by: 'inventory', fetched: 1 });
      expect(read(folder)).toEqual({ 'v2/a.json': content });
    }
  });
});
