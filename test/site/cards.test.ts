import { describe, expect, it } from 'vitest';
import { hueOf, lettersOf } from '../../src/site/monogram.ts';
import { notchesOf } from '../../src/site/notches.ts';

describe('the letters of a tile', () => {
  it.each([
    ['SnowBoard', 'SB'],
    ['Choicy', 'Ch'],
    ['alpha library', 'AL'],
    ["opa334's Repo", 'OR'],
    ['NSCake 🍰', 'NC'],
    ['x', 'X'],
    ['微信助手', '微'],
    ['Élan', 'Él'],
    ['com.example.tweak', 'CE'],
    ['🍰', '#'],
    ['', '#'],
    ['"><img src=x>', 'IS'],
  ])('%s has %s', (name, letters) => {
    expect(lettersOf(name)).toBe(letters);
  });

  it('H7: are found in time that does not grow with the name', () => {
    const start = process.cpuUsage().user;
    for (const letter of ['a', 'A', "a's", '-']) expect(lettersOf(letter.repeat(300_000)).length).toBeLessThan(3);
    expect(process.cpuUsage().user - start).toBeLessThan(2_000_000);
  });
});

it('the same slug has the same of seven hues everywhere, and all are had', () => {
  const hues = Array.from({ length: 100 }, (_, index) => hueOf(`repository-${index}`));
  expect([...new Set(hues)].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(hueOf('opa334')).toBe(hueOf('opa334'));
});

it('each bootstrap has a notch at its place, and other systems have none', () => {
  expect(notchesOf(['iphoneos-arm64e', 'all', 'iphoneos-arm']).map(({ word }) => word)).toEqual([
    'rootful',
    'RootHide',
  ]);
  expect(notchesOf(['darwin-amd64'])).toEqual([]);
});
