import type fs from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { buildSearchIndex } from '../../src/site/pagefind-index.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { lastBuild, sources, temporaryFolder, writeCatalog } from './fixture.ts';

// The version of Pagefind that is found installed.
const installed = vi.hoisted(() => ({ version: '1.0.0' }));
vi.mock('node:fs', async (load) => {
  const original = await load<typeof fs>();
  const readFileSync = (file: fs.PathOrFileDescriptor, ...how: []) =>
    String(file).endsWith('/pagefind/package.json') ? JSON.stringify(installed) : original.readFileSync(file, ...how);
  return { ...original, readFileSync, default: { ...original, readFileSync } };
});

const { folder, remove } = temporaryFolder();
afterAll(remove);

it('C13: makes the search index anew where another version of what makes it is installed, and leaves it else', async () => {
  const file = path.join(folder, 'catalog.sqlite');
  await writeCatalog(file, sources.slice(-1), 'https://index.example');
  const catalog = new SiteCatalog(file, lastBuild);
  const isMade = async () => {
    let isMaking = false;
    await buildSearchIndex(catalog, path.join(folder, 'index'), () => (isMaking = true));
    return isMaking;
  };
  try {
    expect([await isMade(), await isMade()]).toEqual([true, false]);
    installed.version = '1.0.1';
    expect([await isMade(), await isMade()]).toEqual([true, false]);
  } finally {
    catalog.close();
  }
});
