import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRepositoryFindings } from '../../src/catalog/reading.ts';
import { limits } from '../../src/contract/limits.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { buildCatalog, openBuild, type SourceRepository } from '../support/catalog.ts';
import { emissionOf } from '../support/emission.ts';
import { temporaryFolder } from '../support/folder.ts';

const now = new Date('2026-05-02T00:00:00Z');

const stanza = (name: string, version: string, rest = ''): string =>
  `Package: ${name}\nVersion: ${version}\nArchitecture: all\nFilename: a.deb\nSize: 1\n${rest}\n`;

const many = (count: number, compose: (number: number) => string): string =>
  Array.from({ length: count }, (_, number) => compose(number)).join('');

/** Publishes these repositories; returns the documents by path, what was counted, and the findings of each. */
const publish = async (repositories: readonly SourceRepository[], folder = temporaryFolder()) => {
  const { catalog, update } = await openBuild(folder, repositories, now);
  const out = path.join(folder, 'dist');
  const emission = emissionOf({ catalog, update }, out, { now });
  await emission.write();
  const findings = readRepositoryFindings(catalog.database);
  await catalog.publish();
  const file = (document: string) => path.join(out, document);
  return {
    read: (document: string) => JSON.parse(readFileSync(file(document), 'utf8')),
    size: (document: string) => statSync(file(document)).size,
    count: { ...emission.count },
    findings: (slug: string) => findings.find((one) => one.slug === slug)?.findings ?? [],
    folder,
  };
};

const good: SourceRepository = { slug: 'good', packages: stanza('common', '1') + stanza('own', '1') };

describe('an index of one package in a hundred thousand versions', () => {
  it('C7: is published up to the limit, with a finding that names it, and costs no other repository a record', async () => {
    const versions = limits.recordsPerPackage + 3000;
    const bad: SourceRepository = { slug: 'bad', packages: many(versions, (number) => stanza('common', `${number}`)) };
    const { read, findings } = await publish([good, bad]);
    const { count, data } = read(documentPath.package('common'));
    expect([count, data.length]).toEqual([limits.recordsPerPackage + 1, count]);
    // Lookup order: the latest ones first, then by ranking, version and slug.
    const order = data.map((one: { version: string }) => one.version);
    expect(order.slice(0, 3)).toEqual([`${versions - 1}`, '1', `${versions - 2}`]);
    expect(order.at(-1)).toBe('3000');
    expect(read(documentPath.repositoryPackages('bad')).count).toBe(limits.recordsPerPackage);
    expect(read(documentPath.repositoryPackages('good')).count).toBe(2);
    expect(findings('bad')).toEqual([
      { code: 'versions-too-many', count: 3000, example: 'limit recordsPerPackage: 2,000, from common 2000 all' },
    ]);
    expect(findings('good')).toEqual([]);
  });

  it('C13: keeps bytes and date where it did not change, also where the ledger does not know it', async () => {
    const long = { slug: 'bad', packages: many(300, (number) => stanza('common', `${number}`)) };
    const first = await publish([long]);
    const before = first.read(documentPath.package('common'));
    await buildCatalog(temporaryFolder(), [long]);
    const other: SourceRepository = { ...long, release: 'Label: x\n' };
    const second = await publish([other], first.folder);
    expect(second.count.written).toBeGreaterThan(0);
    expect(second.read(documentPath.package('common')).data).toHaveLength(before.data.length);
    const third = await publish([other], first.folder);
    expect(third.count.written).toBe(0);
  });
});

describe('what each record says of its repository', () => {
  it('C7: is bounded, however long its sections are', async () => {
    const packages = many(1000, (number) => stanza(`p${number}`, '1', `Section: ${'s'.repeat(900)}${number}\n`));
    const { read, size, findings } = await publish([{ slug: 'bad', packages }]);
    const { sections } = read(documentPath.repository('bad')).data;
    expect(sections.length).toBeGreaterThan(10);
    const [record] = read(documentPath.package('p0')).data;
    const bytes = Buffer.byteLength(JSON.stringify(record.repository));
    expect(bytes).toBeGreaterThan(limits.embeddedBytes - 2000);
    expect(bytes).toBeLessThanOrEqual(limits.embeddedBytes);
    expect(size(documentPath.repositoryPackages('bad'))).toBeLessThan(1000 * (limits.embeddedBytes + 4000));
    expect(findings('bad')).toMatchObject([{ code: 'sections-too-many', count: 1000 - sections.length }]);
    expect(findings('bad')[0]?.example).toContain('limit embeddedBytes: 16,384 bytes');
  });

  it('C7: leaves room for the sections, whatever the Release says', async () => {
    const release = ['Origin', 'Description', 'Version', 'Label'].map((field) => `${field}: ${'"'.repeat(9000)}\n`);
    const packages = stanza('a', '1', 'Section: Tweaks\n');
    const { read } = await publish([{ slug: 'bad', release: release.join(''), packages }]);
    const [{ repository }] = read(documentPath.package('a')).data;
    expect(Buffer.byteLength(JSON.stringify(repository))).toBeLessThanOrEqual(limits.embeddedBytes);
    expect(repository.sections).toEqual(['Tweaks']);
  });
});

describe('what is published of a repository', () => {
  const usual = { ...limits };

  it('C7: is bounded in bytes, and what is over is left out with a finding', async () => {
    Object.assign(limits, { publishedBytes: 100_000 });
    try {
      const packages = many(200, (number) => stanza(`p${number}`, '1'));
      const { read, size, findings } = await publish([good, { slug: 'bad', packages }]);
      const list = documentPath.repositoryPackages('bad');
      const { count } = read(list);
      expect(size(list)).toBeLessThan(100_000);
      expect(size(list)).toBeGreaterThan(90_000);
      expect(read(documentPath.repository('bad')).data.package_count).toBe(count);
      expect(findings('bad')).toMatchObject([{ code: 'publication-too-large', count: 200 - count }]);
      expect(read(documentPath.repositoryPackages('good')).count).toBe(2);
    } finally {
      Object.assign(limits, usual);
    }
  });

  it('C7: counts what replaces a record in its place', async () => {
    Object.assign(limits, { packageBytes: 6000 });
    try {
      const long = (size: number) => stanza('a', '1', `Description: ${'x'.repeat(size)}\n`);
      const { read } = await publish([{ slug: 'bad', packages: long(3000) + long(4000) + long(3500) + long(9000) }]);
      const { data } = read(documentPath.package('a'));
      expect(data.map(({ description }: { description: string }) => description.length)).toEqual([3500]);
    } finally {
      Object.assign(limits, usual);
    }
  });

  it('C7: has fields of bounded length, and identifiers too', async () => {
    const packages = [
      stanza('a', '1', `Name: ${'n'.repeat(limits.lineCharacters + 1)}\nDescription: ${'d'.repeat(5000)}\n`),
      stanza('b', '1', `Depends: ${'n'.repeat(limits.fieldCharacters + 1)}\nX-Unknown: ${'u'.repeat(50_000)}\n`),
      stanza('c', '1'.repeat(limits.identifierCharacters + 1)),
      stanza('d', '1'.repeat(limits.identifierCharacters)),
    ].join('');
    const { read, findings } = await publish([{ slug: 'bad', packages }]);
    expect(read(documentPath.package('a')).data[0].name).toBeNull();
    expect(read(documentPath.package('a')).data[0].description).toHaveLength(5000);
    expect(read(documentPath.repositoryPackages('bad')).count).toBe(3);
    expect(findings('bad').map(({ code, count }) => `${code} ${count}`)).toEqual([
      'field-oversized 2',
      'version-unreadable 1',
    ]);
    expect(findings('bad')[0]?.example).toBe('name (limit lineCharacters: 4,096 characters) of a 1 all');
  });
});
