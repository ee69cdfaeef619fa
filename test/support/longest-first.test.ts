import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { LongestFirst, longest, waiting } from './longest-first.ts';

const tests = path.join(import.meta.dirname, '..');
type Files = Parameters<LongestFirst['sort']>[0];

const [first = '', second = '', third = '', fourth = ''] = longest;
const [waiter = '', other = '', last = ''] = waiting;
const apart = new Set([fourth, 'site/favicon.test.ts']);
const projectOf = (name: string): string =>
  apart.has(name) ? 'system-apart' : name.startsWith('apt/') || name === last ? 'unit' : 'system';

/** The order of these files, by path below the tests' folder, if nothing is known about earlier runs. */
const orderOf = async (names: readonly string[], sequence: { shuffle: boolean; seed?: number }): Promise<string[]> => {
  const context = { config: { sequence }, cache: { getTestSpecificationResult: () => undefined } };
  const files = names.map((name) => ({
    moduleId: path.join(tests, name),
    project: { name: projectOf(name), config: { isolate: apart.has(name), sequence: { groupOrder: 0 } } },
  }));
  const sorted = await new LongestFirst(context as never).sort(files as unknown as Files);
  return sorted.map(({ moduleId }) => path.relative(tests, moduleId));
};

const names = ['apt/stanza.test.ts', third, 'apt/urls.test.ts', first, 'gateway/client.test.ts', second];

it('begins with the files that take longest, in their order, and ends with those of the unit tier', async () => {
  const order = await orderOf(names, { shuffle: false });
  expect(order.slice(0, 4)).toEqual([first, second, third, 'gateway/client.test.ts']);
  expect(order.slice(4).sort()).toEqual(['apt/stanza.test.ts', 'apt/urls.test.ts']);
});

it('puts one file that waits before each three that work, the longest first', async () => {
  const order = await orderOf([other, ...names, waiter], { shuffle: false });
  expect(order.filter((name) => !waiting.includes(name))).toEqual(await orderOf(names, { shuffle: false }));
  expect(order.indexOf(waiter)).toBe(0);
  expect(order.indexOf(other)).toBe(4);
  expect(await orderOf([other, waiter], { shuffle: false })).toEqual([waiter, other]);
});

it('leaves no project before its last file, for one that waits neither: its processes would end and start again', async () => {
  const order = await orderOf([...names, last, waiter, ...apart], { shuffle: false });
  // Beginning with it ends no process.
  expect(order[0]).toBe(fourth);
  const projects = order.slice(1).map(projectOf);
  expect(projects.filter((name, place) => name !== projects[place - 1])).toEqual(['system', 'system-apart', 'unit']);
  expect(order.indexOf(last)).toBe(order.findIndex((name) => projectOf(name) === 'unit'));
});

it('knows files that are there', () => {
  expect([...longest, ...waiting].filter((name) => !existsSync(path.join(tests, name)))).toEqual([]);
});

it('leaves the order of all of them to the seed where it is to be chance', async () => {
  const drawn = (seed: number) => orderOf(names, { shuffle: true, seed });
  expect(await drawn(1)).toEqual(await drawn(1));
  expect((await drawn(1)).toSorted()).toEqual(names.toSorted());
  const orders = await Promise.all(Array.from({ length: 20 }, (_, seed) => drawn(seed)));
  expect(new Set(orders.map(([begin]) => begin)).size).toBeGreaterThan(3);
});
