import { describe, expect, it, onTestFinished } from 'vitest';
import { createRecordReader } from '../../src/apt/record-reader.ts';
import { limits } from '../../src/contract/limits.ts';

const stanza = (name: string, version: string, more = '') =>
  `Package: ${name}\nVersion: ${version}\nArchitecture: all\nFilename: ${name}.deb\nSize: 1\n${more}\n`;

const read = (text: string) => {
  const records: [string, string, number][] = [];
  const codes: string[] = [];
  const reader = createRecordReader({
    record: ({ package: name, version }, number) => records.push([name, version, number]),
    finding: (code) => codes.push(code),
  });
  reader.write(Buffer.from(text));
  reader.end();
  return { records, codes, counted: [reader.stanzas, reader.records] };
};

it('C4: counts each record once, and every stanza, be it left out or too large to be read', () => {
  const long = stanza('long', '1', `Description: ${'x'.repeat(limits.stanzaBytes)}\n`);
  const versions = Array.from({ length: 8 }, (_, at) => stanza('b', `${at}`)).join('');
  const { records, codes, counted } = read(
    `${stanza('a', '1')}${versions}${long}Package: c\n\n${stanza('a', '1', 'Section: again\n')}`,
  );
  expect(counted).toEqual([12, 9]);
  expect(records.at(0)).toEqual(['a', '1', 0]);
  expect(records.at(8)).toEqual(['b', '7', 8]);
  // The same record has its number again, for what comes later counts.
  expect(records.at(9)).toEqual(['a', '1', 0]);
  expect(records).toHaveLength(10);
  expect(codes).toEqual(['stanza-oversized', 'version-missing', 'stanza-duplicate']);
});

describe('a package with more versions than it may have', () => {
  const few = () => {
    const { recordsPerPackage } = limits;
    Object.assign(limits, { recordsPerPackage: 4 });
    onTestFinished(() => void Object.assign(limits, { recordsPerPackage }));
  };
  const rising = Array.from({ length: 12 }, (_, at) => `1.${at}`);
  const mixed = [5, 9, 0, 11, 3, 8, 1, 10, 2, 7, 4, 6].map((at) => `1.${at}`);

  it.each([
    ['rising', rising],
    ['falling', rising.toReversed()],
    ['mixed', mixed],
  ])('C7: keeps the newest by the order of dpkg, in an index in %s order', (_, versions) => {
    few();
    const { records, codes, counted } = read([...versions, '1.8'].map((one) => stanza('a', one)).join(''));
    const byNumber = new Map(records.map(([, version, number]) => [number, version]));
    expect([...byNumber.values()].sort()).toEqual(['1.10', '1.11', '1.8', '1.9']);
    expect([...byNumber.keys()].sort()).toEqual([0, 1, 2, 3]);
    expect(codes).toEqual([...Array(8).fill('versions-too-many'), 'stanza-duplicate']);
    expect(counted).toEqual([13, 4]);
  });

  it('C7: leaves out the last of equal versions, and takes from no other package', () => {
    few();
    const versions = ['1', '0:1', '2', '0:2', '00:1', '3', '4'];
    const text = `${stanza('b', '1')}${versions.map((one) => stanza('a', one)).join('')}${stanza('b', '0.9')}`;
    const { records } = read(text);
    const byNumber = Object.fromEntries(records.map(([name, version, number]) => [number, `${name} ${version}`]));
    expect(byNumber).toEqual({ 0: 'b 1', 1: 'a 4', 2: 'a 3', 3: 'a 2', 4: 'a 0:2', 5: 'b 0.9' });
    expect(records.map(([, version]) => version)).toEqual(['1', '1', '0:1', '2', '0:2', '3', '4', '0.9']);
  });
});
