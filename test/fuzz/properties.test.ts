import fc from 'fast-check';
import { describe, it } from 'vitest';
import { properties } from './properties.ts';

const claims: Record<keyof typeof properties, string> = {
  stanzas: 'V2: stanzas are the same whatever the chunk boundaries',
  release: 'a Release is read without an error, and lists what can be used',
  clearSigned: 'V3: nothing may stand before or after a signed text',
  signature: 'C5: noise for a signature ends in no error',
  versions: 'V1: the order of versions is total',
  fileNames: 'C9: file names are portable, reversible and apart',
  safety: 'a listed host is never safe, however its path is written',
  question: 'whatever is searched for is words and no syntax',
  streams: 'V4: a broken stream gives an error, and a part of one is never the whole',
};

describe('for any input', () => {
  it.each(Object.keys(properties).map((name) => [claims[name as keyof typeof properties], name] as const))(
    '%s',
    async (_claim, name) => {
      await fc.assert(properties[name as keyof typeof properties] as fc.IRawProperty<unknown>, { numRuns: 300 });
    },
  );
});
