import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isOneScript, normaliseAccountName } from '../../functions/gateway/account-name.ts';
import { maskUdid } from '../../functions/gateway/masked-udid.ts';
import { toReadable } from '../../functions/gateway/readable-text.ts';
import { anyCharacter } from '../support/any-character.ts';

const bidi = ['\u061c', '\u200e', '\u200f', ...'\u202a\u202b\u202c\u202d\u202e', ...'\u2066\u2067\u2068\u2069'];

test('T4 no bidirectional, control or formatting character is left in what a person reads', () => {
  for (const character of [...bidi, '\u0000', '\u001b', '\u0085', '\u00ad', '\u200b', '\ufeff', '\ue000', '\ud800']) {
    expect(toReadable(`a${character}b`), character.codePointAt(0)?.toString(16)).toBe('ab');
  }
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const readable = toReadable(text);
      expect(readable).not.toMatch(/[\p{Bidi_Control}\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|\p{Mark}{4}|^\s|\s$|\s\s/u);
      expect(toReadable(readable)).toBe(readable);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['iPhone12,1', 'iPhone12,1'],
  [' My  iPad \u2028 Pro ', 'My iPad Pro'],
  ['Zoë’s 📱 👩‍💻', 'Zoë’s 📱 👩‍💻'],
  ['می‌خواهم', 'می‌خواهم'],
  ['האייפון שלי', 'האייפון שלי'],
  [`Z${'\u0301'.repeat(200)}`, `Z${'\u0301'.repeat(3)}`],
  ['\u200d\u200d', ''],
  ['\u3164\u2800', ''],
  ['\u202e', ''],
  ['x'.repeat(300), 'x'.repeat(256)],
  ['📱'.repeat(300), '📱'.repeat(256)],
])('%j is shown as %j', (text, readable) => {
  expect(toReadable(text)).toBe(readable);
});

test('T4 a name whose letters are of several scripts is no name to add', () => {
  for (const name of [
    'alice',
    'zoë',
    'алиса',
    'αλίκη',
    '小林',
    'こばやしタロウ',
    'user小林',
    '김alice',
    'a.b-c_d+1@x',
  ]) {
    expect(isOneScript(normaliseAccountName(name) ?? ''), name).toBe(true);
  }
  // Cyrillic а, о and е, Greek ο, Armenian օ, a Bengali digit that looks like 8, and Katakana among Hangul.
  for (const name of ['аlice', 'bоb', 'adminе', 'rοοt', 'bօb', 'user৪', '김タ', 'алиcа', 'Аlice']) {
    expect(isOneScript(normaliseAccountName(name) ?? ''), name).toBe(false);
  }
});

test('T4 a name holds nothing that cannot be seen, or another account would look the same', () => {
  // A combining grapheme joiner, Hangul fillers, a variation selector, vowels of Khmer that are never written.
  for (const unseen of ['\u034f', '\u115f', '\u3164', '\ufe0f', '\u17b4', '\u{e0100}', '\u200d']) {
    expect(normaliseAccountName(`ali${unseen}ce`), unseen.codePointAt(0)?.toString(16)).toBeUndefined();
  }
  expect(normaliseAccountName('मीना')).toBe('मीना');
});

test('T9 of a device identifier at most a quarter is kept', () => {
  const masked = ['', 'abcd', 'a'.repeat(15), `${'a'.repeat(12)}wxyz`, `${'a'.repeat(36)}wxyz`].map(maskUdid);
  expect(masked).toEqual(['••••', '••••', '••••', '••••wxyz', '••••wxyz']);
});
