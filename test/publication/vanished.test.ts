import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { changesFolder, generationPath, type PackageChange } from '../../src/contract/generation.ts';
import { readVanished } from '../../src/publication/vanished.ts';
import { temporaryFolder } from '../support/folder.ts';

const removed = (id: string, version: string, repository = 'one'): PackageChange => ({
  ...{ package_id: id, repository, change: 'removed', version: null, previous_version: version },
});

const write = (out: string, number: number, text: string): void => {
  const file = path.join(out, generationPath.changes(number));
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
};

it('what vanished of a repository is told once, as it last was, the latest first, and of no repository without end', () => {
  const out = temporaryFolder();
  const changes = (...packages: PackageChange[]) => JSON.stringify({ packages });
  write(out, 9, changes(removed('a', '1.0'), removed('old', '1.0')));
  write(
    out,
    10,
    changes(removed('a', '2.0'), removed('b', '1.0'), { ...removed('kept', '1.0'), change: 'updated', version: '2.0' }),
  );
  write(out, 11, 'damaged');
  write(out, 12, changes(removed('b', '2.0')));
  write(out, 14, '{}');
  const many = Array.from({ length: 30 }, (_, index) => removed(`m${index}`, '1.0', 'two'));
  write(out, 13, changes(...many));
  const vanished = readVanished(out, [removed('pending', '3.0')]);
  expect(vanished.one).toEqual([
    { id: 'pending', version: '3.0' },
    { id: 'b', version: '2.0' },
    { id: 'a', version: '2.0' },
    { id: 'old', version: '1.0' },
  ]);
  // One more than a page lists, so that it can say that there are more.
  expect(vanished.two?.map(({ id }) => id)).toEqual(many.slice(0, 25).map(({ package_id }) => package_id));
  expect(readVanished(temporaryFolder(), [])).toEqual({});
});

it('what came back takes no place of what did not', () => {
  const out = temporaryFolder();
  const many = Array.from({ length: 60 }, (_, index) => removed(`p${index}`, '1.0'));
  write(out, 1, JSON.stringify({ packages: many }));
  const back = many.slice(0, 30).map((one) => ({ ...one, change: 'added', version: '1.0', previous_version: null }));
  write(out, 2, JSON.stringify({ packages: back }));
  expect(readVanished(out, []).one?.map(({ id }) => id)).toEqual(many.slice(30, 55).map((one) => one.package_id));
  // One of them vanished once more.
  expect(readVanished(out, [removed('p3', '2.0')]).one?.[0]).toEqual({ id: 'p3', version: '2.0' });
});

it('what vanished is read of the hundred newest lists, none longer than any that is worth it, and of nothing beside them', () => {
  const out = temporaryFolder();
  const changes = (...packages: PackageChange[]) => JSON.stringify({ packages });
  for (let number = 1; number <= 101; number++) write(out, number, '{}');
  write(out, 1, changes(removed('old', '1.0')));
  write(out, 2, changes(removed('new', '1.0')));
  const length = 4_000_000;
  write(out, 3, changes(removed('long', '1.0')).padEnd(length, ' '));
  write(out, 4, changes(removed('longer', '1.0')).padEnd(length + 1, ' '));
  // As a program leaves beside them that makes copies.
  for (const name of ['5.json.br', 'x5.json', '5.txt'])
    writeFileSync(path.join(out, changesFolder, name), changes(removed(name, '1.0')));
  expect(readVanished(out, []).one?.map(({ id }) => id)).toEqual(['long', 'new']);
});
