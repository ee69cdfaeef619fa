import { expect, it } from 'vitest';
import { assertNotDepleted } from '../../src/pipeline/planned-removals.ts';
import { RemovalsHeld } from '../../src/snapshots/removals.ts';
import { buildCatalog, entryOf, packages } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

it('C4: if no outcomes are known, a manifest that lost entries is compared with what is published', async () => {
  const state = temporaryFolder();
  const repositories = ['a', 'b', 'c', 'd'].map((slug) => ({ slug, packages: packages({ Package: `com.${slug}` }) }));
  const entries = repositories.map(entryOf);
  expect(() => assertNotDepleted(state, entries.slice(0, 1))).not.toThrow();
  await buildCatalog(state, repositories);
  expect(() => assertNotDepleted(state, entries.slice(0, 2))).not.toThrow();
  expect(() => assertNotDepleted(state, entries.slice(0, 1))).toThrow(RemovalsHeld);
});
