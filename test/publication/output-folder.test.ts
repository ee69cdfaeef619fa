import type fs from 'node:fs';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { threadId } from 'node:worker_threads';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { longestSegment } from '../../src/contract/public-addresses.ts';
import { publishFolders } from '../../src/publication/folders.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { StagedFile } from '../../src/publication/staged-file.ts';
import { temporaryFolder } from '../support/folder.ts';

// What the system refuses, and how the disk flushes.
const system = vi.hoisted(() => ({
  refuse: (_call: 'rename' | 'write' | 'link' | 'times', _from: string, _to: string): string | undefined => undefined,
  flush: async (_files: Iterable<string>) => {},
}));
vi.mock('node:fs', async (load) => {
  const original = await load<typeof fs>();
  const guard = (call: 'rename' | 'write' | 'link' | 'times', from: fs.PathLike, to: fs.PathLike) => {
    const code = system.refuse(call, String(from), String(to));
    if (code !== undefined) throw Object.assign(new Error(code), { code, syscall: call });
  };
  const renameSync: typeof fs.renameSync = (from, to) => {
    guard('rename', from, to);
    original.renameSync(from, to);
  };
  const writeFileSync: typeof fs.writeFileSync = (file, ...content) => {
    guard('write', '', String(file));
    original.writeFileSync(file, ...content);
  };
  const linkSync: typeof fs.linkSync = (from, to) => {
    guard('link', from, to);
    original.linkSync(from, to);
  };
  const utimesSync: typeof fs.utimesSync = (file, ...times) => {
    guard('times', '', String(file));
    original.utimesSync(file, ...times);
  };
  const guarded = { ...original, renameSync, writeFileSync, linkSync, utimesSync };
  return { ...guarded, default: guarded };
});
vi.mock('../../src/publication/flush.ts', () => ({
  flushFiles: (_root: string, files: Iterable<string>) => system.flush(files),
}));

let folder: string;
let out: string;
beforeEach(() => {
  system.refuse = () => undefined;
  system.flush = async () => {};
  folder = temporaryFolder();
  out = path.join(folder, 'out');
});

const stage = (files: Readonly<Record<string, string>>, replaced = false) => {
  const staged = path.join(folder, 'staged');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(staged, name)), { recursive: true });
    writeFileSync(path.join(staged, name), text);
  }
  return [{ folder: staged, prefix: '', replaced }];
};
const publish = (files: Readonly<Record<string, string>>) =>
  publishFolders(new OutputFolder(out), stage(files), { named: path.join(folder, 'named') });
const read = (name: string) => readFileSync(path.join(out, name), 'utf8');

/** As who keeps files: another file in the place of one, with the same bytes or others. */
const makeAnew = (file: string, text: string): void => {
  rmSync(file);
  writeFileSync(file, text);
};

describe('the output folder', () => {
  it('C12: takes whole files too where a folder below it lies on another disk', async () => {
    const isOther = (file: string) => file.startsWith(path.join(out, 'v2'));
    system.refuse = (call, from, to) => (call === 'rename' && isOther(from) !== isOther(to) ? 'EXDEV' : undefined);
    const output = new OutputFolder(out);
    output.write('v2/index.json', 'one');
    const descriptor = openSync(path.join(out, 'v2/index.json'), 'r');
    output.write('v2/index.json', 'two');
    expect([readFileSync(descriptor, 'utf8'), read('v2/index.json')]).toEqual(['one', 'two']);
    closeSync(descriptor);
    // A first build would need its room twice.
    expect(readdirSync(path.join(out, '.staging'), { recursive: true })).toHaveLength(1);
    expect(readdirSync(path.join(out, 'v2'))).toEqual(['index.json']);
    const longest = `v2/${'a'.repeat(longestSegment)}`;
    output.write(longest, 'of a long name');
    expect(read(longest)).toBe('of a long name');
    rmSync(path.join(out, longest));
    await publish({ 'v2/page.html': 'page', 'index.html': 'front' });
    expect([read('v2/page.html'), read('index.html')]).toEqual(['page', 'front']);
    expect(readdirSync(out).sort()).toEqual(['index.html', 'v2']);
    // A folder may be where a file has to be, and something that a kill left where it is copied to.
    mkdirSync(path.join(out, 'v2/folder/a'), { recursive: true });
    mkdirSync(path.join(out, `v2/.${threadId}.next/a`), { recursive: true });
    const refuse = system.refuse;
    const inTheWay: string[] = [];
    system.refuse = (call, from, to) => {
      if (call === 'rename' && isOther(from) && lstatSync(to, { throwIfNoEntry: false })?.isDirectory())
        inTheWay.push(to);
      return refuse(call, from, to);
    };
    new OutputFolder(out).write('v2/folder', 'a file');
    // It stays until the copy is whole.
    expect([inTheWay, read('v2/folder')]).toEqual([[path.join(out, 'v2/folder')], 'a file']);
    expect(readdirSync(path.join(out, 'v2')).sort()).toEqual(['folder', 'page.html']);
  });

  it('C12: keeps what stood there where the disk is full, and leaves nothing half-written', async () => {
    await publish({ 'index.html': 'front', 'a/index.html': 'a' });
    // A name takes room too.
    for (const full of ['write', 'rename']) {
      system.refuse = (call, _, to) => (call === full && to.startsWith(out) ? 'ENOSPC' : undefined);
      await expect(publish({ 'index.html': 'another', 'a/index.html': 'other' })).rejects.toThrow('ENOSPC');
      expect([read('index.html'), read('a/index.html')]).toEqual(['front', 'a']);
      expect(readdirSync(out).sort()).toEqual(['a', 'index.html']);
    }
  });

  it('P1: gives nothing its name before all of it is ready, and then what is named before what names it', async () => {
    await publish({ 'index.html': 'front', 'a/index.html': 'a' });
    const output = new OutputFolder(out);
    output.hold();
    output.write('v2/new.json', 'empty');
    output.hold();
    output.write('v2/new.json', 'new');
    output.write('v2/index.json', 'names new');
    expect([output.lookUp('v2/new.json'), output.held]).toEqual([undefined, 3]);
    const placed: string[] = [];
    system.refuse = (call, _, to) => {
      if (call === 'rename' && to.startsWith(out)) placed.push(path.relative(out, to));
      return undefined;
    };
    const flushed: string[] = [];
    system.flush = async (files) => void flushed.push(...[...files].map((file) => path.relative(out, file)));
    const putInForce = async (placeNew: () => void) => {
      expect([placed, readdirSync(out)]).toEqual([[], expect.not.arrayContaining(['b'])]);
      placeNew();
      await output.flush();
      placed.push('catalog');
    };
    // Of files that may have a second name too, which is another way to appear.
    const files = { 'index.html': 'front of b', 'a/index.html': 'a names b', 'b/index.html': 'b' };
    const staged = stage(files, true);
    await publishFolders(output, staged, { named: path.join(folder, 'named'), putInForce });
    const late = ['a/index.html', 'index.html'];
    const early = ['v2/new.json', 'v2/new.json', 'v2/index.json', 'b/index.html'];
    expect(placed).toEqual([...early, 'catalog', ...late]);
    expect(flushed.sort()).toEqual([...new Set([...early, ...late])].sort());
    expect([output.isHolding, read('v2/new.json'), read('index.html')]).toEqual([false, 'new', 'front of b']);
  });

  it('P1: leaves what stands where anything cannot be made ready, documents too', async () => {
    await publish({ 'index.html': 'front', 'a/index.html': 'a' });
    const output = new OutputFolder(out);
    output.hold();
    output.write('v2/index.json', 'document');
    system.refuse = (call, from, to) =>
      call === 'write' && `${from}${to}`.startsWith(path.join(out, '.staging')) ? 'ENOSPC' : undefined;
    const staged = stage({ 'index.html': 'another', 'a/index.html': 'other' });
    await expect(publishFolders(output, staged, { named: path.join(folder, 'named') })).rejects.toThrow('ENOSPC');
    output.drop();
    expect([read('index.html'), read('a/index.html')]).toEqual(['front', 'a']);
    expect(readdirSync(out, { recursive: true }).sort()).toEqual(['a', 'a/index.html', 'index.html']);
    system.refuse = () => undefined;
    // It is as if it had never been written, also for the next flush.
    expect([output.isHolding, output.hasPlaced('v2/index.json')]).toEqual([false, false]);
    output.write('v2/index.json', 'later');
    const flushed: string[] = [];
    system.flush = async (files) => void flushed.push(...files);
    await output.flush();
    expect([flushed, read('v2/index.json')]).toEqual([[path.join(out, 'v2/index.json')], 'later']);
  });

  it('C12: flushes pages, too, and says that they stand there when they do', async () => {
    const flushed: string[] = [];
    system.flush = async (files) => {
      flushed.push(...files);
      throw new Error('the power is cut');
    };
    await expect(publish({ 'index.html': 'front', 'a/index.html': 'a' })).rejects.toThrow('the power is cut');
    expect(flushed.map((file) => path.relative(out, file)).sort()).toEqual(['a/index.html', 'index.html']);
    // A disk that never wrote the bytes gives back others in their length.
    const before = statSync(path.join(out, 'a/index.html'));
    writeFileSync(path.join(out, 'a/index.html'), '\0');
    utimesSync(path.join(out, 'a/index.html'), before.atime, before.mtime);
    expect(statSync(path.join(out, 'a/index.html')).size).toBe(before.size);
    // However soon after staging it was copied, its time does not say that it was flushed.
    expect(before.mtimeMs).toBeLessThan(statSync(path.join(folder, 'staged/a/index.html')).mtimeMs);
    system.flush = async () => {};
    expect(await publish({})).toMatchObject({ written: 1, unchanged: 1 });
    expect(read('a/index.html')).toBe('a');
    // From now on its time says that it was compared and flushed.
    const { mtimeMs } = statSync(path.join(folder, 'staged/a/index.html'));
    expect(Math.floor(statSync(path.join(out, 'a/index.html')).mtimeMs)).toBe(Math.floor(mtimeMs));
    expect(await publish({})).toMatchObject({ written: 0, unchanged: 2 });
  });

  it('C12: gives a file a second name where its builder replaces it, and copies it where the disk has no such names', async () => {
    const publishShared = (files: Readonly<Record<string, string>>) =>
      publishFolders(new OutputFolder(out), stage(files, true), { named: path.join(folder, 'named') });
    const isShared = (name: string) =>
      statSync(path.join(out, name)).ino === statSync(path.join(folder, 'staged', name)).ino;
    const flushed: string[] = [];
    system.flush = async (files) => void flushed.push(...files);
    expect(await publishShared({ 'index.html': 'front', 'a/index.html': 'a' })).toMatchObject({ written: 2 });
    expect([isShared('index.html'), isShared('a/index.html')]).toEqual([true, true]);
    expect(flushed.map((file) => path.relative(out, file)).sort()).toEqual(['a/index.html', 'index.html']);
    expect(readdirSync(out).sort()).toEqual(['a', 'index.html']);
    expect(await publishShared({})).toMatchObject({ written: 0, unchanged: 2 });

    // A reader of what is published goes on with it, whole, while its builder writes the next.
    const descriptor = openSync(path.join(out, 'a/index.html'), 'r');
    makeAnew(path.join(folder, 'staged/a/index.html'), 'another a');
    expect([readFileSync(descriptor, 'utf8'), read('a/index.html')]).toEqual(['a', 'a']);
    closeSync(descriptor);
    system.refuse = (call) => (call === 'link' ? 'EXDEV' : undefined);
    expect(await publishShared({})).toMatchObject({ written: 1, unchanged: 1 });
    expect([read('a/index.html'), isShared('a/index.html')]).toEqual(['another a', false]);
    expect(await publishShared({})).toMatchObject({ written: 0, unchanged: 2 });
    // The same bytes in another file are the same page, and become one file where that can be.
    makeAnew(path.join(folder, 'staged/index.html'), 'front');
    const published = statSync(path.join(out, 'index.html'));
    expect(await publishShared({})).toMatchObject({ written: 0, unchanged: 2 });
    expect([isShared('index.html'), isShared('a/index.html')]).toEqual([false, false]);
    system.refuse = () => undefined;
    // Whatever their times say.
    utimesSync(path.join(folder, 'staged/index.html'), new Date(0), new Date(0));
    expect(await publishShared({})).toMatchObject({ written: 0, unchanged: 2 });
    expect([isShared('index.html'), isShared('a/index.html')]).toEqual([true, true]);
    const { ino, mtimeMs } = statSync(path.join(out, 'index.html'));
    expect([ino, mtimeMs]).toEqual([published.ino, published.mtimeMs]);
    expect(readdirSync(path.join(folder, 'staged')).sort()).toEqual(['a', 'index.html']);
    // Of one length alone they are not the same.
    makeAnew(path.join(folder, 'staged/index.html'), 'other');
    utimesSync(path.join(folder, 'staged/index.html'), published.atime, published.mtime);
    expect(await publishShared({})).toMatchObject({ written: 1, unchanged: 1 });
    expect([read('index.html'), isShared('index.html')]).toEqual(['other', true]);
  });

  it('C12: publishes what others could not read, and what is a link, as files of its own', async () => {
    const staged = stage({ 'index.html': 'front', 'a/index.html': 'a' }, true);
    chmodSync(path.join(folder, 'staged/a/index.html'), 0o600);
    writeFileSync(path.join(folder, 'elsewhere'), 'elsewhere');
    symlinkSync(path.join(folder, 'elsewhere'), path.join(folder, 'staged/b'));
    await publishFolders(new OutputFolder(out), staged, { named: path.join(folder, 'named') });
    const own = statSync(path.join(out, 'index.html')).mode;
    for (const name of ['a/index.html', 'b']) {
      const { mode, nlink } = lstatSync(path.join(out, name));
      expect([name, mode, nlink]).toEqual([name, own, 1]);
    }
    expect(statSync(path.join(folder, 'staged/a/index.html')).mode & 0o777).toBe(0o600);
    expect(read('b')).toBe('elsewhere');
    rmSync(path.join(folder, 'staged/b'));
    // One that was published so before is left so, never shared, and mended where all is verified.
    chmodSync(path.join(out, 'index.html'), 0o600);
    makeAnew(path.join(folder, 'staged/index.html'), 'front');
    const again = (verify: boolean) =>
      publishFolders(new OutputFolder(out), staged, { named: path.join(folder, 'named'), verify });
    expect(await again(false)).toMatchObject({ written: 0 });
    expect(statSync(path.join(folder, 'staged/index.html')).nlink).toBe(1);
    expect(await again(true)).toMatchObject({ written: 1 });
    expect(statSync(path.join(out, 'index.html')).mode).toBe(own);
  });

  it('C12: publishes as its own what is kept with a right beyond those of reading and writing', async ({ skip }) => {
    const staged = stage({ 'a.html': 'a' }, true);
    const kept = path.join(folder, 'staged/a.html');
    const { mode } = statSync(kept);
    try {
      chmodSync(kept, mode | 0o2000);
    } catch {
      // Some systems refuse it, and others leave it out.
    }
    skip(statSync(kept).mode === mode, 'this disk or user sets no group');
    await publishFolders(new OutputFolder(out), staged, { named: path.join(folder, 'named') });
    expect(lstatSync(path.join(out, 'a.html'))).toMatchObject({ mode, nlink: 1 });
  });

  it.runIf(process.getuid?.() === 0)('C12: publishes as its own what is kept of somebody else', async () => {
    const staged = stage({ 'a.html': 'a', 'b.html': 'b' }, true);
    chownSync(path.join(folder, 'staged/a.html'), 65534, 0);
    chownSync(path.join(folder, 'staged/b.html'), 0, 65534);
    await publishFolders(new OutputFolder(out), staged, { named: path.join(folder, 'named') });
    for (const name of ['a.html', 'b.html']) {
      const { uid, gid, nlink } = statSync(path.join(out, name));
      expect([name, uid, gid, nlink]).toEqual([name, 0, 0, 1]);
    }
  });

  it('C13: compares a file each time where its builder may not be given its time, and fails where the disk does', async () => {
    await publish({ 'index.html': 'front' });
    const built = path.join(folder, 'staged/index.html');
    utimesSync(built, 1_700_000_000, 1_700_000_000);
    for (const refused of ['EPERM', 'EACCES', 'EROFS', 'EIO']) {
      system.refuse = (call, _, to) => (call === 'times' && to === built ? refused : undefined);
      if (refused === 'EIO') await expect(publish({})).rejects.toThrow(refused);
      else expect(await publish({})).toMatchObject({ written: 0, unchanged: 1 });
    }
  });

  it('C12: tries second names once where the disk has none, and shares over what a kill left', async () => {
    const shared = (verify = false) =>
      publishFolders(new OutputFolder(out), stage({}, true), { named: path.join(folder, 'named'), verify });
    stage({ 'a.html': 'a', 'b.html': 'b', 'c.html': 'c' });
    await shared();
    for (const name of ['a', 'b', 'c']) makeAnew(path.join(folder, `staged/${name}.html`), name);
    let tried = 0;
    system.refuse = (call) => (call === 'link' && ++tried > 0 ? 'EPERM' : undefined);
    expect(await shared()).toMatchObject({ written: 0, unchanged: 3 });
    expect(tried).toBe(1);
    system.refuse = () => undefined;
    const beside = path.join(folder, `staged/.${threadId}.next`);
    writeFileSync(beside, 'left by a kill');
    const known = {
      files: ['a.html', 'b.html', 'c.html'],
      folder: path.join(folder, 'staged'),
      prefix: '',
      replaced: true,
    };
    const flushed: string[] = [];
    system.flush = async (files) => void flushed.push(...files);
    const options = { named: path.join(folder, 'named'), verify: true };
    expect(await publishFolders(new OutputFolder(out), [known], options)).toMatchObject({ written: 0, unchanged: 3 });
    expect(statSync(path.join(folder, 'staged/a.html')).ino).toBe(statSync(path.join(out, 'a.html')).ino);
    expect(readdirSync(path.join(folder, 'staged')).sort()).toEqual(['a.html', 'b.html', 'c.html']);
    // What an earlier publishing left may never have been flushed.
    expect(flushed).toHaveLength(3);
    // A folder of such a name is in the way of sharing, and of nothing else.
    makeAnew(path.join(folder, 'staged/a.html'), 'a');
    mkdirSync(path.join(beside, 'x'), { recursive: true });
    expect(await publishFolders(new OutputFolder(out), [known], options)).toMatchObject({ written: 0, unchanged: 3 });
  });

  it('C12: shares with a builder again what has the longest name that a disk allows, and what comes after it', async () => {
    const long = `${'a'.repeat(longestSegment - 1)}~`;
    const places = { 'a.html': long, 'b.html': 'b' };
    const known = {
      ...{ files: Object.keys(places), folder: path.join(folder, 'staged'), prefix: '', replaced: true },
      standsAt: (file: string) => places[file as keyof typeof places],
    };
    stage({ [long]: 'a', b: 'b' });
    const shared = () => publishFolders(new OutputFolder(out), [known], { named: path.join(folder, 'named') });
    await shared();
    for (const name of [long, 'b']) makeAnew(path.join(folder, 'staged', name), name.slice(0, 1));
    expect(await shared()).toMatchObject({ written: 0, unchanged: 2 });
    for (const [name, place] of Object.entries(places)) {
      expect(statSync(path.join(folder, 'staged', place)).ino).toBe(statSync(path.join(out, name)).ino);
    }
  });

  it('C12: removes the copies of a file that it gives a second name, be it new', () => {
    const output = new OutputFolder(out);
    output.keepCopies();
    const [{ folder: staged } = { folder: '' }] = stage({ 'a/index.html': 'a' });
    mkdirSync(path.join(out, 'a'));
    writeFileSync(path.join(out, 'a/index.html.br'), 'of another');
    expect(output.share(path.join(staged, 'a/index.html'), 'a/index.html')).toBe(true);
    expect(readdirSync(path.join(out, 'a'))).toEqual(['index.html']);
    // Before it has its name: a kill in between must leave none of another file.
    const copy = path.join(out, 'a/index.html.gz');
    writeFileSync(copy, 'of another');
    const found: boolean[] = [];
    system.refuse = (call, _, to) => {
      if (call === 'rename' && to === path.join(out, 'a/index.html')) found.push(existsSync(copy));
      return undefined;
    };
    output.write('a/index.html', 'b');
    expect([found, read('a/index.html')]).toEqual([[false], 'b']);
  });

  it('C9: asks the disk for nothing in a folder that it has just made, and for all that it has placed there', () => {
    const output = new OutputFolder(out);
    expect(output.lookUp('new/a')).toBeUndefined();
    output.write('new/a', 'one');
    expect(output.lookUp('new/a')?.size).toBe(3);
    expect(output.lookUp('new/b/c')).toBeUndefined();
    expect(output.lookUp('new/b')?.isDirectory()).toBe(true);
    // Of the output folder itself, and of folders that were there before, everything is asked.
    mkdirSync(path.join(out, 'old'));
    writeFileSync(path.join(out, 'old/a'), 'a');
    writeFileSync(path.join(out, 'top'), 'a');
    expect([output.lookUp('old/a')?.size, new OutputFolder(out).lookUp('top')?.size]).toEqual([1, 1]);
    output.sweep();
    writeFileSync(path.join(out, 'new/d'), 'd');
    expect(output.lookUp('new/d')?.size).toBe(1);
  });

  it('C9: replaces a link in a folder that it has just made, and says why a folder there cannot be made', () => {
    const output = new OutputFolder(out);
    output.write('new/a', 'a');
    const [{ folder: elsewhere } = { folder: '' }] = stage({ 'x.html': 'x' });
    symlinkSync(elsewhere, path.join(out, 'new/link'));
    output.write('new/link/x.html', 'another');
    expect([read('new/link/x.html'), readFileSync(path.join(elsewhere, 'x.html'), 'utf8')]).toEqual(['another', 'x']);
    expect(() => output.write(`new/${'x'.repeat(300)}/a`, 'a')).toThrow('ENAMETOOLONG');
  });

  it('C9: removes a link in the place of a folder, nothing behind it, and makes a folder again that it has removed', () => {
    const output = new OutputFolder(out);
    const [{ folder: elsewhere } = { folder: '' }] = stage({ 'x.html': 'x' });
    output.write('a/b/c', '1');
    symlinkSync(elsewhere, path.join(out, 'link'));
    expect(['link', 'missing', 'a'].map((name) => output.prune(name))).toEqual([1, 0, 1]);
    expect(readdirSync(elsewhere)).toEqual(['x.html']);
    output.write('a/b/c', '2');
    expect([readdirSync(out).sort(), read('a/b/c')]).toEqual([['.staging', 'a'], '2']);
    // Also where the file and some of its folders are gone already, up to one in which something is.
    output.write('a/d/e/f/g', '3');
    rmSync(path.join(out, 'a/d/e/f'), { recursive: true });
    output.removeEmptyAbove('a/d/e/f/g');
    expect(readdirSync(path.join(out, 'a'))).toEqual(['b']);
    output.write('a/d/e/f/g', '4');
    expect(read('a/d/e/f/g')).toBe('4');
  });

  it('C12: flushes each file that was written since the last flush, once', async () => {
    const flushes: string[][] = [];
    system.flush = async (files) => {
      flushes.push([...files]);
    };
    const output = new OutputFolder(out);
    output.write('a', 'a');
    output.note('b');
    await output.flush();
    await output.flush();
    output.write('c', 'c');
    await output.flush();
    // Piece by piece, and one of which nothing came.
    const [staged, given] = [new StagedFile(output), new StagedFile(output)];
    staged.append(Buffer.from('d'));
    staged.place('d');
    given.discard();
    await output.flush();
    expect(flushes).toEqual([['a', 'b'], ['c'], ['d']].map((names) => names.map((name) => path.join(out, name))));
    output.sweep();
    expect(readdirSync(out).toSorted()).toEqual(['a', 'c', 'd']);
  });
});
