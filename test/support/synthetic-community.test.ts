import { describe, expect, it } from 'vitest';
import { createRecordReader } from '../../src/apt/record-reader.ts';
import { alterIndex } from '../bench/altered-index.ts';
import { composeCommunity, type SyntheticRepository } from './synthetic-community.ts';

const plan = { seed: 3, repositories: 23, packages: 1500, versions: 3750 };

/** What the parser of indexes makes of a text. */
const read = (text: string | Uint8Array) => {
  const records: { package: string; version: string; name: string | null; sha256: string | null }[] = [];
  const findings = new Map<string, number>();
  const reader = createRecordReader({
    record: (stanza) => records.push({ ...stanza, package: `${stanza.package}` }),
    finding: (code) => findings.set(code, (findings.get(code) ?? 0) + 1),
  });
  reader.write(Buffer.from(text));
  reader.end();
  return { records, findings };
};

const readAll = (repositories: readonly SyntheticRepository[]) => {
  const each = repositories.map(({ packages }) => read(packages));
  const records = each.flatMap((one) => one.records);
  return { records, codes: new Set(each.flatMap(({ findings }) => [...findings.keys()])) };
};

describe('a synthetic community', () => {
  const repositories = [...composeCommunity(plan)];

  it('is the same for the same seed, and another for another', () => {
    expect([...composeCommunity(plan)]).toEqual(repositories);
    const [other] = composeCommunity({ ...plan, seed: 4 });
    expect(other?.packages).not.toBe(repositories[0]?.packages);
  });

  it('has as many repositories, packages and versions as were asked for, no two under one identifier', () => {
    expect(repositories).toHaveLength(plan.repositories);
    expect(new Set(repositories.map(({ slug }) => slug)).size).toBe(plan.repositories);
    const owners = new Map<string, Set<string>>();
    for (const { slug, packages, packageCount } of repositories) {
      const names = new Set(read(packages).records.map((record) => record.package));
      expect(names.size, slug).toBe(packageCount);
      for (const name of names) owners.set(name, (owners.get(name) ?? new Set()).add(slug));
    }
    expect(owners.size).toBe(plan.packages);
    expect([...owners.values()].every(({ size }) => size === 1)).toBe(true);
    const versions = repositories.reduce((sum, { versionCount }) => sum + versionCount, 0);
    expect(versions).toBe(plan.versions);
  });

  it('has fields and faults about as often as real repositories had them when they were counted', () => {
    const { records, codes } = readAll(repositories);
    const share = (of: (record: (typeof records)[number]) => boolean) => records.filter(of).length / records.length;
    expect(share(({ name }) => name === null)).toBeCloseTo(0.165, 1);
    expect(share(({ sha256 }) => sha256 === null)).toBeCloseTo(0.048, 1);
    expect(repositories.filter(({ release }) => 'Date' in release).length).toBeLessThan(plan.repositories / 3);
    expect(codes.size).toBeGreaterThan(3);
  });
});

describe('an altered index', () => {
  const index = [
    'Package: libc6',
    'Source: glibc (2.36-9)',
    'Version: 2.36-9+deb12u1',
    'Architecture: amd64',
    'Maintainer: GNU Libc Maintainers <libc@lists.example>',
    'Description: GNU C Library',
    ' Contains the libraries.',
    'Homepage: https://www.gnu.example/',
    'Section: libs',
    'Size: 2757056',
    'SHA256: 35fa3cf0ffb9bcc4c2d8cbc3d4bdd41f7a1f2c96e2a66f4eda6f0ba6a3d6bb45',
    '',
    'Package: perl',
    'Version: 5.36',
    'Architecture: amd64',
    'Depends: libc6 (>= 2.36), libc6:any | awk, gone2',
    '',
  ].join('\n');

  const fieldsOf = (copy: number): string[] => alterIndex(Buffer.from(index), copy).toString().split('\n');
  const valueAt = (lines: readonly string[], at: number) => lines[at]?.replace(/^[^:]*: /, '') ?? '';

  it('shares neither name nor version, person, text or hash with the index or with another copy', () => {
    const copies = [index.split('\n'), fieldsOf(0), fieldsOf(1), fieldsOf(19)];
    for (const at of [0, 2, 4, 5, 6, 7, 10, 12]) {
      expect(new Set(copies.map((lines) => valueAt(lines, at))).size, index.split('\n')[at]).toBe(copies.length);
    }
    expect(fieldsOf(1)).toEqual(fieldsOf(1));
    expect(() => alterIndex(Buffer.from(index), 20)).toThrow(RangeError);
  });

  it('is read like the index: what depends on its packages still does, and what is no text stays', () => {
    const lines = fieldsOf(5);
    const [name, other] = [valueAt(lines, 0), valueAt(lines, 12)];
    expect(name).toMatch(/^[a-z]{4}\d[a-z]$/);
    expect(other).not.toContain(name);
    expect(lines[15]).toMatch(
      new RegExp(`^Depends: ${name} \\(>= \\d\\.\\d\\d\\), ${name}:any \\| [a-z]{4}, [a-z]{4}\\d[a-z]$`),
    );
    expect(lines.slice(3, 4)).toEqual(['Architecture: amd64']);
    expect(lines.slice(8, 10)).toEqual(['Section: libs', 'Size: 2757056']);
    expect(lines[7]).toMatch(/^Homepage: https:\/\//);
    expect(lines[10]).toMatch(/^SHA256: [0-9a-f]{64}$/);
    expect(lines[1]).toMatch(/^Source: [a-z]{6} \(\d\.\d\d-\d\)$/);
  });
});
