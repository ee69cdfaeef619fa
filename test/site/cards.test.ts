import { describe, expect, it } from 'vitest';
import { stageOf } from '../../src/contract/version-stage.ts';
import { hueOf } from '../../src/results/hue.ts';
import { lettersOf } from '../../src/results/monogram.ts';
import { notchesOf } from '../../src/results/notches.ts';
import { rowMarkup, titleMarkup } from '../../src/results/row.ts';

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
    ['☀️', '#'],
    ['☀️ Sunny Days', 'SD'],
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
    'Rootful',
    'RootHide',
  ]);
  expect(notchesOf(['darwin-amd64'])).toEqual([]);
});

it('a name breaks at its capitals where it is longer than twelve letters, and at no other place', () => {
  const nameOf = (name: string) => {
    const card = {
      id: 'a',
      name,
      version: '1',
      summary: '',
      icon: undefined,
      paid: false,
      architectures: [],
      place: '',
      runs: undefined,
    };
    return /class="name"[^>]*>(.*?)<\/a>/.exec(rowMarkup(card))?.[1];
  };
  expect(nameOf('ActivatorHomeButtonCrashFix')).toBe('Activator<wbr>Home<wbr>Button<wbr>Crash<wbr>Fix');
  expect(nameOf('SnowBoard and EzSecretSettings')).toBe('SnowBoard and Ez<wbr>Secret<wbr>Settings');
  expect(nameOf('org.example.lampyrid.glimmer')).toBe('org.<wbr>example.<wbr>lampyrid.<wbr>glimmer');
  expect(nameOf('LSScreenshotLimit')).toBe('LS<wbr>Screenshot<wbr>Limit');
  expect(nameOf('daniel63194/Infinite')).toBe('daniel63194/<wbr>Infinite');
  expect(nameOf('com.is.name')).toBe('com.is.name');
  expect(nameOf('a...............................b.')).toBe('a...............................<wbr>b.');
  expect(nameOf('<b>aaaaaaaaaaaaaaaaBbbb</b>')).toBe('&lt;b&gt;aaaaaaaaaaaaaaaa<wbr>Bbbb&lt;/b&gt;');
});

it.each([
  ['1.0.2-89+debug', 'Debug build'],
  ['0.6.12~debug1', 'Debug build'],
  ['0.1~alpha0-1', 'Alpha'],
  ['2.1~beta1', 'Beta'],
  ['1.3.0~b', 'Beta'],
  ['1.2-beta', 'Beta'],
  ['2.0~rc1', 'Release candidate'],
  ['1.0rc', 'Release candidate'],
  ['1.0-1+src', undefined],
  ['1.0-ios-arc', undefined],
  ['1:0~20210608.7ffffff', 'Snapshot'],
  ['0.0.3~2', 'Pre-release'],
  ['1.2.0-test', 'Pre-release'],
  ['1.5.4-2', undefined],
  ['1.0~bpo12+1', undefined],
  ['2.0b-1', undefined],
  ['3.1-device', undefined],
])('a version that is not released is marked: %s %s', (version, stage) => {
  expect(stageOf(version)).toBe(stage);
});

it('breaks shorter words in the title of a page, whose letters are larger, and nothing in what fits', () => {
  expect(titleMarkup('LaunchInSafeMode')).toBe('Launch<wbr>In<wbr>Safe<wbr>Mode');
  expect(titleMarkup('CustomControlCentre 2')).toBe('Custom<wbr>Control<wbr>Centre 2');
  expect(titleMarkup('NTSpeedAuto')).toBe('NT<wbr>Speed<wbr>Auto');
  expect(titleMarkup('AdventureOwl Repo')).toBe('Adventure<wbr>Owl Repo');
  expect(titleMarkup('SnowBoard <b>')).toBe('SnowBoard &lt;b&gt;');
});
