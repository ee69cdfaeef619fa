import { expect, it } from 'vitest';
import { encodeDigit, encodeNumbers, type IndexEntry } from '../../src/results/file-index.ts';
import { FileIndexSearch } from '../../src/results/file-index-search.ts';

it('keeps what was asked for last, and not all that a page ever read', async () => {
  const packages = 1000;
  const names = Array.from({ length: packages }, (_, number) => `${number}`.padStart(8, '0'));
  const entry: IndexEntry = {
    ...{ packages, words: [], heads: [], facets: '', orders: {} },
    rows: names.map((name) => name + encodeDigit(1)).join(''),
  };
  let read: string[] = [];
  const index = new FileIndexSearch(entry, async (_, name) => {
    read.push(name);
    return [{ id: name }];
  });
  for (let number = 1; number < packages; number++) await index.rows([0, number]);
  expect(read.toSorted(), 'each once, however often the first was asked for').toEqual(names);
  read = [];
  await index.rows(Array.from({ length: 100 }, (_, number) => packages - 1 - number));
  expect(read).toEqual([]);
  expect(await index.rows([0, 5])).toEqual([{ id: '00000000' }, { id: '00000005' }]);
  expect(read).toEqual(['00000005']);
});

it('sorts by the highest value, and by name where it is the same, whatever the order was', async () => {
  const entry: IndexEntry = {
    ...{ packages: 4, words: [], heads: [], rows: '', facets: '' },
    orders: { newest: 'days' },
  };
  const index = new FileIndexSearch(entry, async () => encodeNumbers([1, 3, 2, 3]));
  expect(await index.sort([3, 0, 1, 2], 'newest')).toEqual([1, 3, 2, 0]);
});
