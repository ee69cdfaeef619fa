import { expect, it } from 'vitest';
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
