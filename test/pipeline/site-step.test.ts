import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { publishSite } from '../../src/pipeline/site-step.ts';
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
