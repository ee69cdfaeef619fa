import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { publishFolders } from '../../src/publication/folders.ts';
import { FoldersAhead } from '../../src/publication/folders-ahead.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { temporaryFolder } from '../support/folder.ts';

let folder = '';
let out = '';
let staged = '';
beforeEach(() => {
  folder = temporaryFolder();
  [out, staged] = [path.join(folder, 'out'), path.join(folder, 'staged')];
});

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `package/p${index}/index.html`);
/** What is in the output folder, in order; what is temporary is counted by its names. */
const list = (): string[] => readdirSync(out, { recursive: true, encoding: 'utf8' }).sort();
const listPublic = (): string[] => list().filter((name) => !name.startsWith('.staging'));
const countTemporary = (): number => list().filter((name) => /^\.staging.*\/p\d+$/.test(name)).length;

describe('folders that are made ahead of what is to be in them', () => {
  it('C12: have no names before they are placed, and are new then', async () => {
    const ahead = new FoldersAhead(new OutputFolder(out));
    await ahead.begin([...numbered(50), 'author/eva/index.html', 'author/eva/2/index.html', 'index.html']);
    expect(countTemporary()).toBe(50);
    expect(listPublic()).toEqual([]);
    expect([...ahead.place()]).toEqual(['package', 'author']);
    expect(listPublic()).toHaveLength(50 + 4);
    expect(existsSync(path.join(out, 'author', 'eva', '2'))).toBe(true);
  });

  it('C12: are not made where there is something, nor placed where there is something since', async () => {
    mkdirSync(path.join(out, 'author'), { recursive: true });
    const ahead = new FoldersAhead(new OutputFolder(out));
    await ahead.begin([...numbered(3), 'author/eva/index.html', 'list/one/index.html', 'section/tweaks/index.html']);
    writeFileSync(path.join(out, 'package'), 'a file');
    mkdirSync(path.join(out, 'list'));
    expect([...ahead.place()]).toEqual(['section']);
    expect(listPublic()).toEqual(['author', 'list', 'package', 'section', 'section/tweaks']);
    expect(readFileSync(path.join(out, 'package'), 'utf8')).toBe('a file');
  });

  it('C12: are no longer made when what there is is placed, or dropped', async () => {
    const ahead = new FoldersAhead(new OutputFolder(out));
    const beginning = ahead.begin(numbered(500));
    await setImmediate();
    ahead.place();
    await beginning;
    expect(listPublic().length).toBeGreaterThan(1);
    expect(listPublic().length).toBeLessThan(500);
    // Also those below another one, where the last pause was after the last of the one before it.
    const between = new FoldersAhead(new OutputFolder(path.join(out, 'between')));
    const pausing = between.begin([...numbered(20), 'author/eva/index.html']);
    between.place();
    await pausing;
    expect(list().filter((name) => /^between.*\/(?:p19|author)$/.test(name))).toEqual(['between/package/p19']);
    const dropped = new FoldersAhead(new OutputFolder(path.join(out, 'other')));
    const making = dropped.begin(numbered(500));
    await setImmediate();
    dropped.drop();
    await making;
    expect(list().filter((name) => /^other.*\/p\d/.test(name))).toEqual([]);
  });

  it('C12: are gone when they are dropped, and none comes afterwards, where other files wait for their names', async () => {
    const output = new OutputFolder(out);
    output.hold();
    output.write('v2/index.json', 'held');
    const ahead = new FoldersAhead(output);
    await ahead.begin(numbered(3));
    expect(countTemporary()).toBe(3);
    ahead.drop();
    expect(countTemporary()).toBe(0);
    const early = new FoldersAhead(output);
    early.drop();
    await early.begin(numbered(3));
    expect(countTemporary()).toBe(0);
    output.release();
    expect(readFileSync(path.join(out, 'v2/index.json'), 'utf8')).toBe('held');
  });

  it('C12: are left to publishing from the first that cannot be made, which says why', async () => {
    const ahead = new FoldersAhead(new OutputFolder(out));
    const tooLong = `package/${'x'.repeat(300)}/index.html`;
    await ahead.begin(['package/one/index.html', tooLong, 'author/eva/index.html']);
    expect([...ahead.place()]).toEqual(['package']);
    expect(listPublic()).toEqual(['package', 'package/one']);
  });

  it('C12: are left to publishing where they are gone since', async () => {
    const ahead = new FoldersAhead(new OutputFolder(out));
    await ahead.begin(numbered(3));
    new OutputFolder(out).sweep();
    expect([...ahead.place()]).toEqual([]);
  });

  it('C12: get what is published, and none is gone through for what vanished', async () => {
    const output = new OutputFolder(out);
    const ahead = new FoldersAhead(output);
    const files = numbered(3);
    // Of one nothing comes, as where the publishing is of other files.
    await ahead.begin([...files, 'package/gone/index.html']);
    for (const file of files) {
      mkdirSync(path.dirname(path.join(staged, file)), { recursive: true });
      writeFileSync(path.join(staged, file), file);
    }
    const published = await publishFolders(output, [{ folder: staged, prefix: '', replaced: true }], {
      named: path.join(folder, 'named'),
      ahead,
      beforeRemoval: () => expect.unreachable('nothing vanished'),
    });
    expect([...published.files].sort()).toEqual(files);
    for (const file of files) expect(readFileSync(path.join(out, file), 'utf8')).toBe(file);
    expect(existsSync(path.join(out, '.staging'))).toBe(false);
  });
});
