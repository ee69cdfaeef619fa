import { hash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { digestPieces, pieceBytes } from '../../src/catalog/pieces.ts';
import { isCatalogSound, readCatalogDigest } from '../../src/catalog/soundness.ts';
import { CatalogBuild, catalogPath } from '../../src/catalog/state-catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

it('digests the whole and each piece, of whatever length', async () => {
  const file = path.join(temporaryFolder(), 'file');
  for (const length of [0, 1, pieceBytes, 4 * pieceBytes, 5 * pieceBytes + 3]) {
    const bytes = randomBytes(length);
    writeFileSync(file, bytes);
    const starts = Array.from({ length: Math.ceil(length / pieceBytes) }, (_, index) => index * pieceBytes);
    const pieces = starts.map((at) => hash('sha256', bytes.subarray(at, at + pieceBytes)));
    expect(await digestPieces(file)).toEqual({ sha256: hash('sha256', bytes), pieces });
  }
});

it('takes memory for a small file as for one piece, not as for several', async () => {
  const file = path.join(temporaryFolder(), 'file');
  writeFileSync(file, 'small');
  // What is taken is taken before the first wait, so nothing is collected meanwhile.
  const before = process.memoryUsage().arrayBuffers;
  const digesting = digestPieces(file);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 * pieceBytes);
  await digesting;
});

it('a catalog that an earlier version put in force, which noted no pieces, is sound and digested', async () => {
  const state = temporaryFolder();
  const catalog = new CatalogBuild(state);
  catalog.writable();
  await catalog.publish();
  const noted = await readCatalogDigest(state);
  expect(noted).toEqual(await digestPieces(catalogPath(state)));
  const mark = path.join(state, 'catalog.mark.json');
  const [{ pieces: _, ...rest }] = JSON.parse(readFileSync(mark, 'utf8'));
  writeFileSync(mark, JSON.stringify([rest]));
  expect(await isCatalogSound(state, catalogPath(state), true)).toBe(true);
  writeFileSync(mark, JSON.stringify([rest]));
  expect(await isCatalogSound(state, catalogPath(state), false)).toBe(true);
  expect(await readCatalogDigest(state)).toEqual(noted);
});
