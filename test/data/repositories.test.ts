import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readManifest } from '../../src/crawl/read-manifest.ts';

const folder = fileURLToPath(new URL('../../data/repositories/', import.meta.url));

// Throws with every mistake in any file: fields, names of files, slugs, aliases and indexes that are listed twice.
const entries = await readManifest(folder);

describe('data/repositories', () => {
  it('holds one valid entry in each file, named after its slug', () => {
    expect(entries.map(({ slug }) => `${slug}.yaml`).sort()).toEqual(readdirSync(folder).sort());
    expect(entries.length).toBeGreaterThanOrEqual(60);
  });

  it('lists repositories that share an address and differ in suite', () => {
    const shared = entries.filter(({ uri }) => uri === 'https://apt.procurs.us');
    expect(new Set(shared.map(({ suite }) => suite)).size).toBe(shared.length);
    expect(shared.length).toBeGreaterThan(1);
  });

  // Clients join the paths of files, which begin with a slash, to the address.
  it('writes addresses without a slash at the end', () => {
    expect(entries.filter(({ uri }) => uri.endsWith('/'))).toEqual([]);
  });
});
