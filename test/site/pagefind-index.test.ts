import type fs from 'node:fs';
import path from 'node:path';
import type * as pagefind from 'pagefind';
import { afterAll, expect, it, vi } from 'vitest';
import { readCard } from '../../src/results/search-content.ts';
import { buildSearchIndex, composeSearchRecords } from '../../src/site/pagefind-index.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { lastBuild, type Source, sources, stanza, temporaryFolder, writeCatalog } from './fixture.ts';

// The version of Pagefind that is found installed.
const installed = vi.hoisted(() => ({ version: '1.0.0' }));
vi.mock('node:fs', async (load) => {
  const original = await load<typeof fs>();
  const readFileSync = (file: fs.PathOrFileDescriptor, ...how: []) =>
    String(file).endsWith('/pagefind/package.json') ? JSON.stringify(installed) : original.readFileSync(file, ...how);
  return { ...original, readFileSync, default: { ...original, readFileSync } };
});

// What Pagefind is made to refuse: the record of that number, or the files.
const refusing = vi.hoisted(() => ({ record: 0, files: false }));
vi.mock('pagefind', async (load) => {
  const original = await load<typeof pagefind>();
  const refuse = (what: string) => ({
    errors: [`no such ${what} is taken`],
    file: { uniqueWords: 0, url: '', meta: {} },
  });
  const createIndex = async (...given: Parameters<typeof original.createIndex>) => {
    const made = await original.createIndex(...given);
    let records = 0;
    const { index } = made as { readonly index: pagefind.PagefindIndex };
    const addCustomRecord: pagefind.PagefindIndex['addCustomRecord'] = async (record) =>
      ++records === refusing.record ? refuse('record') : index.addCustomRecord(record);
    const getFiles: pagefind.PagefindIndex['getFiles'] = async () =>
      refusing.files ? { ...refuse('file'), files: [] } : index.getFiles();
    return { ...made, index: { ...index, addCustomRecord, getFiles } };
  };
  return { ...original, createIndex };
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

it('C13: fails where Pagefind refuses a record, the last one too, or its files, and makes the index the next time', async () => {
  const file = path.join(folder, 'refused.sqlite');
  await writeCatalog(file, sources, 'https://index.example');
  const catalog = new SiteCatalog(file, lastBuild);
  const build = () => buildSearchIndex(catalog, path.join(folder, 'refused'));
  try {
    for (const record of [1, catalog.packages.size]) {
      refusing.record = record;
      await expect(build()).rejects.toThrow('search index: no such record is taken');
    }
    refusing.record = 0;
    refusing.files = true;
    await expect(build()).rejects.toThrow('search index: no such file is taken');
    refusing.files = false;
    expect(await build()).toContain('pagefind.js');
  } finally {
    catalog.close();
  }
});

it('H7: addresses that Pagefind holds against each other one by one are told apart by their lengths, however alike packages are', async () => {
  const file = path.join(folder, 'alike.sqlite');
  await writeCatalog(file, sources, 'https://index.example');
  const catalog = new SiteCatalog(file, lastBuild);
  const lengths = new Map<number, number>();
  let records = 0;
  for (const { url } of composeSearchRecords(catalog)) {
    expect(readCard(url).version).not.toBe('');
    lengths.set(url.length, (lengths.get(url.length) ?? 0) + 1);
    records++;
  }
  catalog.close();
  // By chance one pair of 256 has the same; without the blanks nearly every second of these, which are called alike.
  const alike = lengths.values().reduce((sum, count) => sum + (count * (count - 1)) / 2, 0);
  expect(alike / ((records * (records - 1)) / 2)).toBeLessThan(1 / 64);
});

it('gives Pagefind the words of another script in a name and a summary without blanks, each alone', async () => {
  const file = path.join(folder, 'unspaced.sqlite');
  const [source] = sources as [Source, ...Source[]];
  const stanzas = [
    stanza({ Package: 'com.alpha.chat', Name: '微信WeChat助手', Description: '支持Melody音乐' }),
    stanza({ Package: 'com.alpha.board', Name: 'SnowBoard', Description: 'A board' }),
  ];
  await writeCatalog(file, [{ ...source, packages: stanzas.join('') }], 'https://index.example');
  const catalog = new SiteCatalog(file, lastBuild);
  const contents = new Map(Array.from(composeSearchRecords(catalog), ({ content, meta }) => [meta.id, content]));
  catalog.close();
  const words = contents.get('com.alpha.chat')?.split(' ');
  expect(words).toEqual(expect.arrayContaining(['微信WeChat助手', '微信', 'WeChat', 'Chat', '助手', 'Melody']));
  expect(words?.at(-1)).toBe('支持Melody音乐');
  expect(contents.get('com.alpha.board')).toMatch(/^SnowBoard Snow Board com alpha board comalphaboard .*¶ A board$/);
});

it('orders by name without regard to case and accents', async () => {
  const file = path.join(folder, 'accents.sqlite');
  const [source] = sources as [Source, ...Source[]];
  const packages = stanza({ Package: 'com.alpha.cake', Name: 'Éclair', Description: 'A cake' });
  await writeCatalog(file, [{ ...source, packages }], 'https://index.example');
  const catalog = new SiteCatalog(file, lastBuild);
  const names = Array.from(composeSearchRecords(catalog), ({ sort }) => sort?.name);
  catalog.close();
  expect(names).toEqual(['eclair']);
});
