import { hash } from 'node:crypto';
import { cpSync, rmSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generationPath, generationSchema, keptCatalogs } from '../../src/contract/generation.ts';
import type { Destination } from '../../src/uploading/destination.ts';
import type { LocalFile } from '../../src/uploading/local-publication.ts';
import { LocalPublication } from '../../src/uploading/local-publication.ts';
import { parseRecord, recordName, retiredName } from '../../src/uploading/record.ts';
import { type UploadOptions, upload } from '../../src/uploading/upload.ts';
import { Conflict } from '../../src/uploading/upload-error.ts';
import { temporaryFolder } from '../support/folder.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { type Files, Publication } from '../support/publication.ts';

const entrance = 'v2/index.json';

/** A destination in memory in which nothing goes in the order in which it was asked for, and that can die. */
class Memory implements Destination {
  readonly title = 'memory';
  readonly usualConcurrency = 4;
  readonly names = new Map<string, Buffer>();
  /** How many more files it takes. */
  left = Number.POSITIVE_INFINITY;
  /** Asked after each. */
  onPut = (_: string): void => {};
  /** Awaited before each, and before what was put is to outlive a power cut. */
  before: ((name: string) => Promise<void>) | undefined;
  onFlush = (): void => {};
  /** What a store still shows that is slow to show what was replaced. */
  readonly stale = new Map<string, Buffer>();
  readonly #random: () => number;

  constructor(random: () => number = () => 0) {
    this.#random = random;
  }

  namesOf = (path: string): readonly string[] => [path];
  everyNameOf = this.namesOf;
  formOf = (): string => 'memory';
  isEmpty = async (): Promise<boolean> => this.names.size === 0;
  begin = async (): Promise<void> => {};
  isSure = (): boolean => true;
  flush = async (): Promise<void> => this.onFlush();
  close = async (): Promise<void> => {};

  async read(name: string) {
    const bytes = this.names.get(name);
    return bytes && { bytes, tag: hash('sha256', bytes) };
  }

  async look(name: string, _: string, sha256: string): Promise<'same' | 'other' | 'none'> {
    const bytes = this.stale.get(name) ?? this.names.get(name);
    if (bytes === undefined) return 'none';
    return hash('sha256', bytes) === sha256 ? 'same' : 'other';
  }

  async put(name: string, _: string, file: LocalFile): Promise<void> {
    for (let turns = Math.floor(this.#random() * 4); turns > 0; turns--) await turn();
    await this.before?.(name);
    if (this.left <= 0) throw new Error('killed');
    this.left--;
    this.names.set(name, file.bytes ?? Buffer.alloc(0));
    this.onPut(name);
  }

  async replace(name: string, bytes: Buffer, tag: string | undefined): Promise<string> {
    if (this.left <= 0) throw new Error('killed');
    if ((await this.read(name))?.tag !== tag) throw new Conflict(name);
    this.names.set(name, bytes);
    this.onPut(name);
    return hash('sha256', bytes);
  }

  async remove(name: string): Promise<void> {
    if (this.left <= 0) throw new Error('killed');
    this.names.delete(name);
    this.onPut(name);
  }

  /** What leads nowhere, from this file on. */
  findBroken(from = entrance): string[] {
    const broken: string[] = [];
    const seen = new Set<string>();
    for (const queue = [from]; queue.length > 0; ) {
      const name = queue.pop() ?? '';
      if (seen.has(name)) continue;
      seen.add(name);
      const bytes = this.names.get(name);
      if (bytes === undefined) {
        if (name !== entrance) broken.push(name);
      } else queue.push(...(JSON.parse(bytes.toString()).names as string[]));
    }
    return broken;
  }
}

// Who was killed here has our own number, so that one has to wait for a sign of life.
const list = 'v2/a-list.json';
const named = 'v2/b.json';

const times = { renewMs: 1000, silentMs: 4, pollMs: 1, settleMs: 1 };
const send = (publication: Publication, destination: Memory, options: Partial<UploadOptions> = {}) =>
  upload({
    publication: new LocalPublication(publication.out, 100),
    destination,
    keepRemovedMs: 0,
    times,
    ...options,
  });

const day = (number: number) => () => new Date(Date.UTC(2026, 5, number));
const keepRemovedMs = 86_400_000;
/** Everything that is published, as it is to stand. */
const expectHeld = ({ names }: Memory, publication: Publication): void => {
  const held = Object.fromEntries(Object.keys(publication.files()).map((name) => [name, names.get(name)?.toString()]));
  expect(held).toEqual(publication.files());
  expect(names.get(generationPath.current)?.toString()).toBe(publication.read(generationPath.current));
};

const document = (names: readonly string[], content = 0): string => JSON.stringify({ names, content });

describe('whoever reads while uploads come and are killed finds what is named', () => {
  const killed = async (publication: Publication, destination: Memory, files: number): Promise<void> => {
    destination.left = files;
    await expect(send(publication, destination, { concurrency: 1 })).rejects.toThrow('killed');
    destination.left = Number.POSITIVE_INFINITY;
  };

  it('P1: though an upload that was killed had got as far as the entrance', async () => {
    const [publication, destination] = [new Publication(), new Memory()];
    await publication.publish({ [entrance]: document([]) });
    await send(publication, destination);
    await publication.publish({ [entrance]: document([list]), [list]: document([]) });
    const isThere = () => destination.names.get(entrance)?.includes(list) === true;
    destination.onPut = () => {
      if (isThere()) destination.left = 0;
    };
    await expect(send(publication, destination)).rejects.toThrow('killed');
    destination.left = Number.POSITIVE_INFINITY;
    expect(isThere()).toBe(true);
    const broken: string[] = [];
    destination.onPut = () => broken.push(...destination.findBroken());
    // The list that its readers know names what is sent after it in the order of names.
    await publication.publish({
      [entrance]: document([list], 1),
      [list]: document([named]),
      [named]: document([]),
    });
    await send(publication, destination, { concurrency: 1 });
    expect(broken).toEqual([]);
    expect(destination.findBroken()).toEqual([]);
  });

  it('P1: if the inventory at the destination was lost, or everything is verified', async () => {
    for (const verify of [false, true]) {
      const [publication, destination] = [new Publication(), new Memory()];
      await publication.publish({ [entrance]: document([list]), [list]: document([]) });
      await send(publication, destination);
      const { documents } = publication.current;
      destination.names.delete(documents.inventory);
      const broken: string[] = [];
      destination.onPut = () => broken.push(...destination.findBroken());
      await publication.publish({ [entrance]: document([list]), [list]: document([named]), [named]: document([]) });
      await send(publication, destination, { concurrency: 1, verify });
      expect(broken, `verify: ${verify}`).toEqual([]);
      expect(destination.names.has(named)).toBe(true);
    }
  });

  it('P1: if files that a killed upload should have sent never arrive', async () => {
    const [publication, destination] = [new Publication(), new Memory()];
    await publication.publish({ [entrance]: document([list]), [list]: document([]) });
    await send(publication, destination);
    const next = { [entrance]: document([list]), [list]: document([named]), [named]: document([]) };
    await publication.publish(next);
    // Inventory, and nothing else.
    await killed(publication, destination, 1);
    expect(destination.names.has(named)).toBe(false);
    const broken: string[] = [];
    destination.onPut = () => broken.push(...destination.findBroken());
    await publication.publish({ ...next, [named]: document([], 2) });
    await send(publication, destination, { concurrency: 1 });
    expect(broken).toEqual([]);
  });

  it('P1: if a document that was published a while ago comes back and names something new', async () => {
    const [publication, destination] = [new Publication(), new Memory()];
    await publication.publish({ [entrance]: document([list]), [list]: document([]) });
    await send(publication, destination, { keepRemovedMs });
    await publication.publish({ [entrance]: document([]) });
    await send(publication, destination, { keepRemovedMs });
    expect(destination.names.has(list)).toBe(true);
    const broken: string[] = [];
    destination.onPut = () => broken.push(...destination.findBroken(list));
    await publication.publish({ [entrance]: document([list]), [list]: document([named]), [named]: document([]) });
    await send(publication, destination, { concurrency: 1, keepRemovedMs });
    expect(broken).toEqual([]);
  });

  it('P1: whatever was published, wherever each upload ended, in whatever order a store takes files', async () => {
    const lists = ['v2/l0.json', 'v2/l1.json', 'v2/l2.json'];
    const packages = ['v2/p0.json', 'v2/p1.json', 'v2/p2.json', 'v2/p3.json'];
    const files = fc
      .record({
        lists: fc.subarray(lists, { minLength: 1 }),
        packages: fc.subarray(packages),
        content: fc.array(fc.nat(2), { minLength: 7, maxLength: 7 }),
      })
      .map((chosen): Files => {
        const each = chosen.lists.map((name, index) => {
          const mine = chosen.packages.filter((_, at) => at % chosen.lists.length === index);
          return [name, document(mine, chosen.content[index])];
        });
        const all = chosen.packages.map((name, index) => [name, document([], chosen.content[index + 3])]);
        return { [entrance]: document(chosen.lists), ...Object.fromEntries([...each, ...all]) };
      });
    const step = fc.record({
      files,
      // Of a moment that is not reached the upload ends well.
      killedAfter: fc.integer({ min: 0, max: 16 }),
      loses: fc.constantFrom('nothing', 'nothing', 'the inventory', 'the differences'),
      verify: fc.boolean(),
      keeps: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 2, maxLength: 7 }),
        fc.infiniteStream(fc.nat(3)),
        async (steps, order) => {
          const random = () => (order.next().value ?? 0) / 4;
          const [publication, destination] = [new Publication(), new Memory(random)];
          destination.onPut = () => {
            const broken = destination.findBroken();
            if (broken.length > 0) throw new Error(`nothing stands at ${broken.join(', ')}`);
          };
          for (const { files, killedAfter, loses, verify, keeps } of steps) {
            await publication.publish(files);
            const there = destination.names.get(generationPath.current);
            if (there !== undefined && loses !== 'nothing') {
              const { documents } = generationSchema.parse(JSON.parse(there.toString()));
              destination.names.delete(loses === 'the inventory' ? documents.inventory : (documents.differences ?? ''));
            }
            destination.left = killedAfter;
            await send(publication, destination, { verify, keepRemovedMs: keeps ? 1e9 : 0 }).catch((error: Error) => {
              if (error.message !== 'killed') throw error;
            });
          }
          destination.left = Number.POSITIVE_INFINITY;
          await send(publication, destination);
          expectHeld(destination, publication);
        },
      ),
      { numRuns: timesFrom('DEBDEX_TEST_HISTORIES', 12) },
    );
  });
});

describe('an upload', () => {
  it('P1: puts nothing in force that a build replaced while the last file of it was sent', async () => {
    const [publication, destination] = [new Publication(), new Memory()];
    await publication.publish({ [entrance]: document([]) });
    let isBuilt = false;
    destination.before = async (name) => {
      if (!name.startsWith('v2/changes/') || isBuilt) return;
      isBuilt = true;
      await publication.publish({ [entrance]: document([], 2) });
    };
    await send(publication, destination);
    expectHeld(destination, publication);
    expect(publication.current.number).toBe(2);
  });

  it('P1: puts nothing in force if another upload took over at the last moment', async () => {
    const [publication, destination] = [new Publication(), new Memory()];
    await publication.publish({ [entrance]: document([]) });
    await send(publication, destination);
    const before = destination.names.get(generationPath.current);
    await publication.publish({ [entrance]: document([], 2) });
    destination.onFlush = () => destination.names.set(recordName, Buffer.from('{"of":"another"}'));
    await expect(send(publication, destination, { times: { ...times, silentMs: 1e6 } })).rejects.toThrow(
      /has taken over/,
    );
    expect(destination.names.get(generationPath.current)).toBe(before);
  });

  it('P1: removes nothing of the generation in force that was to go when it was not', async () => {
    const [publication, destination] = [new Publication(), new Memory()];
    const all = ['1', '2', '3', '4', '5', '1'];
    for (const content of all) {
      await publication.publish({ [entrance]: document([content]), [content]: document([]) });
      await send(publication, destination, { keepRemovedMs, now: day(1) });
    }
    await send(publication, destination, { keepRemovedMs, now: day(9) });
    expectHeld(destination, publication);
    const { catalog, documents } = publication.current;
    for (const name of [catalog.path, documents.inventory]) expect(destination.names.has(name), name).toBe(true);
    expect(destination.names.has('2')).toBe(false);
  });

  it('P1: keeps the former generation for a day, even if a killed upload was to remove its files long ago', async () => {
    const [publication, destination] = [new Publication(), new Memory()];
    await publication.publish({ [entrance]: document([named]), [named]: document([]) });
    await send(publication, destination, { now: day(1) });
    await publication.publish({ [entrance]: document([]) });
    destination.onPut = (name) => {
      if (name === retiredName) destination.left = 0;
    };
    await expect(send(publication, destination, { keepRemovedMs, now: day(1) })).rejects.toThrow('killed');
    destination.onPut = () => {};
    destination.left = Number.POSITIVE_INFINITY;
    for (const [at, isThere] of [
      [20, true],
      [22, false],
    ] as const) {
      await send(publication, destination, { keepRemovedMs, now: day(at) });
      expect(destination.names.has(named), `day ${at}`).toBe(isThere);
    }
  });

  it('H10: keeps three whole inventories, and nothing of an upload that never came in force', async () => {
    const [publication, destination] = [new Publication(), new Memory()];
    const held = () => [...destination.names.keys()].filter((name) => name.startsWith('v2/inventory/'));
    // Of one file there is never a difference shorter than the whole.
    for (let round = 1; round <= 6; round++) {
      await publication.publish({ [entrance]: document([], round) });
      await send(publication, destination, { keepRemovedMs, now: day(round * 3) });
    }
    expect(held()).toHaveLength(keptCatalogs + 1);
    const many = { [entrance]: document([]), '1': '1', '2': '2', '3': '3' };
    await publication.publish(many);
    await send(publication, destination, { keepRemovedMs, now: day(30) });
    await publication.publish({ ...many, '3': 'x' });
    const { differences = '' } = publication.current.documents;
    destination.left = 2;
    await expect(send(publication, destination, { concurrency: 1 })).rejects.toThrow('killed');
    destination.left = Number.POSITIVE_INFINITY;
    expect(destination.names.has(differences)).toBe(true);
    await publication.publish({ ...many, '3': 'y' });
    for (const at of [40, 50]) await send(publication, destination, { keepRemovedMs, now: day(at) });
    expect(destination.names.has(differences)).toBe(false);
    expectHeld(destination, publication);
  });

  it('P1: restores files in force that a killed upload had replaced', async () => {
    const [publication, destination] = [new Publication(), new Memory()];
    await publication.publish({ [entrance]: document([list]), [list]: document([]) });
    await send(publication, destination);
    const backup = temporaryFolder();
    cpSync(publication.folder, backup, { recursive: true });
    await publication.publish({ [entrance]: document([list]), [list]: document([], 2) });
    destination.onPut = (name) => {
      if (name === list) destination.left = 0;
    };
    await expect(send(publication, destination)).rejects.toThrow('killed');
    destination.onPut = () => {};
    destination.left = Number.POSITIVE_INFINITY;
    rmSync(publication.folder, { recursive: true });
    cpSync(backup, publication.folder, { recursive: true });
    await send(publication, destination);
    expectHeld(destination, publication);
  });

  it('P1: sends what is gone at the destination, however often the upload that was to verify it is killed', async () => {
    const [publication, destination] = [new Publication(), new Memory()];
    const lost = [list, named, 'v2/c.json'];
    await publication.publish({ [entrance]: document(lost), ...Object.fromEntries(lost.map((name) => [name, '{}'])) });
    await send(publication, destination);
    for (const name of lost) destination.names.delete(name);
    for (const verify of [true, false]) {
      destination.left = 1;
      await expect(send(publication, destination, { concurrency: 1, verify })).rejects.toThrow('killed');
      // Noted once, however often: each is read by the next upload.
      const { intended } = parseRecord(destination.names.get(recordName) ?? Buffer.of(), destination.title);
      expect(intended).toHaveLength(1);
    }
    destination.left = Number.POSITIVE_INFINITY;
    await send(publication, destination);
    expectHeld(destination, publication);
  });

  it('P1: of two that were killed takes the later for what a slow store is to show', async () => {
    const [publication, destination] = [new Publication(), new Memory()];
    for (const content of [1, 2, 3]) {
      await publication.publish({ [entrance]: document([]), [list]: document([], content) });
      destination.onPut = (name) => {
        if (name === list && content > 1) destination.left = 0;
      };
      await send(publication, destination).catch(() => {});
      destination.left = Number.POSITIVE_INFINITY;
    }
    destination.onPut = () => {};
    destination.stale.set(list, Buffer.from(document([], 2)));
    await publication.publish({ [entrance]: document([]), [list]: document([], 2) });
    await send(publication, destination);
    expectHeld(destination, publication);
  });

  it('P3: replaces a generation with the same number and date, because it is not newer', async () => {
    const [publication, destination] = [new Publication(), new Memory()];
    await publication.publish({ [entrance]: document([]) });
    await send(publication, destination);
    const other = new Publication();
    await other.publish({ [entrance]: document([], 2) });
    expect(other.current.date).toBe(publication.current.date);
    await send(other, destination);
    expectHeld(destination, other);
  });

  it('P1: sends no catalog that is cut short', async () => {
    const [publication, destination] = [new Publication(), new Memory()];
    await publication.publish({ [entrance]: document([]) });
    truncateSync(path.join(publication.out, publication.current.catalog.path), 9);
    await expect(send(publication, destination)).rejects.toThrow(/is cut short.*Run npm run build/);
    expect(destination.names.has(generationPath.current)).toBe(false);
  });
});
