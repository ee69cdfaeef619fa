import { copyFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { zstdCompressSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { generationPath } from '../../src/contract/generation.ts';
import { documentPath } from '../../src/contract/paths.ts';
import type { Taken } from '../../src/following/taken-folder.ts';
import { createSigner } from '../../src/publication/signature.ts';
import { temporaryFolder } from '../support/folder.ts';
import {
  follow,
  origin,
  publication,
  repository,
  useFollowedPublication,
  withLimits,
} from '../support/followed-publication.ts';
import { otherPrivateKey, privateKey, publicKey, sha256 } from '../support/publication.ts';

useFollowedPublication();

describe('P3: a replica goes on with what it has and says once why, where the publication', () => {
  const prepare = async (options: { publicKey?: string } = {}) => {
    const signer = await createSigner(privateKey);
    await publication.publish([repository('1')], { signer });
    const replica = await follow(undefined, options);
    await replica.poll();
    expect(replica.number).toBe(1);
    replica.events.length = 0;
    return { replica, signer };
  };
  type Replica = Awaited<ReturnType<typeof follow>>;

  /** Asks often; what is answered stays, and one line tells why. */
  const refuse = async (replica: Replica, reason: RegExp) => {
    const file = documentPath.package('com.example.p0');
    const before = replica.read(file);
    for (let time = 0; time < 5; time++) await replica.poll();
    expect(replica.number).toBe(1);
    expect(replica.read(file)).toEqual(before);
    expect(replica.reasons).toEqual([expect.stringMatching(reason)]);
    expect(replica.reasons[0]).toContain('Generation 1 of ');
    expect(readdirSync(path.join(replica.folder.root, 'staging'))).toEqual([]);
    replica.events.length = 0;
  };
  /** Has it ask once as if so many milliseconds had passed. */
  const later = async (milliseconds: number, replica: Replica) => {
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + milliseconds);
    await replica.poll();
    clock.mockRestore();
  };
  /** Has the origin serve the generation in force with its catalog changed by this SQL; returns the bytes of that file. */
  const serveAltered = (change: string): number => {
    const other = path.join(temporaryFolder(), 'other.sqlite');
    copyFileSync(path.join(publication.state, 'catalog.sqlite'), other);
    const database = new DatabaseSync(other);
    database.exec(change);
    database.close();
    const bytes = readFileSync(other);
    const compressed = zstdCompressSync(bytes);
    const generation = publication.current;
    const catalog = {
      ...generation.catalog,
      sha256: sha256(bytes),
      size: bytes.length,
      compressed_size: compressed.length,
    };
    const text = JSON.stringify({ ...generation, catalog });
    origin.intercept = (file) => {
      if (file === generationPath.current) return Buffer.from(text);
      return file.startsWith('v2/catalog/') ? compressed : undefined;
    };
    return compressed.length;
  };
  /** Lets it try the same generation again at once. */
  const recover = async (replica: Replica) => {
    origin.intercept = undefined;
    await publication.publish([repository('recovered')], { signer: await createSigner(privateKey) });
    await replica.poll();
    expect(replica.number).toBe(publication.current.number);
    expect(replica.reasons).toEqual(['generation-taken']);
  };

  it('is older', async () => {
    const { replica } = await prepare();
    await publication.publish([repository('2')]);
    await replica.poll();
    const text = JSON.stringify({ ...publication.current, number: 1, date: '2026-01-01T00:00:00.000Z' });
    origin.intercept = (file) => (file === generationPath.current ? Buffer.from(text) : undefined);
    replica.events.length = 0;
    for (let time = 0; time < 5; time++) await replica.poll();
    expect(replica.number).toBe(2);
    expect(replica.reasons).toEqual([
      expect.stringMatching(
        /is older than the generation 2 .* empty folder.* stays in force until another is published\.$/,
      ),
    ]);
  });

  it.each(['cut short', 'altered', 'longer', 'empty', 'none'])('has a catalog that is %s', async (how) => {
    const { replica } = await prepare();
    await publication.publish([repository('2')]);
    const { path: file } = publication.current.catalog;
    const target = path.join(publication.folder, file);
    const bytes = readFileSync(target);
    if (how === 'cut short') truncateSync(target, bytes.length - 3);
    else if (how === 'altered') writeFileSync(target, zstdCompressSync(Buffer.alloc(publication.current.catalog.size)));
    else if (how === 'longer') writeFileSync(target, Buffer.concat([bytes, bytes]));
    else if (how === 'empty') writeFileSync(target, '');
    else origin.intercept = (name) => (name === file ? (response) => response.writeHead(404).end() : undefined);
    await refuse(
      replica,
      how === 'none' ? /does not have the catalog.* tried again/ : /(?:cut short|more than \d+).* tried again/,
    );
    await recover(replica);
  });

  it('has a catalog that decompresses to more than it says', async () => {
    const { replica } = await prepare();
    await publication.publish([repository('2')]);
    const bomb = zstdCompressSync(Buffer.alloc(8 * 2 ** 20));
    expect(bomb.length).toBeLessThan(publication.current.catalog.compressed_size);
    origin.intercept = (file) => (file.startsWith('v2/catalog/') ? bomb : undefined);
    await refuse(replica, /cut short or has other bytes/);
    await recover(replica);
  });

  it('has a catalog of another version of Debdex, or one that is made of other rows or tables', async () => {
    const { replica } = await prepare();
    for (const change of [
      'PRAGMA user_version = 99',
      // The first search with a typing mistake would never end.
      `ALTER TABLE spelling RENAME TO other;
       CREATE VIEW spelling (bucket, terms) AS
         WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number) SELECT n, '' FROM number WHERE n < 0`,
      'CREATE TABLE more (a)',
      'DROP INDEX record_list; CREATE INDEX record_list ON record (repository, package) WHERE id < 0',
      "UPDATE record SET json = replace(json, 'com.example.p0', 'com.example.px')",
    ]) {
      await publication.publish([repository(`2 ${change.length}`)]);
      serveAltered(change);
      await refuse(
        replica,
        change.startsWith('UPDATE')
          ? /update Debdex.* stays in force until another is published\.$/
          : /another version of Debdex.* stays in force until another is published\.$/,
      );
      // No waiting mends that, so it is not taken again for as long as nothing else is published.
      // What stands in the folder is not asked for again either, so that tells nothing: whatever is begun ends by a sweep.
      origin.asked = [];
      const sweep = vi.spyOn(replica.folder, 'sweep');
      await later(60_000, replica);
      expect(origin.asked).toEqual([generationPath.current]);
      expect(sweep).not.toHaveBeenCalled();
      sweep.mockRestore();
    }
    await recover(replica);
  });

  it('H10: has a catalog with a text that would not fit in memory', async () => {
    const { replica } = await prepare();
    await publication.publish([repository('2')]);
    // Of a small file, as zeros compress.
    const compressed = serveAltered(
      "UPDATE record SET version = hex(zeroblob(17 * 1048576)) WHERE package = 'com.example.p0'",
    );
    expect(compressed).toBeLessThan(2 ** 20);
    await refuse(replica, /a text that is longer than any Debdex writes/);
    await recover(replica);
  });

  it('is not signed by the configured key, or no longer', async () => {
    const { replica, signer } = await prepare({ publicKey });
    await publication.publish([repository('2')]);
    await refuse(replica, /generation\.jws is missing/);
    origin.intercept = (file) =>
      file === generationPath.signature ? Buffer.from(`${'A'.repeat(40)}..${'A'.repeat(86)}`) : undefined;
    await refuse(replica, /not by the public key that is configured/);
    origin.intercept = undefined;
    await publication.publish([repository('3')], { signer });
    await replica.poll();
    expect(replica.number).toBe(3);
    // What was taken before counts no longer either, where another key is configured.
    await expect(replica.folder.read('A'.repeat(43))).rejects.toThrow(/not signed by the public key/);
    expect((await replica.folder.read(publicKey))?.generation.number).toBe(3);
  });

  it.each([
    ['is none', (): Buffer => Buffer.from('{"format":2}'), /not of a form that this version knows/],
    ['is a page', (): Buffer => Buffer.from('<!doctype html>'), /generation\.json is a web page: give the address/],
  ])('%s', async (_name, answer, reason) => {
    const { replica } = await prepare();
    origin.intercept = (file) => (file === generationPath.current ? answer() : undefined);
    await refuse(replica, reason);
  });

  it('is away, and tells when it is back', async () => {
    const { replica } = await prepare();
    await origin.close();
    await refuse(replica, /could not be read: /);
    await origin.open();
    await replica.poll();
    expect(replica.reasons).toEqual([expect.stringMatching(/answers again, and generation 1 is its newest/)]);
    // One that comes and goes is not told of each time.
    for (let time = 0; time < 3; time++) {
      await origin.close();
      await replica.poll();
      await origin.open();
      await replica.poll();
    }
    expect(replica.reasons).toHaveLength(1);
  });

  it('hangs, sends half, or answers that nothing changed to a question without a tag', async () => {
    const { replica } = await prepare();
    await publication.publish([repository('2')]);
    await withLimits({ headersMs: 500, graceMs: 500 }, async () => {
      origin.intercept = (file) => (file === generationPath.current ? () => {} : undefined);
      await refuse(replica, /did not answer/);
      origin.intercept = (file) =>
        file.startsWith('v2/catalog/')
          ? (response) => {
              const body = publication.read(file);
              response.writeHead(200, { 'content-length': body.length });
              response.write(body.subarray(0, body.length / 2));
            }
          : undefined;
      await refuse(replica, /hardly anything arrived/);
    });
    const fresh = await follow();
    origin.intercept = () => (response) => response.writeHead(304).end();
    await fresh.poll();
    expect(fresh.reasons).toEqual([
      expect.stringMatching(/answered 304 to a question without a tag.*Nothing was taken/),
    ]);
    await recover(replica);
  });

  it('redirects: to another address it follows, in a circle it does not', async () => {
    const { replica } = await prepare();
    await publication.publish([repository('2')]);
    origin.intercept = (file) => (response) => response.writeHead(302, { location: `/${file}` }).end();
    await refuse(replica, /redirects on and on/);
    origin.intercept = (file) => {
      if (!file.startsWith('moved/'))
        return (response) => response.writeHead(302, { location: `/moved/${file}` }).end();
      const target = file.slice('moved/'.length);
      return publication.files(true).includes(target)
        ? publication.read(target)
        : (response) => response.writeHead(404).end();
    };
    await replica.poll();
    expect(replica.number).toBe(2);
  });

  it('fills the disk, and takes it when there is room', async () => {
    const { replica } = await prepare();
    await publication.publish([repository('2')]);
    const huge = { ...publication.current, catalog: { ...publication.current.catalog, size: 2 ** 52 } };
    origin.intercept = (file) => (file === generationPath.current ? Buffer.from(JSON.stringify(huge)) : undefined);
    await refuse(replica, /MB left, and the next generation needs .*: make room/);
    await recover(replica);
  });

  it('is more than the disk bears, which says so when it is flushed', async () => {
    const { replica } = await prepare();
    const handle = await open(replica.folder.root, 'r');
    const prototype = Object.getPrototypeOf(handle);
    await handle.close();
    const failures = [
      ['ENOSPC', /The disk of .* is full: make room/],
      ['EIO', /It could not be taken: EIO: of the test, fsync/],
    ] as const;
    for (const [code, reason] of failures) {
      await publication.publish([repository(code)]);
      const fail = vi
        .spyOn(prototype, 'sync')
        .mockRejectedValue(Object.assign(new Error(`${code}: of the test, fsync`), { code, syscall: 'fsync' }));
      await refuse(replica, reason);
      expect(fail).toHaveBeenCalled();
      fail.mockRestore();
    }
    // Of what was not flushed nothing may be taken for whole.
    expect(readdirSync(path.join(replica.folder.root, 'catalog'))).toHaveLength(2);
    await recover(replica);
  });

  it('is refused while its files are still being flushed: these have ended before what was begun is removed', async () => {
    const { replica } = await prepare();
    await publication.publish([repository('2')]);
    serveAltered('PRAGMA user_version = 1');
    const place = replica.folder.place.bind(replica.folder);
    const sweep = replica.folder.sweep.bind(replica.folder);
    let ended = 0;
    vi.spyOn(replica.folder, 'place').mockImplementation(async (from, to) => {
      await place(from, to);
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      ended++;
    });
    const endedAtSweep: number[] = [];
    vi.spyOn(replica.folder, 'sweep').mockImplementation(() => {
      endedAtSweep.push(ended);
      sweep();
    });
    await replica.poll();
    expect(replica.reasons).toEqual([expect.stringContaining('is of another version of Debdex')]);
    expect(endedAtSweep[0]).toBe(2);
  });

  it('is on the disk but for one of its two files: it is taken again, and not for whole', async () => {
    const { replica } = await prepare();
    await publication.publish([repository('2')]);
    const place = replica.folder.place.bind(replica.folder);
    const fail = vi.spyOn(replica.folder, 'place').mockImplementation(async (from, to) => {
      if (to.endsWith('.zst')) throw Object.assign(new Error('of the test'), { code: 'EIO' });
      await place(from, to);
    });
    await refuse(replica, /It could not be taken: of the test/);
    fail.mockRestore();
    await later(600_000, replica);
    expect(replica.number).toBe(2);
  });

  it('is in force on the disk, and what else was to be done failed: a start after that has it', async () => {
    const { replica } = await prepare();
    await publication.publish([repository('2')]);
    const write = replica.folder.write.bind(replica.folder);
    vi.spyOn(replica.folder, 'write').mockImplementationOnce((note) => {
      write(note);
      throw Object.assign(new Error('of the test'), { code: 'ENOSPC', syscall: 'fsync' });
    });
    await replica.poll();
    expect(replica.number).toBe(1);
    expect(replica.read(documentPath.package('com.example.p0'))).toBeDefined();
    expect((await replica.folder.read())?.generation.number).toBe(2);
  });

  it('has no room for what tells that it is in force: nothing of it keeps the disk full', async () => {
    const { replica } = await prepare();
    await publication.publish([repository('2')]);
    const fail = vi.spyOn(replica.folder, 'write').mockImplementation(() => {
      throw Object.assign(new Error('of the test'), { code: 'ENOSPC' });
    });
    await refuse(replica, /The disk of .* is full: make room/);
    expect(readdirSync(path.join(replica.folder.root, 'catalog'))).toHaveLength(2);
    fail.mockRestore();
    await recover(replica);
  });

  it('cannot be answered from, as the server finds: the one before stays on the disk, and it is tried again', async () => {
    let failure: Error | undefined;
    let number: number | undefined;
    const onTaken = async ({ generation }: Taken) => {
      if (failure !== undefined) throw failure;
      number = generation.number;
    };
    await publication.publish([repository('1')]);
    const replica = await follow(undefined, { onTaken });
    await replica.poll();
    replica.events.length = 0;
    failure = new Error('of the test');
    await publication.publish([repository('2')]);
    await replica.poll();
    expect(replica.reasons).toEqual([
      expect.stringMatching(/: of the test\. Generation 1 of .* stays in force; it is/),
    ]);
    // Both files of either catalog.
    expect(readdirSync(path.join(replica.folder.root, 'catalog'))).toHaveLength(4);
    failure = undefined;
    await later(600_000, replica);
    expect(number).toBe(2);
    expect(readdirSync(path.join(replica.folder.root, 'catalog'))).toHaveLength(2);
  });

  it('has another signature for the same generation: takes that, and nothing is older than itself', async () => {
    const { replica } = await prepare();
    await publication.publish([repository('1')], { signer: await createSigner(otherPrivateKey) });
    expect(publication.current.number).toBe(1);
    await later(660_000, replica);
    expect(replica.reasons).toEqual(['generation-taken']);
    expect((await replica.folder.read())?.note.jws).toBe(publication.read(generationPath.signature).toString());
    await later(660_000, replica);
    expect(replica.reasons).toEqual(['generation-taken']);
  });

  it('is damaged, and is taken back: all is well with the one before, and that is confirmed', async () => {
    const { replica, signer } = await prepare();
    const before = publication.read(generationPath.current);
    await publication.publish([repository('2')], { signer });
    origin.intercept = (file) => (file.startsWith('v2/catalog/') ? Buffer.from('damaged') : undefined);
    await refuse(replica, /cut short/);
    const { confirmed } = replica;
    origin.intercept = (file) => (file === generationPath.current ? before : undefined);
    await replica.poll();
    expect(replica.reasons).toEqual([expect.stringMatching(/generation 1 is its newest/)]);
    expect(replica.confirmed).toBe(confirmed + 1);
  });

  it('is damaged, and is not taken again at each question', async () => {
    await publication.publish([repository('1')]);
    const replica = await follow(undefined, { interval: 3_600_000 });
    const { path: catalog } = publication.current.catalog;
    origin.intercept = (file) => (file === catalog ? Buffer.from('damaged') : undefined);
    for (let time = 0; time < 5; time++) await replica.poll();
    expect(origin.asked.filter((file) => file === catalog)).toHaveLength(1);
    expect(origin.asked.filter((file) => file === generationPath.current)).toHaveLength(5);
    // It may have been mended where it stands: after a while it is.
    await later(600_000, replica);
    expect(origin.asked.filter((file) => file === catalog)).toHaveLength(2);
    // Another generation is taken at once.
    origin.intercept = undefined;
    await publication.publish([repository('2')]);
    await replica.poll();
    expect(replica.number).toBe(2);
  });

  it('is behind something that answers 304 whatever comes: it is asked without a tag now and then', async () => {
    const { replica } = await prepare();
    await publication.publish([repository('2')]);
    origin.intercept = (file) => {
      if (file !== generationPath.current) return undefined;
      return (response, request) =>
        request.headers['if-none-match'] === undefined
          ? response.writeHead(200, { etag: '"second"' }).end(publication.read(file))
          : response.writeHead(304).end();
    };
    await replica.poll();
    expect(replica.number).toBe(1);
    await later(660_000, replica);
    expect(replica.number).toBe(2);
    // Forty seconds after that.
    origin.intercept = (file) => {
      if (file !== generationPath.current) return undefined;
      return (response, request) => {
        tags.push(request.headers['if-none-match']);
        response.writeHead(304).end();
      };
    };
    const tags: (string | undefined)[] = [];
    await later(700_000, replica);
    expect(tags).toEqual(['"second"']);
  });

  it('waits longer after each failure, as long as it is asked to, and never much longer than five minutes', async () => {
    const { replica } = await prepare();
    origin.intercept = () => (response) => response.writeHead(503, { 'retry-after': '1234' }).end();
    expect(await replica.poll()).toBeGreaterThan(1_230_000);
    origin.intercept = () => (response) => response.writeHead(503, { 'retry-after': '0' }).end();
    expect(await replica.poll()).toBeGreaterThan(1000);
    origin.intercept = () => (response) => response.writeHead(503).end();
    const pauses = [];
    for (let time = 0; time < 20; time++) pauses.push(await replica.poll());
    expect(pauses[0]).toBeGreaterThan(1000);
    expect(pauses[1]).toBeGreaterThan(pauses[0] ?? 0);
    expect(Math.max(...pauses)).toBe(300_000);
    // Somebody waits for one that has nothing yet.
    const fresh = await follow();
    const firstPauses = [];
    for (let time = 0; time < 20; time++) firstPauses.push(await fresh.poll());
    expect(Math.max(...firstPauses)).toBe(30_000);
    origin.intercept = undefined;
    expect(await replica.poll()).toBe(1000);
    // After that it is the first failure again.
    origin.intercept = () => (response) => response.writeHead(503).end();
    expect(await replica.poll()).toBeLessThanOrEqual(1000);
  });

  it('has taken a catalog away, and something on the way knows only the generation that named it: the next one is asked for without a tag', async () => {
    const { replica } = await prepare();
    await publication.publish([repository('2')]);
    const second = { text: publication.read(generationPath.current), catalog: publication.current.catalog.path };
    await publication.publish([repository('3')]);
    let isFirst = true;
    origin.intercept = (file) => {
      if (file === second.catalog) return (response) => response.writeHead(404).end();
      if (file !== generationPath.current) return undefined;
      return (response, request) => {
        if (isFirst) response.writeHead(200, { etag: '"second"' }).end(second.text);
        else if (request.headers['if-none-match'] === '"second"') response.writeHead(304).end();
        else response.end(publication.read(file));
        isFirst = false;
      };
    };
    await replica.poll();
    expect(replica.number).toBe(3);
  });

  it('is far away and the clock is another: what is newer is told by its number', async () => {
    publication.now = new Date('2099-01-01T00:00:00Z');
    const { replica } = await prepare();
    publication.now = new Date('2001-01-01T00:00:00Z');
    await publication.publish([repository('2')]);
    await replica.poll();
    expect(replica.number).toBe(2);
  });
});
