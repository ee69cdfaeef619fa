import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { splitClearSigned } from '../../src/apt/clearsigned.ts';
import type { Compression } from '../../src/apt/decompress.ts';
import { type PackageStanza, parsePackage } from '../../src/apt/packages-index.ts';
import { parseDate, parseRelease } from '../../src/apt/release.ts';
import { createStanzaReader, type Stanza } from '../../src/apt/stanza.ts';
import { decompressAll } from '../support/decompress-all.ts';

const corpus = fileURLToPath(new URL('../../../shared/corpus/', import.meta.url));
const present = existsSync(corpus);
const files = present ? readdirSync(corpus, { recursive: true, encoding: 'utf8' }) : [];
const indexName = /\/Packages(?:\.(zst|xz|lzma|bz2|gz))?$/;

/** Blocks with at least one line that is a field, counted without the reader. */
const countBlocks = (text: string): number =>
  text.split(/\n\r?(?=\n)/).filter((block) => /^(?!\/\/|#|-)[!-9;-~]+[ \t]*:/m.test(block)).length;

describe.skipIf(!present)('the corpus (in ../shared)', () => {
  it('every Packages file in every compression is read whole: stanzas = packages + those left out', async () => {
    const seen = new Map<string, number>();
    let stanzas = 0;
    for (const file of files.filter((name) => indexName.test(name))) {
      const compression = (indexName.exec(file)?.[1] ?? 'plain') as Compression;
      seen.set(compression, (seen.get(compression) ?? 0) + 1);
      const bytes = await decompressAll(readFileSync(join(corpus, file)), compression, {
        maxBytes: 1e8,
        maxRatio: 200,
      });
      const read: Stanza[] = [];
      const reader = createStanzaReader({ stanza: (fields) => read.push(fields), finding: () => {} });
      reader.write(bytes);
      reader.end();
      expect(read.length, file).toBe(countBlocks(Buffer.from(bytes).toString('latin1')));

      const packages: PackageStanza[] = [];
      let left = 0;
      for (const fields of read) {
        const parsed = parsePackage(fields);
        if (parsed.ok) packages.push(parsed.value);
        else left += 1;
      }
      expect(packages.length + left, file).toBe(read.length);
      expect(packages.every((one) => one.package && one.version && one.architecture && one.filename)).toBe(true);
      for (const url of packages.flatMap((one) => [one.icon, one.header, one.nativeDepiction])) {
        if (url !== null) expect(url).toMatch(/^https?:\/\/[!-~]+$/);
      }
      stanzas += read.length;
    }
    expect([...seen.keys()].sort()).toEqual(['bz2', 'gz', 'lzma', 'plain', 'xz', 'zst']);
    expect(stanzas).toBeGreaterThan(5000);
  });

  it('every Release and InRelease is read, with every date and without a lost hash line', () => {
    let dates = 0;
    for (const file of files.filter((name) => /\/(?:In)?Release$/.test(name))) {
      const bytes = readFileSync(join(corpus, file));
      const signed = splitClearSigned(bytes);
      expect(signed.kind, file).toBe(file.endsWith('InRelease') ? 'signed' : 'plain');
      const release = parseRelease(signed.kind === 'signed' ? signed.content : bytes);
      if (release.date !== null) {
        expect(parseDate(release.date), file).not.toBeNull();
        dates += 1;
      }
      const text = bytes.toString('latin1');
      const listed = new Set(
        [...text.matchAll(/^\s*[0-9a-f]{32,128}\s+\d+\s+(?:\.\/)?(\S+)\s*$/gim)].map(([, path]) => path),
      );
      expect(new Set(release.files.keys()), file).toEqual(listed);
    }
    expect(dates).toBeGreaterThan(10);
  });
});
