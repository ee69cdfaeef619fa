import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type PublishOptions, publishFolders } from '../../src/publication/folders.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { readPublishedSize } from '../../src/publication/size.ts';
import { temporaryFolder } from '../support/folder.ts';

let folder: string;
let out: string;
beforeEach(() => {
  folder = temporaryFolder();
  out = path.join(folder, 'out');
});

const page = (name: string) => `${name}/index.html`;
const read = (name: string) => readFileSync(path.join(out, name), 'utf8');

type Files = Readonly<Record<string, string | null>>;

const stage = (name: string, files: Files): string => {
  const staged = path.join(folder, name);
  rmSync(staged, { recursive: true, force: true });
  mkdirSync(staged);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(staged, file)), { recursive: true });
    if (text === null) symlinkSync('nowhere', path.join(staged, file));
    else writeFileSync(path.join(staged, file), text);
  }
  return staged;
};

/** Publishes these files and then, in the same turn, the later ones; one that is null cannot be read. */
const publish = async (
  files: Files,
  { later = {}, ...told }: { later?: Files } & Pick<PublishOptions, 'whenStanding' | 'beforeRemoval'> = {},
) => {
  const staged = [stage('staged', files), stage('later', later)].map((each) => ({ folder: each, prefix: '' }));
  return publishFolders(new OutputFolder(out), staged, { named: path.join(folder, 'named'), ...told });
};

describe('publishing the site', () => {
  it('counts what it publishes, so that its folders need not be gone through to know how much that is', async () => {
    await publish({ 'index.html': 'front', [page('gone/late')]: 'gone' });
    const files = {
      'index.html': 'front',
      [page('list')]: 'a list',
      [page('package/a')]: 'a',
      'package/a/feed.atom': 'feed',
    };
    const { folders } = await publish(files, { later: { [page('list')]: 'a list' } });
    expect(folders).toEqual([
      { folder: 'list', files: 1, bytes: 6, largest: { path: page('list'), bytes: 6 } },
      { folder: 'package', files: 2, bytes: 5, largest: { path: 'package/a/feed.atom', bytes: 4 } },
    ]);
    // Also of what is as it was.
    expect((await publish(files, { later: { [page('list')]: 'a list' } })).folders).toEqual(folders);
    const measure = (generation: string, known: typeof folders) =>
      readPublishedSize(new OutputFolder(out), path.join(folder, 'state'), generation, () => known);
    const walked = measure('one', []);
    expect(measure('two', folders)).toEqual(walked);
    rmSync(path.join(out, page('package/a')));
    expect(measure('three', folders)).toEqual(walked);
  });

  it('C12: changes no page before every new one stands that it may name', async () => {
    await publish({ 'index.html': 'front', [page('list')]: 'old list' });
    const next = { 'index.html': 'new front', [page('list')]: 'names b', [page('b')]: 'b', [page('zzz')]: null };
    await expect(publish(next)).rejects.toThrow(/nowhere|ENOENT/);
    expect(read('index.html')).toBe('front');
    expect(read(page('list'))).toBe('old list');
  });

  const entrances = ['index.html', 'sitemap.xml', 'feed.atom', 'feed.json', 'search-index/index.json'];
  const entrancesThat = (text: string) => Object.fromEntries(entrances.map((name) => [name, text]));

  it('C12: puts the entrances last, and what names nothing first', async () => {
    // In the order of the alphabet the page that cannot be read comes after them, and its style after it.
    const first = { ...entrancesThat('names zzz'), [page('zzz')]: null, 'zzz/zzz.css': 'style' };
    await expect(publish(first)).rejects.toThrow(/ENOENT/);
    for (const name of entrances) expect(existsSync(path.join(out, name)), name).toBe(false);
    expect(read('zzz/zzz.css')).toBe('style');
  });

  it('C12: changes the entrances after every page that changes', async () => {
    await publish({ ...entrancesThat('as before'), [page('zzz')]: 'z' });
    await expect(publish({ ...entrancesThat('names zzz anew'), [page('zzz')]: null })).rejects.toThrow(/ENOENT/);
    for (const name of entrances) expect(read(name), name).toBe('as before');
  });

  it('C12: takes a page that an interrupted run left for a new one, because what it names may never have come', async () => {
    await publish({ 'index.html': 'front', [page('list')]: 'old list' });
    const cut = { 'index.html': 'front', [page('a')]: 'names gone' };
    await expect(publish(cut, { later: { [page('gone')]: null } })).rejects.toThrow();
    expect(read(page('a'))).toBe('names gone');
    // It must be mended before the list, which cannot be read, would name it.
    const next = { 'index.html': 'front', [page('list')]: null };
    await expect(publish(next, { later: { [page('a')]: 'a' } })).rejects.toThrow();
    expect(read(page('a'))).toBe('a');
    expect(read(page('list'))).toBe('old list');
  });

  it('C12: knows that a page is named which an interrupted run left as it is built, before any page names it', async () => {
    await publish({ 'index.html': 'front', [page('list')]: 'old list' });
    mkdirSync(path.join(out, 'a'));
    writeFileSync(path.join(out, page('a')), 'a');
    await expect(publish({ 'index.html': null, [page('list')]: 'names a', [page('a')]: 'a' })).rejects.toThrow();
    expect(read(page('list'))).toBe('names a');
    // So it must not name the next page before that stands.
    const next = { 'index.html': 'front', [page('list')]: 'names a', [page('a')]: 'names b', [page('b')]: null };
    await expect(publish(next)).rejects.toThrow();
    expect(read(page('a'))).toBe('a');
  });

  it('C12: takes a page that an interrupted run placed and named for one that is named', async () => {
    await publish({ 'index.html': 'front', [page('list')]: 'old list', [page('zzz')]: 'z' });
    // The list names a by now, and the run ends at the page after it.
    const cut = { 'index.html': 'front', [page('a')]: 'a', [page('list')]: 'names a', [page('zzz')]: null };
    await expect(publish(cut)).rejects.toThrow(/ENOENT/);
    expect(read(page('list'))).toBe('names a');
    const next = { 'index.html': 'front', [page('a')]: 'names b', [page('b')]: null, [page('list')]: 'names a' };
    await expect(publish(next)).rejects.toThrow(/ENOENT/);
    expect(read(page('a')), 'b is not there to be named').toBe('a');
  });

  it('C12: changes no page before every new one where the note of what is named is lost, or what it names is gone', async () => {
    const before = { 'index.html': 'front', [page('list')]: 'names a', [page('zzz')]: 'z' };
    const next = { 'index.html': 'front', [page('list')]: 'names zzz anew', [page('zzz')]: null };
    await publish(before);
    rmSync(path.join(out, page('zzz')));
    await expect(publish(next)).rejects.toThrow(/ENOENT/);
    expect(read(page('list'))).toBe('names a');
    await publish(before);
    rmSync(path.join(folder, 'named'));
    const named = { ...next, [page('zzz')]: 'z', [page('zzzz')]: null };
    await expect(publish(named)).rejects.toThrow(/ENOENT/);
    expect(read(page('list'))).toBe('names a');
  });

  it('C12: sweeps what an interrupted run left half written, and nothing else that is hidden', async () => {
    mkdirSync(path.join(out, '.assets.next'), { recursive: true });
    for (const name of ['.index.html.next', '.assets.next/a.css', '.nojekyll']) writeFileSync(path.join(out, name), '');
    await publish({ 'index.html': 'front' });
    expect(readdirSync(out).sort()).toEqual(['.nojekyll', 'index.html']);
  });

  it('C12: writes over no built file to which an interrupted run of the same process gave a temporary name', async () => {
    const built = stage('built', { [page('a')]: 'a', 'index.html': 'front' });
    const left = new OutputFolder(out);
    for (let count = 0; count < 2; count++) linkSync(path.join(built, page('a')), left.temporary());
    const staged = [{ folder: built, prefix: '', replaced: true }];
    await publishFolders(new OutputFolder(out), staged, { named: path.join(folder, 'named') });
    expect([readFileSync(path.join(built, page('a')), 'utf8'), read(page('a'))]).toEqual(['a', 'a']);
  });

  it('looks for what vanished twice only in the folders where something did', async () => {
    const files = { 'index.html': 'front', [page('package/a')]: 'a', [page('package/b')]: 'b' };
    await publish({ ...files, 'parts/old.json': '1' });
    const pruned = vi.spyOn(OutputFolder.prototype, 'prune');
    onTestFinished(() => pruned.mockRestore());
    expect((await publish({ ...files, 'parts/new.json': '2' })).removed).toBe(1);
    expect(pruned.mock.calls.map(([top]) => top)).toEqual(['parts']);
    expect(readdirSync(path.join(out, 'parts'))).toEqual(['new.json']);
  });

  it('C12: removes a compressed copy, unless copies are kept', async () => {
    const files = { 'index.html': 'front', [page('list')]: 'list' };
    await publish(files);
    const copy = path.join(out, `${page('list')}.gz`);
    for (const removed of [1, 0]) {
      writeFileSync(copy, 'copy');
      expect(await publish(files)).toMatchObject({ removed });
      expect(existsSync(copy)).toBe(removed === 0);
      new OutputFolder(out).keepCopies();
    }
  });

  it('C12: takes a page that vanished and was not removed yet for a new one, because what it names may be gone', async () => {
    await publish({
      'index.html': 'front',
      [page('list')]: 'names p',
      [page('list/p')]: 'names only q',
      [page('list/q')]: 'q',
    });
    const pruned = vi.spyOn(OutputFolder.prototype, 'prune');
    onTestFinished(() => pruned.mockRestore());
    pruned.mockImplementationOnce(() => {
      rmSync(path.join(out, page('list/q')));
      throw new Error('killed');
    });
    await expect(publish({ 'index.html': 'front', [page('list')]: 'empty' })).rejects.toThrow('killed');
    const next = { 'index.html': 'front', [page('list')]: 'names p', [page('list/p')]: null };
    await expect(publish(next)).rejects.toThrow(/ENOENT/);
    expect([read(page('list')), read(page('list/p'))]).toEqual(['empty', 'names only q']);
  });

  it('C9: leaves a file or link in the place of a folder of which nothing is built any more', async () => {
    await publish({ 'index.html': 'front', [page('file')]: 'a', [page('link')]: 'b' });
    const elsewhere = stage('elsewhere', { [page('x')]: 'x' });
    for (const name of ['file', 'link']) rmSync(path.join(out, name), { recursive: true });
    writeFileSync(path.join(out, 'file'), 'theirs');
    symlinkSync(elsewhere, path.join(out, 'link'));
    expect(await publish({ 'index.html': 'front' })).toMatchObject({ written: 0, removed: 0 });
    expect([read('file'), read(page('link/x'))]).toEqual(['theirs', 'x']);
  });

  it('C13: removes a folder of which nothing is built any more, also where that was interrupted, and no other', async () => {
    mkdirSync(path.join(out, 'theirs'), { recursive: true });
    writeFileSync(path.join(out, 'theirs', 'index.html'), 'somebody else');
    const gone = { [page('author/eva')]: 'eva', [page('package/a')]: 'a', 'package/a/a.png': 'picture' };
    await publish({ 'index.html': 'front', ...gone });
    const stopped = async () => {
      throw new Error('stopped');
    };
    // With a page that is new and noted as such, beside those that are gone.
    const next = { 'index.html': 'front', [page('new')]: 'new' };
    await expect(publish(next, { beforeRemoval: stopped })).rejects.toThrow('stopped');
    expect(read(page('package/a'))).toBe('a');
    const pruned = vi.spyOn(OutputFolder.prototype, 'prune');
    onTestFinished(() => pruned.mockRestore());
    pruned.mockImplementationOnce(() => {
      throw new Error('killed');
    });
    await expect(publish(next)).rejects.toThrow('killed');
    expect(await publish(next)).toMatchObject({ removed: 3 });
    expect(readFileSync(path.join(folder, 'named'), 'utf8').split('\n')).toEqual(Object.keys(next));
    expect(readdirSync(out).sort()).toEqual(['index.html', 'new', 'theirs']);
    expect(await publish(next)).toMatchObject({ removed: 0 });
  });

  it('puts a file where a folder was, and a folder where a file was', async () => {
    await publish({ 'index.html': 'front', 'list/a/index.html': 'folder', 'list/b': 'file' });
    await publish({ 'index.html': 'front', 'list/a': 'file', 'list/b/index.html': 'folder' });
    expect([read('list/a'), read('list/b/index.html')]).toEqual(['file', 'folder']);
    expect(readdirSync(path.join(out, 'list')).sort()).toEqual(['a', 'b']);
  });

  it('C13: takes a file of another length for another one, be it of the same time', async () => {
    for (const text of ['front', 'longer front', 'front']) {
      const staged = stage('staged', { 'index.html': text });
      utimesSync(path.join(staged, 'index.html'), 1_700_000_000, 1_700_000_000);
      await publishFolders(new OutputFolder(out), [{ folder: staged, prefix: '' }], {
        named: path.join(folder, 'named'),
      });
      expect(read('index.html')).toBe(text);
    }
  });

  it('C13: takes a file of the same length and time for another one where both could be one file and are not', async () => {
    const publishBuilt = async (text: string, time?: Date) => {
      const built = stage('built', { [page('a')]: text });
      if (time !== undefined) utimesSync(path.join(built, page('a')), time, time);
      const staged = [{ folder: built, prefix: '', replaced: true }];
      return publishFolders(new OutputFolder(out), staged, { named: path.join(folder, 'named') });
    };
    const [built, published] = [path.join(folder, 'built', page('a')), path.join(out, page('a'))];
    await publishBuilt('old');
    await publishBuilt('new', lstatSync(published).mtime);
    expect(read(page('a'))).toBe('new');
    expect(lstatSync(published).ino, 'one file with two names').toBe(lstatSync(built).ino);
    // So is one that is built again with the same bytes, which is no change.
    expect(await publishBuilt('new')).toMatchObject({ written: 0, unchanged: 1 });
    expect(lstatSync(published).ino).toBe(lstatSync(built).ino);
    expect(await publishBuilt('old', new Date(1_700_000_000_000))).toMatchObject({ written: 1 });
    expect(read(page('a')), 'an older one too').toBe('old');
  });

  it('C13: knows a copied file by its length and time, and compares it where that is asked for', async () => {
    const named = path.join(folder, 'named');
    const staged = [{ folder: stage('staged', { [page('a')]: 'whole' }), prefix: '' }];
    const [built, published] = [path.join(folder, 'staged', page('a')), path.join(out, page('a'))];
    const timeOf = (file: string) => Math.floor(lstatSync(file).mtimeMs);
    await publishFolders(new OutputFolder(out), staged, { named });
    expect(timeOf(published)).toBe(timeOf(built));
    // The same bytes of another day are known from then on.
    utimesSync(built, 1_700_000_000, 1_700_000_000);
    await publishFolders(new OutputFolder(out), staged, { named });
    expect(timeOf(built)).toBe(timeOf(published));
    const { mtime } = lstatSync(published);
    writeFileSync(published, '\0'.repeat('whole'.length));
    utimesSync(published, mtime, mtime);
    expect(await publishFolders(new OutputFolder(out), staged, { named })).toMatchObject({ unchanged: 1 });
    expect(await publishFolders(new OutputFolder(out), staged, { named, verify: true })).toMatchObject({ written: 1 });
    expect(read(page('a'))).toBe('whole');
    // An older one is another one, too.
    writeFileSync(built, 'older');
    utimesSync(built, 1_600_000_000, 1_600_000_000);
    await publishFolders(new OutputFolder(out), staged, { named });
    expect(read(page('a'))).toBe('older');
  });

  it('C12: compares a copied file of which it is unknown whether it was flushed', async () => {
    class FailingDisk extends OutputFolder {
      override async flush(): Promise<void> {
        throw new Error('the power failed');
      }
    }
    const staged = [{ folder: stage('staged', { [page('a')]: 'whole' }), prefix: '' }];
    const named = path.join(folder, 'named');
    await expect(publishFolders(new FailingDisk(out), staged, { named })).rejects.toThrow('the power failed');
    const published = path.join(out, page('a'));
    const { mtime } = lstatSync(published);
    writeFileSync(published, '\0'.repeat('whole'.length));
    utimesSync(published, mtime, mtime);
    await publishFolders(new OutputFolder(out), staged, { named });
    expect(read(page('a'))).toBe('whole');
  });

  it('C12: flushes what an interrupted run may have left unflushed, though it need not be written again', async () => {
    const staged = [{ folder: stage('staged', { [page('a')]: 'a' }), prefix: '' }];
    const named = path.join(folder, 'named');
    await publishFolders(new OutputFolder(out), staged, { named });
    const noted: string[] = [];
    class Noting extends OutputFolder {
      override note(file: string): void {
        noted.push(file);
        super.note(file);
      }
    }
    const { unchanged } = await publishFolders(new Noting(out), staged, { named, verify: true });
    expect([unchanged, noted]).toEqual([1, [page('a')]]);
  });

  it('C9: takes nothing behind a link for what it has published, be it the same', async () => {
    const files = { [page('list')]: 'list', [page('list/a')]: 'a' };
    const elsewhere = path.join(stage('elsewhere', files), 'list');
    mkdirSync(out);
    symlinkSync(elsewhere, path.join(out, 'list'));
    // The first that is looked for is further below.
    await publish({ 'index.html': 'front' }, { later: { [page('list/a')]: 'a', [page('list')]: 'list' } });
    expect(lstatSync(path.join(out, 'list')).isDirectory()).toBe(true);
    expect([read(page('list')), read(page('list/a'))]).toEqual(['list', 'a']);
    expect(readFileSync(path.join(elsewhere, 'index.html'), 'utf8')).toBe('list');
  });

  it('C13: knows what it has published where the output folder itself is a link', async () => {
    mkdirSync(path.join(folder, 'elsewhere'));
    symlinkSync('elsewhere', out);
    const files = { 'index.html': 'front', [page('list')]: 'list' };
    await publish(files);
    expect(await publish(files)).toMatchObject({ written: 0, unchanged: 2 });
    expect(lstatSync(out).isSymbolicLink()).toBe(true);
  });

  it('C9: takes a link or a folder in the place of a file for another thing, be it of the same size', async () => {
    // The size of a link is the length of where it leads.
    mkdirSync(path.join(out, 'list'), { recursive: true });
    writeFileSync(path.join(out, 'other'), 'other');
    symlinkSync('other', path.join(out, 'link'));
    const asLong = 'a'.repeat(lstatSync(path.join(out, 'list')).size);
    await publish({ 'index.html': 'front', link: 'other', list: asLong });
    expect(['link', 'list'].map((name) => lstatSync(path.join(out, name)).isFile())).toEqual([true, true]);
    expect([read('link'), read('list')]).toEqual(['other', asLong]);
  });

  it('C12: removes what vanished after everything new stands, when it was told that readers let go', async () => {
    await publish({ 'index.html': 'names a', [page('list/a')]: 'a', [page('list')]: 'names a' });
    const seen: string[] = [];
    const { removed } = await publish(
      { 'index.html': 'front', [page('list')]: 'empty' },
      {
        beforeRemoval: async () => {
          seen.push(read('index.html'), read(page('list')), read(page('list/a')));
        },
      },
    );
    expect(seen).toEqual(['front', 'empty', 'a']);
    expect(removed).toBe(1);
    expect(existsSync(path.join(out, 'list/a'))).toBe(false);
    const timeOf = (name: string) => `${lstatSync(path.join(out, name)).mtimeMs}`;
    const calls: string[] = [];
    const note = (call: string) => () => void calls.push(call);
    const told = { whenStanding: note('standing'), beforeRemoval: async () => note('removal')() };
    await publish({ 'index.html': 'front', [page('list')]: 'empty' }, told);
    expect(calls).toEqual([]);
    await publish({ 'index.html': 'front' }, told);
    expect(calls).toEqual(['removal']);
    await publish(
      { 'index.html': 'front', [page('list')]: 'empty' },
      { ...told, whenStanding: () => calls.push(read(page('list')), timeOf(page('list'))) },
    );
    // With the time that it keeps, by which who serves it knows it.
    expect(calls).toEqual(['removal', 'empty', timeOf(page('list'))]);
  });
});
