import { expect, it } from 'vitest';
import type { Inventory } from '../../src/publication/published-inventory.ts';
import type { Destination } from '../../src/uploading/destination.ts';
import { type Found, makePlan } from '../../src/uploading/plan.ts';

const destination = {
  ...{ namesOf: (path: string) => [path], everyNameOf: (path: string) => [path], formOf: () => 'file' },
} as unknown as Destination;

const file = 'v2/a.json';
const holding = (digest?: string): Inventory => new Map(digest === undefined ? [] : [[file, digest]]);
/** What is to become of a file with the digest "wanted"; nothing is known but what is said. */
const judge = (found: Partial<Found>, isDoubtful = false) => {
  const known = { base: holding(), interrupted: [], retired: new Set<string>(), forms: new Set(['file']), ...found };
  return makePlan(holding('wanted'), known, destination, isDoubtful).planned[0]?.verdict;
};

it('P1: a file that is known to exist there is not sent, one that may exist is looked for, and one that cannot exist is new', () => {
  expect(judge({ base: holding('wanted') })).toBeUndefined();
  expect(judge({ base: holding('wanted'), forms: new Set(['other']) })).toBe('look');
  expect(judge({ base: holding('wanted') }, true)).toBe('look');
  expect(judge({ base: holding('other') })).toBe('other');
  expect(judge({})).toBe('new');
  expect(judge({ base: undefined })).toBe('new');
});

it('P1: a file that is not in force, but that readers may have seen, is sent whatever exists there', () => {
  expect(judge({ retired: new Set([file]) })).toBe('look and send');
  expect(judge({ interrupted: [holding('other')] })).toBe('look and send');
  expect(judge({ base: holding('third'), interrupted: [holding('other')] })).toBe('other');
  expect(judge({ base: holding('wanted'), interrupted: [holding('other')] })).toBe('other');
});

it('P1: among files of uploads that never ended, the latest is trusted if one can look for it', () => {
  expect(judge({ interrupted: [holding('wanted')] })).toBe('look');
  expect(judge({ base: holding('other'), interrupted: [holding('wanted')] })).toBe('look');
  expect(judge({ base: holding('other'), interrupted: [holding('wanted'), holding()] })).toBe('look');
  expect(judge({ base: holding('third'), interrupted: [holding('wanted'), holding('other')] })).toBe('other');
  expect(judge({ base: holding('wanted'), interrupted: [holding('wanted'), holding()] })).toBeUndefined();
});

it('P1: names that files had when they were sent in other forms, and have no more, are to be removed', () => {
  const named = { ...destination, everyNameOf: (path: string) => [path, `${path} as an address`] };
  const goneOf = (form: string) => {
    const found = { base: holding('wanted'), interrupted: [], retired: new Set<string>(), forms: new Set([form]) };
    return [...makePlan(holding('wanted'), found, named, false).gone];
  };
  expect(goneOf('file')).toEqual([]);
  expect(goneOf('address')).toEqual([[`${file} as an address`, file]]);
});

it('P1: a name that one file has is never given to another that could be spelled so, nor taken from it', () => {
  const spell = (path: string) => [path, path.replace('.json', '')].flatMap((name) => [name, name.replace('+', ' ')]);
  const spelling = {
    ...destination,
    namesOf: (path: string, isTaken: (name: string) => boolean) =>
      [...new Set(spell(path))].filter((name) => path.startsWith(name) || !isTaken(name)),
    everyNameOf: spell,
  };
  const blank: [string, string] = ['v2/a b.json', '1'];
  const plus: [string, string] = ['v2/a+b.json', '2'];
  const found = { interrupted: [], retired: new Set<string>(), forms: new Set(['file']) };
  const namesIn = (...files: [string, string][]) =>
    makePlan(new Map(files), { ...found, base: new Map() }, spelling, false).planned.map(({ names }) => names);
  expect(namesIn(plus)).toEqual([['v2/a+b.json', 'v2/a b.json', 'v2/a+b', 'v2/a b']]);
  expect(namesIn(blank, plus)).toEqual([
    ['v2/a b.json', 'v2/a b'],
    ['v2/a+b.json', 'v2/a+b'],
  ]);
  const goneFrom = (gone: string, left: string) => {
    const base = new Map([[gone, '3'] as const, [left, '4'] as const]);
    return [...makePlan(new Map([[left, '4']]), { ...found, base }, spelling, false).gone.keys()];
  };
  expect(goneFrom('v2/a+b.json', 'v2/a b.json')).toEqual(['v2/a+b.json', 'v2/a+b']);
  expect(goneFrom('v2/c.json', 'v2/c')).toEqual(['v2/c.json']);
});
