import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { changeListSchema, generationPath } from '../../src/contract/generation.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { mirror } from '../../src/following/mirror.ts';
import { PublicationSource } from '../../src/following/source.ts';
import { createFetcher, type Fetcher } from '../../src/net/fetcher.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { takeOutput } from '../../src/publication/owner.ts';
import { isSafePath } from '../../src/publication/published-inventory.ts';
import { createSigner } from '../../src/publication/signature.ts';
import { temporaryFolder } from '../support/folder.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { Publication, privateKey, sha256 } from '../support/publication.ts';

/** A server of files that counts what is asked, and may be made to answer otherwise. */
let server: Server;
let served: Publication;
let asked: string[] = [];
let pauses: number[] = [];
let onPause: (() => void) | undefined;
let intercept: ((file: string) => Buffer | 'cut' | undefined) | undefined;
let fetcher: Fetcher;
let address: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const file = decodeURIComponent((request.url ?? '').slice(1));
    asked.push(file);
    const other = intercept?.(file);
    const target = path.join(served.out, file);
    if (other === undefined && !existsSync(target)) return response.writeHead(404).end();
    const body = Buffer.isBuffer(other) ? other : readFileSync(target);
    response.writeHead(200, { 'content-length': body.length });
    if (other !== 'cut') return response.end(body);
    response.write(body.subarray(0, body.length / 2));
    setImmediate(() => response.destroy());
    return response;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  fetcher = createFetcher({ allowPrivateNetworks: true });
});
afterAll(async () => {
  await fetcher.close();
  server.closeAllConnections();
  server.close();
});

/** Mirrors what is served; returns what came of it and what was asked. */
const take = async (folder: string, { publicKey, ...others }: { publicKey?: string; concurrency?: number } = {}) => {
  asked = [];
  pauses = [];
  const pause = async (milliseconds: number): Promise<void> => {
    pauses.push(milliseconds);
    onPause?.();
  };
  return mirror({ source: new PublicationSource(address, fetcher, publicKey), folder, pause, ...others });
};
const begin = (): { publication: Publication; folder: string } => {
  intercept = undefined;
  onPause = undefined;
  served = new Publication();
  return { publication: served, folder: path.join(temporaryFolder(), 'mirror') };
};
const read = (folder: string) => Publication.filesIn(folder);
/** Kills a mirror before one of its files has its name. */
const killAt = async (folder: string, isLast: (file: string) => boolean): Promise<void> => {
  const place = OutputFolder.prototype.place;
  const kill = vi.spyOn(OutputFolder.prototype, 'place').mockImplementation(function (this: OutputFolder, from, to) {
    if (isLast(to)) throw new Error('killed');
    place.call(this, from, to);
  });
  await expect(take(folder)).rejects.toThrow('killed');
  kill.mockRestore();
};

describe('a mirror', () => {
  it('P2: takes a catalog of several frames of any length, and none of which one is missing', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': 'a'.repeat(100_000) });
    const { path: catalog } = publication.current.catalog;
    const plain = zstdDecompressSync(readFileSync(path.join(publication.out, catalog)));
    const frames = [plain.subarray(0, 70_001), plain.subarray(70_001)].map((piece) => zstdCompressSync(piece));
    intercept = (file) => (file === catalog ? frames[0] : undefined);
    await expect(take(folder)).rejects.toThrow();
    intercept = (file) => (file === catalog ? Buffer.concat(frames) : undefined);
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
    expect(asked[0]).toBe(generationPath.current);
    expect(asked.slice(1).every((file) => file.endsWith('.jws'))).toBe(true);
    await publication.publish({ ...files, 'v2/a.json': '2' });
    const { 'v2/b.json': _, ...rest } = { ...files, 'v2/a.json': '3', 'v2/new.json': '1' };
    await publication.publish(rest);
    expect(await take(folder)).toMatchObject({ by: 'changes', fetched: 2, removed: 1, generation: { number: 3 } });
    expect(read(folder)).toEqual(rest);
    expect(asked.filter((file) => file in files || file in rest).sort()).toEqual(['v2/a.json', 'v2/new.json']);
    for (const name of [generationPath.current, publication.current.catalog.path, publication.current.changes]) {
      expect(readFileSync(path.join(folder, name)).equals(readFileSync(path.join(publication.out, name)))).toBe(true);
    }
  });

  it('waits for a server that still answers what it held before the generation, longer each time', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '1' });
    await take(folder);
    await publication.publish({ 'v2/a.json': '2', 'v2/b.json': '1' });
    intercept = (file) => (file === 'v2/a.json' ? Buffer.from('1') : undefined);
    onPause = () => {
      if (pauses.length === 4) intercept = undefined;
    };
    expect(await take(folder)).toMatchObject({ by: 'changes', generation: { number: 2 } });
    expect(pauses).toEqual([50, 100, 200, 400]);
    expect(read(folder)).toEqual({ 'v2/a.json': '2', 'v2/b.json': '1' });
    expect(await take(folder)).toMatchObject({ by: 'none' });
    expect(pauses).toEqual([]);
    onPause = undefined;
    await publication.publish({ 'v2/a.json': '3', 'v2/b.json': '1' });
    intercept = (file) => (file === 'v2/a.json' ? Buffer.from('1') : undefined);
    await expect(take(folder)).rejects.toThrow('10 tries');
    expect(pauses).toEqual([50, 100, 200, 400, 800, 1600, 2000, 2000, 2000]);
  });

  it('P2: of a mirror is the same again', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1' });
    await take(folder);
    await publication.publish({ 'v2/a.json': '2' });
    await take(folder);
    served = Object.assign(Object.create(Publication.prototype), { out: folder }) as Publication;
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
    intercept = (file) => (file === 'v2/00.json' ? Buffer.from('3') : undefined);
    asked.length = 0;
    await expect(take(folder, { concurrency: 4 })).rejects.toThrow(/holds other files than it says/);
    // All of them as often as a cache may be late, then what is begun until the first is known to be another.
    expect(asked.filter((file) => /^v2\/\d\d\.json$/.test(file)).length).toBeLessThan(5 * 60 + 5 * 12);
    intercept = undefined;
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

  it('P1: begins again where another generation comes in force while it reads, and mixes nothing', async () => {
    const { publication, folder } = begin();
    const last = { 'v2/a.json': '2', 'v2/c.json': '2' };
    await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '1' });
    let isDue = true;
    const publishing: Promise<unknown>[] = [];
    intercept = (file) => {
      if (file === 'v2/b.json' && isDue) {
        isDue = false;
        publishing.push(publication.publish(last));
        rmSync(path.join(publication.out, 'v2/b.json'));
      }
      return undefined;
    };
    await take(folder);
    await Promise.all(publishing);
    await take(folder);
    expect(read(folder)).toEqual(last);
  });

  it('P1: that is superseded, or killed, at any file of its first copy keeps nothing that the generation does not name', async () => {
    const files = { 'index.html': 'i', 'v2/a.json': '1', 'v2/b/c.json': '1', 'v2/b/d.json': '1' };
    const next = { 'index.html': 'i', 'v2/a.json': '2', 'v2/e.json': '1' };
    for (const how of ['superseded', 'killed']) {
      for (const at of Object.keys(files)) {
        const { publication, folder } = begin();
        await publication.publish(files);
        const publishing: Promise<unknown>[] = [];
        intercept = (file) => {
          if (file !== at) return undefined;
          intercept = undefined;
          publishing.push(publication.publish(next));
          return how === 'killed' ? 'cut' : undefined;
        };
        await take(folder, { concurrency: 1 }).catch(() => {});
        await Promise.all(publishing);
        // What belongs to nobody's publication stays.
        writeFileSync(path.join(folder, 'note.txt'), 'by hand');
        await take(folder);
        expect(read(folder), `${how} at ${at}`).toEqual({ ...next, 'note.txt': 'by hand' });
        expect(existsSync(path.join(folder, 'v2/b'))).toBe(false);
      }
    }
  });

  it('P1: killed while it brings a later generation keeps nothing of it that the next does not name', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1' });
    await take(folder);
    await publication.publish({ 'v2/a.json': '2', 'v2/b.json': '2' });
    const write = OutputFolder.prototype.write;
    const kill = vi.spyOn(OutputFolder.prototype, 'write').mockImplementation(function (
      this: OutputFolder,
      file,
      content,
    ) {
      if (file === generationPath.current) throw new Error('killed');
      write.call(this, file, content);
    });
    await expect(take(folder)).rejects.toThrow('killed');
    kill.mockRestore();
    // The publication is built anew from the first, so that no list tells of what was killed.
    const { state, out } = publication;
    rmSync(path.join(state, 'publication'), { recursive: true });
    rmSync(path.join(out, generationPath.changes(2)));
    await publication.publish({ 'v2/a.json': '3' });
    await take(folder);
    expect(read(folder)).toEqual({ 'v2/a.json': '3' });
  });

  it('P2: killed on its way to a generation that its publication took back holds what is published instead', async () => {
    const { publication, folder } = begin();
    const first = { 'v2/a.json': '1', 'v2/b.json': '1', 'v2/c.json': '1' };
    await publication.publish(first);
    await take(folder);
    const backup = temporaryFolder();
    cpSync(publication.folder, backup, { recursive: true });
    await publication.publish({ ...first, 'v2/a.json': '2', 'v2/d.json': '2' });
    await killAt(folder, (file) => file === publication.current.catalog.path);
    expect(read(folder)['v2/a.json']).toBe('2');
    // Restored, it builds another second generation, of which the list says nothing of what was killed.
    rmSync(publication.folder, { recursive: true });
    cpSync(backup, publication.folder, { recursive: true });
    const other = { ...first, 'v2/b.json': '3' };
    await publication.publish(other, { isTouched: undefined });
    writeFileSync(path.join(publication.out, 'v2/a.json'), '1');
    expect(publication.changes(2).documents).toEqual({ written: ['v2/b.json'], removed: [] });
    await take(folder);
    expect(read(folder)).toEqual(other);
    await publication.publish({ ...other, 'v2/c.json': '4' });
    expect(await take(folder)).toMatchObject({ by: 'changes', fetched: 1 });
  });

  it('P2: killed before it has removed what is gone removes it the next time, though nothing was published since', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '1' });
    await take(folder);
    await publication.publish({ 'v2/a.json': '1' });
    const kill = vi.spyOn(OutputFolder.prototype, 'removeEmpty').mockImplementation(() => {
      throw new Error('killed');
    });
    await expect(take(folder)).rejects.toThrow('killed');
    kill.mockRestore();
    writeFileSync(path.join(folder, 'v2/b.json'), '1');
    expect(await take(folder)).toMatchObject({ fetched: 0, removed: 1 });
    expect(read(folder)).toEqual({ 'v2/a.json': '1' });
    expect(await take(folder)).toMatchObject({ by: 'none' });
    expect(existsSync(path.join(folder, '.debdex'))).toBe(false);
  });

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

  it('P2: killed twice in its first copy removes in the end what belongs to no generation', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '1' });
    await killAt(folder, (file) => file === publication.current.catalog.path);
    expect(read(folder)).toHaveProperty('v2/b.json');
    await publication.publish({ 'v2/a.json': '2' });
    const kill = vi.spyOn(OutputFolder.prototype, 'removeEmpty').mockImplementation(() => {
      throw new Error('killed');
    });
    await expect(take(folder)).rejects.toThrow('killed');
    kill.mockRestore();
    writeFileSync(path.join(folder, 'v2/b.json'), '1');
    await take(folder);
    expect(read(folder)).toEqual({ 'v2/a.json': '2' });
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

  it('P1: cut in the middle of any file goes on from what it has', async () => {
    const { publication, folder } = begin();
    const first = { 'v2/a.json': '1'.repeat(999), 'v2/b.json': '2'.repeat(999) };
    const second = { 'v2/a.json': '3'.repeat(999), 'v2/c.json': '2'.repeat(999) };
    await publication.publish(first);
    const names = () => [
      ...[generationPath.current, publication.current.catalog.path, publication.current.documents.inventory],
      ...['v2/a.json', 'v2/b.json', 'v2/c.json', publication.current.changes],
    ];
    for (const file of names()) {
      intercept = (name) => (name === file ? 'cut' : undefined);
      const outcome = await take(folder).catch(() => 'cut');
      // What it took before the cut it does not take again, and then nothing is cut.
      if (outcome === 'cut') expect(existsSync(path.join(folder, generationPath.current)), file).toBe(false);
    }
    intercept = undefined;
    await take(folder);
    expect(read(folder)).toEqual(first);
    await publication.publish(second);
    for (const file of names()) {
      intercept = (name) => (name === file ? 'cut' : undefined);
      const before = readFileSync(path.join(folder, generationPath.current), 'utf8');
      if ((await take(folder).catch(() => 'cut')) === 'cut') {
        expect(readFileSync(path.join(folder, generationPath.current), 'utf8'), file).toBe(before);
      }
    }
    intercept = undefined;
    await take(folder);
    expect(read(folder)).toEqual(second);
  });
});

describe('P3: a mirror goes on with what it has and says why, where the publication', () => {
  const refuse = async (folder: string, message: RegExp, publicKey?: string) => {
    const before = read(folder);
    await expect(take(folder, publicKey === undefined ? {} : { publicKey })).rejects.toThrow(message);
    expect(read(folder)).toEqual(before);
  };
  const prepare = async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1' });
    await take(folder);
    const older = readFileSync(path.join(publication.out, generationPath.current));
    await publication.publish({ 'v2/a.json': '2' });
    return { publication, folder, older };
  };

  it('is older', async () => {
    const { folder, older } = await prepare();
    await take(folder);
    intercept = (file) => (file === generationPath.current ? older : undefined);
    await refuse(folder, /older than the generation 2 .* empty folder/);
    // Of the same number and date, and another.
    const other = { ...JSON.parse(served.read(generationPath.current)), previous: null };
    intercept = (file) => (file === generationPath.current ? Buffer.from(JSON.stringify(other)) : undefined);
    await refuse(folder, /older than the generation 2 .* empty folder/);
  });

  it.each(['cut short', 'altered'])('has a catalog that is %s', async (how) => {
    const { publication, folder } = await prepare();
    const file = path.join(publication.out, publication.current.catalog.path);
    if (how === 'altered')
      writeFileSync(file, readFileSync(path.join(publication.out, publication.current.documents.inventory)));
    else truncateSync(file, readFileSync(file).length - 3);
    await refuse(folder, /holds other files than it says/);
  });

  it('has documents with other bytes', async () => {
    const { publication, folder } = await prepare();
    writeFileSync(path.join(publication.out, 'v2/a.json'), 'x');
    await refuse(folder, /holds other files than it says/);
  });

  it.each<[string, (files: { whole: Buffer; differences: Buffer }) => Record<string, Buffer | undefined>]>([
    ['no inventory', () => ({ whole: undefined })],
    ['no differences', () => ({ differences: undefined })],
    ['differences that are cut short', ({ differences }) => ({ differences: differences.subarray(0, -2) })],
    ['differences that are altered', () => ({ differences: zstdCompressSync(`${'1'.repeat(64)}  v2/a.json\n`) })],
    ['differences in place of the inventory', ({ differences }) => ({ whole: differences })],
    ['the inventory in place of differences', ({ whole }) => ({ differences: whole })],
    ['an inventory of another generation', () => ({ whole: zstdCompressSync(`${'1'.repeat(64)}  v2/z.json\n`) })],
  ])('has %s', async (_, damage) => {
    const { publication, folder } = begin();
    const files = { 'v2/a.json': '1', 'v2/b.json': '1', 'v2/c.json': '1' };
    await publication.publish(files);
    await take(folder);
    await publication.publish({ ...files, 'v2/a.json': '2' });
    const { inventory, differences = '' } = publication.current.documents;
    const told = {
      whole: readFileSync(path.join(publication.out, inventory)),
      differences: readFileSync(path.join(publication.out, differences)),
    };
    const damaged = damage(told);
    // The mirror has the inventory already.
    if ('whole' in damaged) rmSync(path.join(folder, inventory));
    for (const [kind, bytes] of Object.entries(damaged)) {
      const file = path.join(publication.out, kind === 'whole' ? inventory : differences);
      if (bytes === undefined) rmSync(file);
      else writeFileSync(file, bytes);
    }
    await refuse(folder, /holds other files than it says/);
    writeFileSync(path.join(publication.out, inventory), told.whole);
    writeFileSync(path.join(publication.out, differences), told.differences);
    await take(folder);
    expect(read(folder)).toEqual({ ...files, 'v2/a.json': '2' });
  });

  it('has an inventory that no Debdex writes: a path twice, out of order, no digest, no line', async () => {
    const { publication, folder } = await prepare();
    const line = (file: string, text = '2') => `${sha256(text)}  ${file}\n`;
    const texts = [
      line('v2/a.json') + line('v2/a.json'),
      line('v2/a.json', '1') + line('v2/a.json'),
      line('v2/b.json') + line('v2/a.json'),
      `${'x'.repeat(64)}  v2/a.json\n`,
      line('v2/a.json').trim(),
    ];
    writeFileSync(path.join(publication.out, 'v2/b.json'), '2');
    for (const text of texts) {
      const documents = { count: 1, digest: sha256(text), inventory: `v2/inventory/${sha256(text)}.txt.zst` };
      const generation = Buffer.from(JSON.stringify({ ...publication.current, documents }));
      intercept = (file) => {
        if (file === documents.inventory) return zstdCompressSync(text);
        return file === generationPath.current ? generation : undefined;
      };
      await refuse(folder, /holds other files than it says/);
    }
  });

  it('is not signed, or by another key', async () => {
    const { publication, folder } = await prepare();
    const signer = await createSigner(privateKey);
    await refuse(folder, /generation\.jws is missing/, signer.publicKey);
    const files = { 'v2/a.json': '3' };
    await publication.publish(files, { signer });
    await refuse(folder, /not by the public key that is configured/, 'A'.repeat(43));
    await take(folder, { publicKey: signer.publicKey });
    expect(read(folder)).toEqual(files);
  });

  it('is none, or of another format', async () => {
    const { folder } = await prepare();
    intercept = (file) => (file === generationPath.current ? Buffer.from('{"format":2}') : undefined);
    await refuse(folder, /not of a form that this version knows/);
    served = new Publication();
    intercept = undefined;
    await refuse(folder, /publishes no generation \(404/);
  });

  it('C9: names files outside the folder', async () => {
    const { publication, folder } = await prepare();
    const list = changeListSchema.parse(JSON.parse(publication.read(publication.current.changes)));
    for (const bad of ['../outside', '/etc/passwd', 'a/../../b', '.staging/x', 'a\\b', 'c:x', '']) {
      expect(isSafePath(bad)).toBe(false);
      const documents = { written: [bad], removed: [] };
      intercept = (file) =>
        file === publication.current.changes ? Buffer.from(JSON.stringify({ ...list, documents })) : undefined;
      await refuse(folder, /which no Debdex writes/);
      const { documents: named, ...rest } = publication.current;
      const text = `${'0'.repeat(64)}  ${bad}\n`;
      const inventory = `v2/inventory/${sha256(text)}.txt.zst`;
      for (const told of [
        { ...named, inventory: bad },
        { ...named, differences: bad },
        { count: 1, digest: sha256(text), inventory },
      ]) {
        const generation = Buffer.from(JSON.stringify({ ...rest, documents: told }));
        intercept = (file) => {
          if (file === inventory) return zstdCompressSync(text);
          return file === generationPath.current ? generation : undefined;
        };
        await refuse(folder, /which no Debdex writes/);
      }
    }
    expect(isSafePath('.well-known/security.txt')).toBe(true);
    // The document of a package that is called so.
    for (const id of ['.hidden', '..', '../../etc/passwd']) expect(isSafePath(documentPath.package(id)), id).toBe(true);
  });

  it('C9: would be written through a link', async () => {
    const { folder } = await prepare();
    const outside = temporaryFolder();
    rmSync(path.join(folder, 'v2'), { recursive: true });
    symlinkSync(outside, path.join(folder, 'v2'));
    await take(folder);
    expect(existsSync(path.join(outside, 'a.json'))).toBe(false);
    expect(read(folder)).toEqual({ 'v2/a.json': '2' });
  });
});
