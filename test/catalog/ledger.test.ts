import { expect, it } from 'vitest';
import { Ledger } from '../../src/catalog/ledger.ts';
import { CatalogBuild } from '../../src/catalog/state-catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

const entry = (size: number) => ({ digest: new Uint8Array(16).fill(size), date: '2026-05-01T12:00:00.000Z', size });

it('tells what it was told last, also of a catalog that is in force until the first word', async () => {
  const state = temporaryFolder();
  const first = new CatalogBuild(state);
  const before = new Ledger(first);
  before.set('a.json', entry(1));
  before.set('b.json', entry(2));
  await first.publish();
  const ledger = new Ledger(new CatalogBuild(state));
  const told = (file: string) => [ledger.sizeOf(file), ledger.get(file)?.digest[0]];
  expect([told('a.json'), told('c.json'), ledger.count]).toEqual([[1, 1], [undefined, undefined], 2]);
  ledger.set('a.json', entry(3));
  expect([told('a.json'), told('b.json'), ledger.count]).toEqual([[3, 3], [2, 2], 2]);
  ledger.delete('b.json');
  ledger.set('c.json', entry(4));
  expect([told('b.json'), told('c.json'), ledger.count]).toEqual([[undefined, undefined], [4, 4], 2]);
  expect(ledger.pathsThat((file) => file > 'b')).toEqual(['c.json']);
});
