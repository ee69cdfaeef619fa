import { hash } from 'node:crypto';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished, vi } from 'vitest';
import { objectDatabase } from '../../functions/cloudflare/object-database.ts';
import { ObjectMemory } from '../../functions/cloudflare/object-memory.ts';
import { readGeneration, readOrder } from '../../functions/cloudflare/publication-files.ts';
import type { PublishedFiles } from '../../functions/cloudflare/published-files.ts';
import { Taking } from '../../functions/cloudflare/taking.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { readPortions } from '../../src/catalog/portions.ts';
import { catalogFormat } from '../../src/catalog/schema.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { generationPath } from '../../src/contract/generation.ts';
import { BuiltPublication } from '../support/built-publication.ts';
import { buildCatalog, packages } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';
import { openStorage } from '../support/object-storage.ts';

/** A catalog of so many packages, published in as many portions as it has keys. */
const publish = async (
  count: number,
  describe = (at: number) => `number ${at}`,
): Promise<{ files: PublishedFiles; list: string; portions: number }> => {
  const state = path.join(temporaryFolder(), 'state');
  const stanzas = Array.from({ length: count }, (_, at) => ({
    Package: `com.example.p${at}`,
    Description: describe(at),
    Provides: `one${at}, other${at}`,
  }));
  await buildCatalog(state, [{ slug: 'one', packages: packages(...stanzas) }]);
  const built = CatalogFile.openReadOnly(catalogPath(state));
  const stored = new Map<string, Uint8Array<ArrayBuffer>>();
  const rows: Record<string, number> = {};
  const portions = [...readPortions(built)].flatMap(({ table, first, text }) => {
    const lines = text === '' ? [] : text.split('\n');
    rows[table] = (rows[table] ?? 0) + lines.length;
    const ofKeys = Map.groupBy(lines, (line) => JSON.parse(line)[0]);
    if (ofKeys.size === 0) ofKeys.set('', []);
    return [...ofKeys].map(([key, own], at) => {
      const whole = own.join('\n');
      const sha256 = hash('sha256', whole);
      const packed = gzipSync(whole);
      stored.set(generationPath.portion(sha256), new Uint8Array(packed));
      const [size, compressed_size] = [Buffer.byteLength(whole), packed.length];
      return { table, first: at === 0 ? first : key, rows: own.length, sha256, size, compressed_size };
    });
  });
  built.close();
  const read: PublishedFiles['read'] = async (file) => {
    const bytes = stored.get(file);
    return bytes && { size: bytes.length, sha256: undefined, etag: undefined, body: new Blob([bytes]).stream() };
  };
  return {
    files: { read },
    list: JSON.stringify({ format: 1, catalog_format: catalogFormat, rows, portions }),
    portions: portions.length,
  };
};

const take = async (count: number, onRead: () => void = () => {}) => {
  const { files: published, list, portions } = await publish(count);
  const files: typeof published = {
    read: (file) => {
      onRead();
      return published.read(file);
    },
  };
  const { state, sql, asked } = openStorage();
  const memory = new ObjectMemory(sql);
  const taking = new Taking(state, { memory, database: objectDatabase(sql), files });
  taking.begin({ text: `generation of ${count}`, jws: null, list });
  let events = 1;
  while (!(await taking.goOn())) events++;
  return { ...asked, events, portions, held: memory.get('held')?.text, left: memory.get('taking') };
};

/** An object that has taken a first generation. */
const takeFirst = async () => {
  const { state, sql } = openStorage();
  const memory = new ObjectMemory(sql);
  const { files, list } = await publish(5);
  const database = objectDatabase(sql);
  const taking = new Taking(state, { memory, database, files });
  const untilTaken = async () => {
    while (!(await taking.goOn()));
  };
  taking.begin({ text: 'first', jws: null, list });
  await untilTaken();
  return { memory, database, taking, list, untilTaken };
};

it('E2: takes twice as much with twice the work, in events that grow no larger', async () => {
  const [one, two] = [await take(15), await take(30)];
  for (const { held, left, events, portions } of [one, two]) {
    expect(held).toMatch(/^generation of/);
    expect(left).toBeUndefined();
    expect(portions).toBeGreaterThan(150);
    expect(events).toBeGreaterThan(portions / 24);
  }
  expect(two.portions).toBeGreaterThan(1.7 * one.portions);
  expect(two.calls).toBeLessThan(2.2 * one.calls);
  expect(two.values).toBeLessThan(2.2 * one.values);
});

it('E2: indexes in one event no more than others can wait for, however long the texts, and merges the index in parts', async () => {
  const words = (at: number) => Array.from({ length: 5000 }, (_, place) => (at * 5000 + place).toString(36)).join(' ');
  // So many that one is left for the last of four events.
  const { files, list } = await publish(37, words);
  const { state, sql } = openStorage();
  const { exec } = sql;
  let event = { characters: 0, merges: 0 };
  vi.spyOn(sql, 'exec').mockImplementation((text, ...values) => {
    if (text.startsWith('INSERT INTO search (rowid')) event.characters += String(values).length;
    if (text.includes("'merge'")) event.merges++;
    return exec(text, ...values);
  });
  const memory = new ObjectMemory(sql);
  const database = objectDatabase(sql);
  const taking = new Taking(state, { memory, database, files });
  taking.begin({ text: 'first', jws: null, list });
  const events = [event];
  while (!(await taking.goOn())) {
    event = { characters: 0, merges: 0 };
    events.push(event);
  }
  const characters = events.map((one) => one.characters);
  expect(characters.reduce((sum, one) => sum + one)).toBeGreaterThan(2 ** 19);
  // One record may be longer than what is left.
  expect(Math.max(...characters)).toBeLessThan(2 ** 18 + 2 ** 16);
  expect(events.filter(({ merges }) => merges > 0).length).toBeGreaterThan(2);
  expect(events.every(({ merges }) => merges <= 1)).toBe(true);
  expect(database.prepare<[number]>('SELECT count(DISTINCT segid) FROM search_idx').get()).toEqual([1]);
});

it('E2: takes a portion again that could not be written', async () => {
  const { files, list } = await publish(1);
  const { state, sql } = openStorage();
  const memory = new ObjectMemory(sql);
  const read: string[] = [];
  const reading: PublishedFiles = {
    read: (file) => {
      read.push(file);
      return files.read(file);
    },
  };
  const taking = new Taking(state, { memory, database: objectDatabase(sql), files: reading });
  taking.begin({ text: 'first', jws: null, list });
  const { transactionSync } = state.storage;
  vi.spyOn(state.storage, 'transactionSync').mockImplementation((work) => {
    if (read.length === 1) throw new Error('the disk is full');
    return transactionSync(work);
  });
  await expect(taking.goOn()).rejects.toThrow('the disk is full');
  while (!(await taking.goOn()));
  expect(memory.get('held')?.text).toBe('first');
  expect(read[1]).toBe(read[0]);
});

it('E2: ends an event after five minutes, where each portion is long in coming', async () => {
  let now = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => now);
  onTestFinished(() => void vi.restoreAllMocks());
  const slow = await take(5, () => {
    now += 100_000;
  });
  // The fourth ends it, and another event indexes.
  expect(slow.events).toBeGreaterThanOrEqual(slow.portions / 4);
  expect(slow.events).toBeLessThan(slow.portions / 4 + 5);
});

it('E2: goes on with another generation, and writes of it what is not there', async () => {
  const { state, sql, asked } = openStorage();
  const memory = new ObjectMemory(sql);
  const [first, second] = [await publish(15), await publish(17)];
  const files: PublishedFiles = { read: async (file) => (await first.files.read(file)) ?? second.files.read(file) };
  const taking = new Taking(state, { memory, database: objectDatabase(sql), files });
  taking.begin({ text: 'first', jws: null, list: first.list });
  await taking.goOn();
  taking.begin({ text: 'second', jws: null, list: second.list });
  while (!(await taking.goOn()));
  expect(memory.get('held')?.text).toBe('second');
  const before = asked.calls;
  taking.begin({ text: 'third', jws: null, list: second.list });
  let events = 1;
  while (!(await taking.goOn())) events++;
  expect([memory.get('held')?.text, events]).toEqual(['third', 1]);
  expect(asked.calls - before).toBeLessThan(before / 4);
});

it('E2: takes what was ordered last, where that came while a portion was read', async () => {
  const { state, sql } = openStorage();
  const memory = new ObjectMemory(sql);
  const [first, second] = [await publish(5), await publish(7, (at) => `other ${at}`)];
  let reads = 0;
  const files: PublishedFiles = {
    read: async (file) => {
      if (++reads === 3) taking.begin({ text: 'second', jws: null, list: second.list });
      // What only the first had is asked for no more.
      return (await second.files.read(file)) ?? (reads > 3 ? undefined : first.files.read(file));
    },
  };
  const database = objectDatabase(sql);
  const taking = new Taking(state, { memory, database, files });
  taking.begin({ text: 'first', jws: null, list: first.list });
  while (!(await taking.goOn()));
  expect(memory.get('held')?.text).toBe('second');
  expect(database.prepare<[number]>('SELECT count(DISTINCT package) FROM record').get()).toEqual([7]);
});

it('E2: takes all anew where what stands there is not what was published', async () => {
  const { memory, database, taking, list, untilTaken } = await takeFirst();
  database.exec("DELETE FROM record WHERE package = 'com.example.p3'");
  taking.begin({ text: 'second', jws: null, list });
  await expect(untilTaken()).rejects.toThrow(/There are 4 rows of record, and 5 were published: all is taken anew/);
  expect(memory.get('held')).toBeUndefined();
  await untilTaken();
  expect(database.prepare<[number]>('SELECT count(*) FROM record').get()).toEqual([5]);
  expect(memory.get('anew')).toBeUndefined();
});

it('E2: holds nothing with a row too many', async () => {
  const { memory, database, taking, list, untilTaken } = await takeFirst();
  const columns = database.prepare<[string]>("SELECT name FROM pragma_table_info('record')").all().flat();
  const others: Record<string, string> = { id: '999', package: "'com.example.more'" };
  const copied = columns.map((name) => others[name] ?? `"${name}"`);
  database.exec(`INSERT INTO record SELECT ${copied.join(', ')} FROM record WHERE package = 'com.example.p3'`);
  taking.begin({ text: 'second', jws: null, list });
  await expect(untilTaken()).rejects.toThrow(/There are 6 rows of record, and 5 were published/);
  await untilTaken();
  expect(memory.get('held')?.text).toBe('second');
});

it('E2: takes what was ordered while the whole of another was looked at', async () => {
  const { memory, taking, list, untilTaken } = await takeFirst();
  // All of it stands there, so that its next event does nothing but look at it.
  taking.begin({ text: 'second', jws: null, list });
  const looking = taking.goOn();
  taking.begin({ text: 'third', jws: null, list });
  expect(await looking).toBe(false);
  expect([memory.get('held'), memory.get('taking')?.text]).toEqual([undefined, 'third']);
  await untilTaken();
  expect(memory.get('held')?.text).toBe('third');
});

it('E2: holds nothing of which a document would have other bytes than were published', async () => {
  const publication = new BuiltPublication();
  publication.hasPortions = true;
  const stanzas = [1, 2, 3].map((at) => ({ Package: `com.example.p${at}`, Description: `number ${at}` }));
  await publication.publish([{ slug: 'one', packages: packages(...stanzas) }]);
  const files: PublishedFiles = {
    read: async (file) => {
      if (!publication.files(true).includes(file)) return undefined;
      const bytes = new Uint8Array(publication.read(file));
      return { size: bytes.length, sha256: undefined, etag: undefined, body: new Blob([bytes]).stream() };
    },
  };
  const order = await readOrder(files, await readGeneration(files, undefined));
  const { state, sql } = openStorage();
  const memory = new ObjectMemory(sql);
  const database = objectDatabase(sql);
  const taking = new Taking(state, { memory, database, files });
  const untilTaken = async () => {
    while (!(await taking.goOn()));
  };
  taking.begin(order);
  await untilTaken();
  expect(memory.get('held')?.text).toBe(order.text);
  database.exec("UPDATE record SET json = replace(json, 'number 3', 'number 4')");
  taking.begin(order);
  await expect(untilTaken()).rejects.toThrow(/would not have the bytes that were published/);
  expect(memory.get('held')).toBeUndefined();
});
