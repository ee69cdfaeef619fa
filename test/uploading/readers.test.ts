import { hash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generationPath, generationSchema } from '../../src/contract/generation.ts';
import type { Destination } from '../../src/uploading/destination.ts';
import type { LocalFile } from '../../src/uploading/local-publication.ts';
import { LocalPublication } from '../../src/uploading/local-publication.ts';
import { type UploadOptions, upload } from '../../src/uploading/upload.ts';
import { Conflict } from '../../src/uploading/upload-error.ts';
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
  onPut = (): void => {};
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
  flush = async (): Promise<void> => {};
  close = async (): Promise<void> => {};

  async read(name: string) {
    const bytes = this.names.get(name);
    return bytes && { bytes, tag: hash('sha256', bytes) };
  }

  async look(name: string, _: string, sha256: string): Promise<'same' | 'other' | 'none'> {
    const bytes = this.names.get(name);
    if (bytes === undefined) return 'none';
    return hash('sha256', bytes) === sha256 ? 'same' : 'other';
  }

  async put(name: string, _: string, file: LocalFile): Promise<void> {
    for (let turns = Math.floor(this.#random() * 4); turns > 0; turns--) await turn();
    if (this.left <= 0) throw new Error('killed');
    this.left--;
    this.names.set(name, file.bytes ?? Buffer.alloc(0));
    this.onPut();
  }

  async replace(name: string, bytes: Buffer, tag: string | undefined): Promise<string> {
    if (this.left <= 0) throw new Error('killed');
    if ((await this.read(name))?.tag !== tag) throw new Conflict(name);
    this.names.set(name, bytes);
    this.onPut();
    return hash('sha256', bytes);
  }

  async remove(name: string): Promise<void> {
    if (this.left <= 0) throw new Error('killed');
    this.names.delete(name);
    this.onPut();
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
const times = { renewMs: 1000, silentMs: 4, pollMs: 1, settleMs: 1 };
const send = (publication: Publication, destination: Memory, options: Partial<UploadOptions> = {}) =>
  upload({
    publication: new LocalPublication(publication.out, 100),
    destination,
    keepRemovedMs: 0,
    times,
    ...options,
  });

const document = (names: readonly string[], content = 0): string => JSON.stringify({ names, content });

describe('whoever reads while uploads come and are killed finds what is named', () => {
  const killed = async (publication: Publication, destination: Memory, files: number): Promise<void> => {
    destination.left = files;
    await expect(send(publication, destination, { concurrency: 1 })).rejects.toThrow('killed');
    destination.left = Number.POSITIVE_INFINITY;
  };
  const list = 'v2/a-list.json';
  const named = 'v2/b.json';

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

  it('P1: where the inventory of what is there was lost, or everything is looked at', async () => {
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

  it('P1: where what an upload that was killed was to bring never came', async () => {
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

  it('P1: with what was published a while ago, where that comes back and names something new', async () => {
    const [publication, destination] = [new Publication(), new Memory()];
    const keepRemovedMs = 1e9;
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
          for (const [name, text] of Object.entries(publication.files())) {
            expect(destination.names.get(name)?.toString(), name).toBe(text);
          }
          expect(destination.names.get(generationPath.current)?.toString()).toBe(
            publication.read(generationPath.current),
          );
        },
      ),
      { numRuns: timesFrom('DEBDEX_TEST_HISTORIES', 12) },
    );
  });
});
