import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { planImport } from '../../scripts/manifest/import-list.ts';
import { readManifest } from '../../src/crawl/read-manifest.ts';

// The list of the older index, where it lies beside the project.
const older = path.join(import.meta.dirname, '..', '..', '..', 'shared', 'manifests', 'index-repositories.json');

const folder = fileURLToPath(new URL('../../data/repositories/', import.meta.url));

// Throws with every mistake in any file: fields, names of files, slugs, aliases and indexes that are listed twice.
const entries = await readManifest(folder);

describe('data/repositories', () => {
  it('holds one valid entry in each file, named after its slug', () => {
    expect(entries.map(({ slug }) => `${slug}.yaml`).sort()).toEqual(readdirSync(folder).sort());
    expect(entries.length).toBeGreaterThanOrEqual(480);
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

  it('has one entry, with the other names as aliases, of what a list names twice', () => {
    const nameOf = (name: string) => entries.find(({ slug, aliases }) => slug === name || aliases.includes(name))?.slug;
    for (const [one, other] of [
      ['captinc', 'capt-inc'],
      ['maxwell-dausch', 'dausch'],
      ['pheuxdev', 'pheux'],
      ['tihmstar-beta', 'tihmstar'],
      ['halo_michael', 'halo-michael'],
      ['tigi-software', 'tigisoftware'],
    ] as const) {
      expect([nameOf(one), nameOf(other)]).toEqual([other, other]);
    }
  });

  it.skipIf(!existsSync(older))('answers to every repository of the older index by name and address', async () => {
    const list = JSON.parse(readFileSync(older, 'utf8')) as { slug: string; component?: string; suite?: string }[];
    const named = new Set(entries.flatMap(({ slug, aliases }) => [slug, ...aliases]));
    expect(list.filter(({ slug }) => !named.has(slug))).toEqual([]);
    // The one whose component belongs to no suite is mended by hand.
    const sound = list.map(({ component, ...entry }) => (entry.suite === undefined ? entry : { ...entry, component }));
    const { taken, refused, present } = await planImport(entries, sound, { check: () => true });
    expect([taken, refused, present.length]).toEqual([[], [], list.length]);
  });
});
