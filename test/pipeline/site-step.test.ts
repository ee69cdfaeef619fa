import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { PreparedInput } from '../../src/pipeline/build-input.ts';
import { type PageBuilder, publishPages, publishSite } from '../../src/pipeline/site-step.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import type { BuildOrder, BuildProgress, BuiltSite, SiteProcess } from '../../src/site/build-site.ts';
import { temporaryFolder } from '../support/folder.ts';

/** What a build publishes whose process does this. */
const publish = (
  outDir: string,
  tell: (report: (progress: BuildProgress) => void) => Promise<BuiltSite>,
  verify = false,
) => {
  const builder: SiteProcess = {
    tell: (_: BuildOrder, onProgress) => tell(onProgress ?? (() => {})),
    hasEnded: false,
    end: () => {},
  };
  return publishSite({
    catalogPath: '',
    cacheDir: path.dirname(outDir),
    baseUrl: 'https://index.example',
    outDir,
    builder,
    verify,
  });
};
const page = 'package/a/index.html';
/** The inode of its folder before that has its name. */
const findMade = (outDir: string): number => {
  const temporary = path.join(outDir, '.staging');
  const names = readdirSync(temporary, { recursive: true, encoding: 'utf8' });
  return statSync(path.join(temporary, names.find((name) => name.endsWith('package/a')) ?? 'none')).ino;
};

it('C12: publishes into the folders that were made while the pages were rendered', async () => {
  const folder = temporaryFolder();
  const [outDir, staged] = [path.join(folder, 'out'), path.join(folder, 'pages')];
  let made = 0;
  const published = await publish(outDir, async (report) => {
    report({ listed: [page] });
    made = findMade(outDir);
    mkdirSync(path.join(staged, 'package'), { recursive: true });
    writeFileSync(path.join(staged, 'package', 'a~'), 'of the test');
    const pages = { folder: staged, files: [page], prefix: '', isOfPages: true, replaced: true };
    return { rendered: 1, searchable: 1, staged: [pages], seconds: { read: 0, search: 0, pages: 0 } };
  });
  expect(published.written).toBe(1);
  expect(readFileSync(path.join(outDir, page), 'utf8')).toBe('of the test');
  expect(statSync(path.join(outDir, 'package', 'a')).ino).toBe(made);
  expect(readdirSync(outDir)).toEqual(['package']);
});

it('C12: leaves nothing of them where a page cannot be rendered', async () => {
  const outDir = path.join(temporaryFolder(), 'out');
  const publishing = publish(outDir, async (report) => {
    report({ listed: [page] });
    expect(findMade(outDir)).toBeGreaterThan(0);
    throw new Error('of the test');
  });
  await expect(publishing).rejects.toThrow('of the test');
  expect(readdirSync(outDir)).toEqual([]);
});

it('C12: compares what is published with what was built where all is verified', async () => {
  const folder = temporaryFolder();
  const [published, staged] = [path.join(folder, 'out', page), path.join(folder, 'pages')];
  mkdirSync(path.join(staged, 'package'), { recursive: true });
  writeFileSync(path.join(staged, 'package', 'a~'), 'of the test');
  const pages = { folder: staged, files: [page], prefix: '', isOfPages: true, replaced: false };
  const built = { rendered: 0, searchable: 1, staged: [pages], seconds: { read: 0, search: 0, pages: 0 } };
  const build = (verify: boolean) => publish(path.join(folder, 'out'), async () => built, verify);
  await build(false);
  // A disk that never wrote the bytes gives back others in their length.
  const { size, atime, mtime } = statSync(published);
  writeFileSync(published, Buffer.alloc(size));
  utimesSync(published, atime, mtime);
  expect(await build(false)).toMatchObject({ written: 0, unchanged: 1 });
  expect(await build(true)).toMatchObject({ written: 1, unchanged: 0 });
  expect(readFileSync(published, 'utf8')).toBe('of the test');
});

it('asks for pages with what the operator says of the service, the key and the depictions, and tells how far they are', async () => {
  const folder = temporaryFolder();
  const told: unknown[] = [];
  const ordered = async (service: Readonly<Record<string, unknown>>, signer?: { readonly publicKey: string }) => {
    let order: BuildOrder | undefined;
    const taken: SiteProcess = {
      tell: async (asked: BuildOrder, onProgress) => {
        order = asked;
        onProgress?.({ step: 'search', done: 1, total: 3 });
        onProgress?.({ step: 'pages', done: 2, total: 3 });
        return { rendered: 0, searchable: 0, staged: [], seconds: { read: 0, search: 0, pages: 0 } };
      },
      hasEnded: false,
      end: () => {},
    };
    const progress = {
      step: (_: string, work: () => unknown) => work(),
      update: (...values: unknown[]) => told.push(values),
    };
    const [out, unsafe, store] = [path.join(folder, 'out'), ['unsafe'], { depictions: { root: folder } }];
    const input = { state: folder, out, base: 'https://index.example', staticRefs: true, service, unsafe };
    const output = new OutputFolder(out);
    output.hold();
    output.write('v2/index.json', 'held');
    await publishPages({ ...input, progress, signer, store } as unknown as PreparedInput, {} as never, {
      builder: { take: () => taken } as PageBuilder,
      output,
      catalog: path.join(folder, 'catalog'),
      verify: true,
      putInForce: async (placeNew) => placeNew(),
      whenStanding: () => {},
      beforeRemoval: async () => {},
    });
    // What waits in the same folder has its name.
    expect([output.isHolding, readFileSync(path.join(out, 'v2/index.json'), 'utf8')]).toEqual([false, 'held']);
    return order;
  };
  const service = { name: 'Mine', contact_email: 'ops@debdex.dev', copyright: 'Me' };
  const more = { privacy_updated: '2026-11-22', native_depictions: true, share_pictures: 'all' };
  expect(await ordered({ ...service, ...more }, { publicKey: 'key' })).toMatchObject({
    ...{ catalogPath: path.join(folder, 'catalog'), cacheDir: path.join(folder, 'site'), verify: true, service },
    ...{ baseUrl: 'https://index.example', staticRefs: true, safety: ['unsafe'] },
    ...{ policyUpdated: '2026-11-22', depictions: folder, hasAllPictures: true, signingKey: 'key' },
  });
  expect(told).toEqual([
    [1, 3, 'search records'],
    [2, 3, 'pages'],
  ]);
  const fewer = await ordered({ ...service, native_depictions: false, share_pictures: 'some' });
  expect(fewer).toMatchObject({ hasAllPictures: false });
  expect([fewer?.depictions, fewer?.signingKey]).toEqual([undefined, undefined]);
});
