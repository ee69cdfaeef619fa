import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { assertNotDepleted } from '../../src/pipeline/planned-removals.ts';
import { RemovalsHeld } from '../../src/snapshots/removals.ts';
import { buildCatalog, entryOf, packages } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

it('C4: if no outcomes are known, a manifest that lost entries is compared with what is published', async () => {
  const state = temporaryFolder();
  const repositories = ['a', 'b', 'c', 'd'].map((slug) => ({ slug, packages: packages({ Package: `com.${slug}` }) }));
  const entries = repositories.map(entryOf);
  expect(() => assertNotDepleted(state, entries.slice(0, 1))).not.toThrow();
  // Nothing is left of what was opened to look.
  expect(readdirSync(state)).toEqual([]);
  await buildCatalog(state, repositories);
  expect(() => assertNotDepleted(state, entries.slice(0, 2))).not.toThrow();
  expect(() => assertNotDepleted(state, entries.slice(0, 1))).toThrow(RemovalsHeld);
});

it('C4: a repository is not missing whose entry has another letter case, or its name among the former ones', async () => {
  const state = temporaryFolder();
  const repositories = ['a', 'b', 'c', 'd'].map((slug) => ({ slug, packages: packages({ Package: `com.${slug}` }) }));
  await buildCatalog(state, repositories);
  const [first, ...others] = repositories.map(entryOf);
  if (first === undefined) throw new Error('there are four');
  expect(() => assertNotDepleted(state, [{ ...first, aliases: ['B', 'C', 'D'] }])).not.toThrow();
  const renamed = others.map((entry) => ({ ...entry, slug: entry.slug.toUpperCase() }));
  expect(() => assertNotDepleted(state, [first, ...renamed])).not.toThrow();
});

it('C12: a damaged catalog keeps no build from making another one', async () => {
  const state = temporaryFolder();
  await buildCatalog(
    state,
    ['a', 'b', 'c'].map((slug) => ({ slug, packages: packages({ Package: `com.${slug}` }) })),
  );
  const bytes = readFileSync(catalogPath(state));
  // What tells of its format stays.
  writeFileSync(catalogPath(state), bytes.fill(0xff, 4096));
  expect(() => assertNotDepleted(state, [])).not.toThrow();
});
