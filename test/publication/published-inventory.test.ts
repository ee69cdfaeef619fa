import { hash } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePaths, formatEntry } from '../../src/publication/inventory.ts';
import {
  areWorthwhile,
  composeInventory,
  composeSafeInventory,
  listDifferences,
  readNamed,
} from '../../src/publication/published-inventory.ts';

const textOf = (files: Readonly<Record<string, string>>): string =>
  Object.entries(files)
    .sort(([one], [other]) => comparePaths(one, other))
    .map(([path, content]) => formatEntry({ path, sha256: hash('sha256', content) }))
    .join('');
const documentsOf = (text: string) => ({ digest: hash('sha256', text), differences: 'somewhere' });

describe('an inventory and what differs from it', () => {
  const names = fc.constantFrom('a', 'a/b', 'a.json', 'b c', 'ﬀ', '😀', 'z', '.well-known/x', '0', 'é');
  const inventory = fc.dictionary(names, fc.constantFrom('1', '2'));
  it('P2: make the present one, whatever both are', () => {
    fc.assert(
      fc.property(inventory, inventory, (before, now) => {
        const [earlier, text] = [textOf(before), textOf(now)];
        const differing = listDifferences(earlier, text);
        const [whole, differences] = [zstdCompressSync(earlier), zstdCompressSync(differing)];
        const composed = composeInventory(documentsOf(text), { whole, differences });
        expect([...(composed ?? [])].map(([path, sha256]) => formatEntry({ path, sha256 })).join('')).toBe(text);
        const changed = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
          (name) => before[name] !== now[name],
        );
        expect(differing.split('\n').length - 1).toBe(changed.length);
      }),
    );
  });

  it('P3: are refused where one is missing, cut, damaged or of another, and where one is named that is no digest', () => {
    const [earlier, text] = [textOf({ a: '1', b: '1', k: '1' }), textOf({ a: '2', c: '1', k: '1' })];
    const [whole, differences] = [zstdCompressSync(earlier), zstdCompressSync(listDifferences(earlier, text))];
    const documents = documentsOf(text);
    expect(composeInventory(documents, { whole, differences })?.size).toBe(3);
    const others = [undefined, whole.subarray(0, -1), Buffer.from('x'), zstdCompressSync(textOf({ a: '3' }))];
    for (const other of others) {
      expect(composeInventory(documents, { whole: other, differences })).toBeUndefined();
      expect(composeInventory(documents, { whole, differences: other })).toBeUndefined();
    }
    expect(composeInventory({ digest: documents.digest }, { whole, differences })).toBeUndefined();
    expect(readNamed(whole, `v2/inventory/${hash('sha256', earlier)}.txt.zst`)).toBe(earlier);
    expect(readNamed(whole, `v2/inventory/${hash('sha256', text)}.txt.zst`)).toBeUndefined();
  });

  it('C9: are refused where they decompress to more than any inventory, whatever is said of them', () => {
    const bomb = Buffer.alloc(2 ** 28 + 1);
    const documents = { digest: hash('sha256', bomb) };
    expect(composeInventory(documents, { whole: zstdCompressSync(bomb), differences: undefined })).toBeUndefined();
  });

  it('C9: are refused where a path leaves the folder', () => {
    const text = textOf({ '../a': '1' });
    const files = { whole: zstdCompressSync(text), differences: undefined };
    expect(composeInventory({ digest: hash('sha256', text) }, files)?.size).toBe(1);
    expect(composeSafeInventory({ digest: hash('sha256', text) }, files)).toBeUndefined();
  });

  it('P2: stay a small share of the whole, except where both are short', () => {
    const line = 'x'.repeat(99);
    expect(areWorthwhile(line, line.repeat(2))).toBe(true);
    expect(areWorthwhile(line, line)).toBe(false);
    expect(areWorthwhile(line.repeat(100), line.repeat(6400))).toBe(true);
    expect(areWorthwhile(line.repeat(101), line.repeat(6400))).toBe(false);
    expect(areWorthwhile(line.repeat(21), line.repeat(400))).toBe(false);
  });
});
