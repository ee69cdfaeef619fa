import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { LastBuild } from '../../src/catalog/last-build.ts';
import { CatalogBuild } from '../../src/catalog/state-catalog.ts';
import type { CatalogUpdate } from '../../src/catalog/update.ts';
import type { PreparedInput } from '../../src/pipeline/build-input.ts';
import { writeDocuments } from '../../src/pipeline/documents-step.ts';
import { Emission } from '../../src/publication/emission.ts';
import type { FolderNote } from '../../src/publication/folder-note.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { base, buildCatalog, packages } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

// A catalog that turns out to be damaged is built anew at once, in the same folders.
it('C12: where search cannot be indexed, that is told when nobody writes documents any more', async () => {
  const state = temporaryFolder();
  await buildCatalog(state, [{ slug: 'one', packages: packages({}) }]);
  const catalog = new CatalogBuild(state);
  const order: string[] = [];
  const writing = vi.spyOn(Emission.prototype, 'write').mockImplementation(async () => {
    for (let turns = 0; turns < 5; turns++) await turn();
    order.push('written');
  });
  onTestFinished(() => {
    writing.mockRestore();
    catalog.discard();
  });
  const input = {
    ...{ state, base, service: {}, version: '1', site: false, now: () => new Date('2026-05-01T00:00:00Z') },
    progress: { step: (_name: string, work: () => unknown) => work(), update: () => {} },
    // No number of JSON, by which the index is compared with the one before.
    readDownloads: async () => [{ package_id: 'a', total: 1n }],
  } as unknown as PreparedInput;
  const sources = {
    ...{ catalog, lastBuild: { repositories: [] } as unknown as LastBuild, folder: {} as FolderNote },
    update: { touched: new Set(), ingested: [] } as unknown as CatalogUpdate,
    statistics: { repositories: 1, packages: 1, versions: 1, updated: '2026-05-01T00:00:00.000Z' },
  };
  await writeDocuments(input, sources, new OutputFolder(temporaryFolder())).catch((error) => order.push(error.message));
  expect(order).toEqual(['written', expect.stringContaining('BigInt')]);
});
