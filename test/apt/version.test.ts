import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareVersions, isValidVersion } from '../../src/apt/version.ts';

const vectors = new URL('../../../shared/vectors/', import.meta.url);

const rows = (name: string): string[][] => {
  const lines = readFileSync(new URL(name, vectors), 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.split('\t'));
};

const holds: Record<string, (order: number) => boolean> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '=': (order) => order === 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};
const reversed: Record<string, string> = { '<': '>', '<=': '>=', '=': '=', '>': '<', '>=': '<=' };

const version = fc.oneof(
  fc.stringMatching(/^([0-9]{1,2}:)?[0-9][a-z0-9.+~-]{0,6}(-[a-z0-9.+~]{1,3})?$/),
  fc.string({ unit: fc.constantFrom('0', '1', '9', 'a', 'Z', '~', '+', '-', '.', ':', ' '), maxLength: 8 }),
);

describe.skipIf(!existsSync(vectors))('the version vectors (in ../shared)', () => {
  it('V1: every pair compares as dpkg says, both ways round', () => {
    const wrong = rows('versions.tsv').filter(
      ([a = '', op = '', b = '']) =>
        !holds[op]?.(compareVersions(a, b)) || !holds[reversed[op] ?? '']?.(compareVersions(b, a)),
    );
    expect(wrong).toEqual([]);
    expect(rows('versions.tsv').length).toBeGreaterThan(200);
  });

  it('says of every version whether dpkg takes it', () => {
    const wrong = rows('version-validity.tsv').filter(
      ([text = '', verdict]) => isValidVersion(text.replaceAll('\\t', '\t')) !== (verdict === 'valid'),
    );
    expect(wrong).toEqual([]);
  });
});

it('takes an epoch up to the greatest that dpkg can store, an int of C', () => {
  expect(isValidVersion('2147483647:1')).toBe(true);
  expect(isValidVersion('2147483648:1')).toBe(false);
});

describe('compareVersions', () => {
  it('orders epochs, tildes, letters and revisions', () => {
    const sorted = [
      '1.0~~',
      '1.0~rc1',
      '1.0',
      '1.0-0.1',
      '1.0-1',
      '1.0a',
      '1.0+debug',
      '1.0.1',
      '1.0_1',
      '1.10',
      '1:0.1',
    ];
    expect([...sorted].reverse().sort(compareVersions)).toEqual(sorted);
    expect(compareVersions('0:1.00', '1.0-0')).toBe(0);
  });

  it('V1: is antisymmetric', () => {
    fc.assert(
      fc.property(
        version,
        version,
        (a, b) => Math.sign(compareVersions(a, b)) + Math.sign(compareVersions(b, a)) === 0,
      ),
      { numRuns: 2000 },
    );
  });

  it('V1: is transitive', () => {
    fc.assert(
      fc.property(version, version, version, (...three) => {
        const [a, b, c] = three.sort(compareVersions) as [string, string, string];
        return compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0 && compareVersions(a, c) <= 0;
      }),
      { numRuns: 2000 },
    );
  });

  it('V1: compares digit runs of 100,000 characters, many times over', () => {
    const long = '9'.repeat(100_000);
    const zeros = '0'.repeat(100_000);
    for (let round = 0; round < 20; round += 1) {
      expect(compareVersions(`1.${long}8`, `1.${long}9`)).toBeLessThan(0);
      expect(compareVersions(`1.${zeros}1`, '1.1')).toBe(0);
      expect(compareVersions(`${long}:1`, '9:1')).toBeGreaterThan(0);
      expect(compareVersions('a0'.repeat(50_000), 'a00'.repeat(50_000))).toBe(0);
      expect(isValidVersion(`1${'-'.repeat(100_000)}!`)).toBe(false);
    }
  });
});
