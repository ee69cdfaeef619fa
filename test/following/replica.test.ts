import { copyFileSync, existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { generationPath } from '../../src/contract/generation.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { Follower, type FollowerEvent, type FollowerOptions } from '../../src/following/follower.ts';
import { PublicationSource } from '../../src/following/source.ts';
import { largestComposed, TakenCatalog } from '../../src/following/taken-catalog.ts';
import { type Taken, TakenFolder } from '../../src/following/taken-folder.ts';
import { createFetcher, type Fetcher } from '../../src/net/fetcher.ts';
import { createSigner } from '../../src/publication/signature.ts';
import { BuiltPublication, FileOrigin } from '../support/built-publication.ts';
import { packages, type SourceRepository } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';
import { generatedRepositories } from '../support/generated.ts';
import { privateKey, publicKey, sha256 } from '../support/publication.ts';

/** One repository with so many packages; another `text` is another state of it. */
const repository = (text: string, count = 3): SourceRepository => ({
  slug: 'one',
  packages: packages(
    ...Array.from({ length: count }, (_, index) => ({ Package: `com.example.p${index}`, Description: text })),
  ),
});

let publication: BuiltPublication;
let origin: FileOrigin;
let fetcher: Fetcher;

beforeEach(async () => {
  publication = new BuiltPublication();
  origin = await new FileOrigin(publication.folder).open();
  fetcher = createFetcher({ allowPrivateNetworks: true });
});
afterEach(async () => {
  await fetcher.close();
  await origin.close().catch(() => {});
});

/** A follower in this process, which is asked to ask. */
const follow = async (state = temporaryFolder(), options: Partial<FollowerOptions> & { publicKey?: string } = {}) => {
  const folder = new TakenFolder(state);
  let release: (() => void) | undefined = folder.lock();
  const unlock = () => {
    release?.();
    release = undefined;
  };
  onTestFinished(unlock);
  // A test may lose patience in the middle.
  const asking: Fetcher = { fetch: (...request) => fetcher.fetch(...request), close: async () => {} };
  const events: FollowerEvent[] = [];
  let taken: Taken | undefined = await folder.read(options.publicKey);
  let confirmed = 0;
  const follower = new Follower({
    source: new PublicationSource(origin.address, asking, options.publicKey),
    folder,
    taken,
    interval: 1000,
    now: () => new Date(),
    onTaken: async (next) => {
      taken = next;
    },
    onConfirmed: () => confirmed++,
    tell: (event) => events.push(event),
    random: () => 0.5,
    ...options,
  });
  return {
    folder,
    events,
    unlock,
    poll: () => follower.poll(),
    get number() {
      return taken?.generation.number;
    },
    get confirmed() {
      return confirmed;
    },
    get reasons() {
      return events.map((event) => ('reason' in event ? event.reason : event.event));
    },
    /** The document as the replica would answer with it. */
    read: (file: string): Buffer | undefined => {
      const { note } = taken as Taken;
      const large = note.large.find((one) => one.path === file);
      if (large !== undefined) return readFileSync(folder.document(large.file.sha256));
      const database = CatalogFile.openReadOnly(folder.catalog(note.catalog.sha256, 'sqlite'));
      try {
        return new TakenCatalog(database).read(file);
      } finally {
        database.close();
      }
    },
  };
};

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
    expect(replica.reasons).toEqual([expect.stringMatching(/is older than the generation 2 .* empty folder/)]);
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
    await refuse(replica, how === 'none' ? /does not have the catalog/ : /cut short|more than \d+/);
    await recover(replica);
  });

  it('has a catalog that decompresses to more than it says', async () => {
    const { replica } = await prepare();
    await publication.publish([repository('2')]);
    const bomb = zstdCompressSync(Buffer.alloc(64 * 2 ** 20));
    expect(bomb.length).toBeLessThan(publication.current.catalog.compressed_size);
    origin.intercept = (file) => (file.startsWith('v2/catalog/') ? bomb : undefined);
    await refuse(replica, /cut short or has other bytes/);
    await recover(replica);
  });

  it('has a catalog of another version of Debdex, or one that is made of other rows', async () => {
    const { replica } = await prepare();
    for (const change of [
      'PRAGMA user_version = 99',
      "UPDATE record SET json = replace(json, 'com.example.p0', 'com.example.px')",
    ]) {
      await publication.publish([repository(`2 ${change.length}`)]);
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
      await refuse(replica, change.startsWith('PRAGMA') ? /another version of Debdex/ : /update Debdex/);
    }
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
    ['is a page', (): Buffer => Buffer.from('<!doctype html>'), /not of a form that this version knows/],
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
    const patient = fetcher;
    onTestFinished(() => patient.close());
    fetcher = createFetcher({ allowPrivateNetworks: true, limits: { headersMs: 500, graceMs: 500 } });
    const impatient = fetcher;
    onTestFinished(() => impatient.close());
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
    fetcher = patient;
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

  it('is damaged, and is not taken again at each question', async () => {
    await publication.publish([repository('1')]);
    const replica = await follow(undefined, { interval: 3_600_000 });
    const { path: catalog } = publication.current.catalog;
    origin.intercept = (file) => (file === catalog ? Buffer.from('damaged') : undefined);
    for (let time = 0; time < 5; time++) await replica.poll();
    expect(origin.asked.filter((file) => file === catalog)).toHaveLength(1);
    expect(origin.asked.filter((file) => file === generationPath.current)).toHaveLength(5);
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
          ? response.end(publication.read(file))
          : response.writeHead(304).end();
    };
    await replica.poll();
    expect(replica.number).toBe(1);
    const now = performance.now.bind(performance);
    const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 660_000);
    onTestFinished(() => later.mockRestore());
    await replica.poll();
    expect(replica.number).toBe(2);
  });

  it('waits longer after each failure, as long as it is asked to, and never much longer than five minutes', async () => {
    const { replica } = await prepare();
    origin.intercept = () => (response) => response.writeHead(503, { 'retry-after': '1234' }).end();
    expect(await replica.poll()).toBeGreaterThan(1_230_000);
    origin.intercept = () => (response) => response.writeHead(503).end();
    const pauses = [];
    for (let time = 0; time < 20; time++) pauses.push(await replica.poll());
    expect(pauses[0]).toBeGreaterThan(1000);
    expect(pauses[1]).toBeGreaterThan(pauses[0] ?? 0);
    expect(Math.max(...pauses)).toBe(300_000);
    origin.intercept = undefined;
    expect(await replica.poll()).toBe(1000);
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

it('P3: two replicas do not share one folder', async () => {
  const folder = temporaryFolder();
  const unlock = new TakenFolder(folder).lock();
  expect(() => new TakenFolder(folder).lock()).toThrow(/another replica is using .*: give each replica a --state/);
  unlock();
  const again = new TakenFolder(folder).lock();
  again();
  expect(existsSync(path.join(folder, 'replica'))).toBe(true);
});
