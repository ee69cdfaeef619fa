import { hash } from 'node:crypto';
import fs, { type FileHandle, mkdir, mkdtemp, open, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { noAttempts, type Snapshot } from '../../src/snapshots/snapshot.ts';
import { SnapshotStore, type StagedFile } from '../../src/snapshots/store.ts';
import { replaceFunctions } from '../support/replaced-functions.ts';

let directory: string;
let store: SnapshotStore;

const openIn = (folder: string) => new SnapshotStore(join(folder, 'not', 'there', 'yet'), join(folder, 'history'));

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'debdex-store-'));
  store = openIn(directory);
});

afterEach(() => rm(directory, { recursive: true, force: true }));

const folder = () => join(directory, 'not', 'there', 'yet', 'v1', 'repo');

const makeSnapshot = (release: StagedFile, packages: StagedFile, fields: Partial<Snapshot> = {}): Snapshot => {
  const file = ({ sha256, size }: StagedFile, path: string) => ({
    path,
    sha256,
    size,
    etag: '"x"',
    lastModified: null,
  });
  return {
    slug: 'repo',
    origin: { uri: 'https://repo.example', suite: './', component: null, binary: null },
    release: file(release, '/Release'),
    packages: {
      ...file(packages, '/Packages'),
      compression: 'plain',
      decompressedSize: packages.size,
      stanzas: 1,
      listed: false,
    },
    packagesOfAll: null,
    signature: null,
    signing: { state: 'unsigned', signers: [], remembered: [] },
    hasInRelease: false,
    hasReleaseGpg: false,
    paymentEndpoint: null,
    paymentValidators: null,
    releaseGpgValidators: null,
    extrasCheckedAt: '2026-06-01T12:00:00.000Z',
    changedAt: '2026-06-01T12:00:00.000Z',
    checkedAt: '2026-06-01T12:00:00.000Z',
    findings: [{ code: 'release-without-hashes', count: 1, example: '/Release' }],
    ...fields,
  };
};

const put = async (release: string, packages: string, fields: Partial<Snapshot> = {}): Promise<Snapshot> => {
  const staged = [
    await store.stage('repo', [Buffer.from(release)]),
    await store.stage('repo', [Buffer.from(packages)]),
  ];
  const [first, second] = staged;
  if (!first || !second) throw new Error('two files were staged');
  const snapshot = makeSnapshot(first, second, fields);
  await store.write(snapshot, staged);
  return snapshot;
};

describe('the store', () => {
  it('gives back what was written', async () => {
    const snapshot = await put('release', 'packages');
    expect(await store.read('repo')).toEqual(snapshot);
    expect(Buffer.from(await store.readFile('repo', snapshot.packages)).toString()).toBe('packages');
    expect(await store.list()).toEqual(['repo']);
  });

  it('knows nothing before', async () => {
    expect(await store.read('repo')).toBeUndefined();
    expect(await store.list()).toEqual([]);
    expect(await store.readAttempts('repo')).toEqual(noAttempts);
    await store.remove('repo');
  });

  it('stages bytes under their hash, readable before they are kept', async () => {
    const staged = await store.stage('repo', [Buffer.from('ab'), Buffer.from('c')]);
    expect(staged).toMatchObject({ size: 3, sha256: hash('sha256', 'abc') });
    const chunks: Uint8Array[] = [];
    for await (const chunk of staged.read()) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('abc');
    await staged.discard();
    expect(await readdir(folder())).toEqual([]);
  });

  it('leaves nothing of what did not arrive whole', async () => {
    const failing = async function* () {
      yield Buffer.from('a');
      throw new Error('cut');
    };
    await expect(store.stage('repo', failing())).rejects.toThrow('cut');
    expect(await readdir(folder())).toEqual([]);
  });

  it('C3: replaces one generation by the next, whole, and sweeps what is no longer named', async () => {
    const before = await put('release 1', 'packages 1');
    await writeFile(join(folder(), 'tmp-left-by-a-crash'), 'x');
    const after = await put('release 2', 'packages 1');
    expect(await store.read('repo')).toEqual(after);
    expect((await readdir(folder())).sort()).toEqual(['meta.json', after.release.sha256, after.packages.sha256].sort());
    await expect(store.readFile('repo', before.release)).rejects.toMatchObject({ code: 'missing' });
  });

  it('C3: keeps shared files that are not staged again, and refuses a snapshot without bytes', async () => {
    const before = await put('release 1', 'packages');
    const release = await store.stage('repo', [Buffer.from('release 2')]);
    const next = { ...before, release: { ...before.release, sha256: release.sha256, size: release.size } };
    await store.write(next, [release]);
    expect(await store.read('repo')).toEqual(next);
    const gone = { ...next, packages: { ...next.packages, sha256: hash('sha256', 'other') } };
    await expect(store.write(gone, [])).rejects.toMatchObject({ code: 'missing' });
    expect(await store.read('repo')).toEqual(next);
  });

  it('C12: stopped before the description is written, it still has the generation before', async () => {
    const before = await put('release 1', 'packages 1');
    for (const text of ['release 2', 'packages 2']) {
      const staged = await store.stage('repo', [Buffer.from(text)]);
      await writeFile(join(folder(), staged.sha256), text);
    }
    await writeFile(join(folder(), 'tmp-meta'), '{');
    expect(await store.read('repo')).toEqual(before);
    await put('release 3', 'packages 3');
    expect(await readdir(folder())).toHaveLength(3);
  });

  it('C12: has each file, and all of their names, on disk before the description names them, and that at the end', async () => {
    const handle = await open(directory);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    const sync = prototype.sync;
    /** What the folder held each time that something in it, or the folder itself, was flushed. */
    const flushes: string[][] = [];
    const spy = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
      const names = await readdir(folder());
      flushes.push(names.map((name) => name.replace(/^tmp-.*|^[0-9a-f]{64}$/, (whole) => whole.slice(0, 3))).sort());
      return sync.call(this);
    });
    onTestFinished(() => spy.mockRestore());
    const text = (content: string) => hash('sha256', content).slice(0, 3);
    await put('release', 'packages');
    const named = [text('release'), text('packages')].sort();
    expect(flushes).toEqual([
      ['tmp', 'tmp'],
      [text('release'), 'tmp'].sort(),
      named,
      [...named, 'tmp'].sort(),
      [...named, 'meta.json'].sort(),
    ]);
  });

  it.each(['', '{', '[]', '{"slug": "repo"}'])('C3: reports a description of %j as damage', async (text) => {
    await put('release', 'packages');
    await writeFile(join(folder(), 'meta.json'), text);
    await expect(store.read('repo')).rejects.toMatchObject({ name: 'SnapshotError', code: 'damaged' });
  });

  it('reads a large file in pieces', async () => {
    const { packages } = await put('release', 'x'.repeat(1_000_000));
    const pieces: Uint8Array[] = [];
    for await (const piece of store.streamFile('repo', packages)) pieces.push(piece);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(1 << 18);
    expect(Buffer.concat(pieces).toString()).toBe('x'.repeat(1_000_000));
  });

  it('reads a small file into little memory, however often it is read', async () => {
    const { packages } = await put('release', 'packages');
    let allocated = 0;
    const { allocUnsafeSlow } = Buffer;
    Buffer.allocUnsafeSlow = (size) => {
      allocated += size;
      return allocUnsafeSlow(size);
    };
    onTestFinished(() => {
      Buffer.allocUnsafeSlow = allocUnsafeSlow;
    });
    await store.checkFile('repo', packages);
    const staged = await store.stage('repo', [Buffer.from('staged')]);
    for await (const piece of staged.read()) expect(Buffer.from(piece).toString()).toBe('staged');
    expect(allocated).toBeGreaterThan(0);
    expect(allocated).toBeLessThan(1000);
  });

  it('C3: reports files that are gone, shortened, lengthened or changed', async () => {
    const { packages } = await put('release', 'packages');
    const path = join(folder(), packages.sha256);
    await writeFile(path, 'PACKAGES');
    await expect(store.readFile('repo', packages)).rejects.toMatchObject({ code: 'damaged' });
    await expect(store.checkFile('repo', packages)).rejects.toMatchObject({ code: 'damaged' });
    await writeFile(path, 'packages and more');
    await expect(store.checkFile('repo', packages)).rejects.toMatchObject({ code: 'damaged' });
    await writeFile(path, 'pack');
    await expect(store.read('repo')).rejects.toMatchObject({ code: 'damaged' });
    await rm(path);
    await expect(store.checkFile('repo', packages)).rejects.toMatchObject({ code: 'missing' });
    await expect(store.read('repo')).rejects.toMatchObject({ code: 'damaged' });
  });

  it('C6: remembers attempts, and counts the last success as the last check', async () => {
    const snapshot = await put('release', 'packages');
    const attempts = { ...noAttempts, failures: 2, notBefore: '2026-06-02T12:00:00.000Z', askedByOrigin: true };
    await store.writeAttempts('repo', attempts);
    expect(await openIn(directory).readAttempts('repo')).toEqual(attempts);
    expect(await store.read('repo')).toEqual(snapshot);
    await store.writeAttempts('repo', { ...noAttempts, succeededAt: '2026-06-02T13:00:00.000Z' });
    expect(await store.read('repo')).toEqual({ ...snapshot, checkedAt: '2026-06-02T13:00:00.000Z' });
    // Under a clock that was ahead when the snapshot was taken, and was put right.
    await store.writeAttempts('repo', { ...noAttempts, succeededAt: '2026-05-02T13:00:00.000Z' });
    expect((await store.read('repo'))?.checkedAt).toBe('2026-05-02T13:00:00.000Z');
    await writeFile(join(folder(), 'attempts.json'), '{');
    expect(await store.readAttempts('repo')).toEqual(noAttempts);
  });

  it('C6: remembers attempts that an earlier version wrote, a back-off and the word of the operator among them', async () => {
    await put('release', 'packages');
    const { remembered: _, ...before } = {
      ...noAttempts,
      failures: 3,
      notBefore: '2026-06-02T12:00:00.000Z',
      accepted: { stanzas: 7, date: null },
    };
    const written = { ...before, refused: { stanzas: 7, date: null } };
    await writeFile(join(folder(), 'attempts.json'), JSON.stringify(written));
    expect(await store.readAttempts('repo')).toEqual({ ...before, remembered: null });
  });

  it('C9: keeps slugs apart on a disk without letter case, under folder names that lead back to them', async () => {
    const slugs = ['A.b_C', 'Foo', 'a.', 'foo', 'repo', 'x.json'];
    for (const slug of slugs) await store.writeAttempts(slug, { ...noAttempts, code: slug });
    const names = await readdir(join(folder(), '..'));
    expect(names.sort()).toEqual(['_a.b=5f_c', '_foo', 'a=2e', 'foo', 'repo', 'x=2ejson']);
    expect(await store.list()).toEqual(slugs);
    for (const slug of slugs) expect((await store.readAttempts(slug)).code).toBe(slug);
    for (const slug of slugs) await store.history.update(slug, { formerSlugs: [slug] });
    for (const slug of slugs) expect((await store.history.read(slug)).formerSlugs).toEqual([slug]);
    await store.remove('Foo');
    expect(await store.list()).toEqual(slugs.filter((slug) => slug !== 'Foo'));
  });

  it('removes a repository', async () => {
    await put('release', 'packages');
    await store.remove('repo');
    expect(await store.read('repo')).toBeUndefined();
    expect(await store.list()).toEqual([]);
  });

  it('C9: removes what nobody uses any more, and no folder in which anything lies that is not its own', async () => {
    await put('release', 'packages');
    await mkdir(join(directory, 'not', 'there', 'yet', 'v1', 'mine'));
    await writeFile(join(directory, 'not', 'there', 'yet', 'v1', 'mine', 'letter.txt'), 'mine');
    expect(await store.removeUnused(new Set(['repo']), new Date('2027-01-01'))).toEqual([]);
    expect(await store.removeUnused(new Set(), new Date('2027-01-01'))).toEqual(['repo']);
    expect(await store.list()).toEqual(['mine']);
    // Nor is such a folder replaced by that of a former slug.
    await put('release', 'packages');
    expect(await store.adopt('mine', 'repo')).toBe(false);
    expect(await readdir(join(directory, 'not', 'there', 'yet', 'v1', 'mine'))).toEqual(['letter.txt']);
  });

  it('C12: keeps what was tried lately, whether that went well or not', async () => {
    const [long, lately] = ['2026-06-01T12:00:00.000Z', '2026-06-03T12:00:00.000Z'];
    await put('release', 'packages');
    await store.writeAttempts('repo', { ...noAttempts, succeededAt: long, failedAt: lately });
    expect(await store.removeUnused(new Set(), new Date('2026-06-02T00:00:00.000Z'))).toEqual([]);
    await store.writeAttempts('repo', { ...noAttempts, succeededAt: lately, failedAt: long });
    expect(await store.removeUnused(new Set(), new Date('2026-06-02T00:00:00.000Z'))).toEqual([]);
  });

  it('C12: keeps what was tried lately though the record of the attempts is damaged', async () => {
    await put('release', 'packages');
    await store.writeAttempts('repo', { ...noAttempts, succeededAt: '2026-06-01T12:00:00.000Z' });
    const attempts = join(folder(), 'attempts.json');
    await writeFile(attempts, '{"succ');
    const written = new Date('2026-06-02T12:00:00.000Z');
    await utimes(attempts, written, written);
    expect(await store.removeUnused(new Set(), new Date('2026-06-02T00:00:00.000Z'))).toEqual([]);
    expect(await store.removeUnused(new Set(), new Date('2026-06-03T00:00:00.000Z'))).toEqual(['repo']);
  });

  it.each(['..', '.', '', '../x', 'a/b', '/etc', '-a', '_a', 'a:b', 'A'.repeat(65)])(
    'C9: has no folder for the slug %j',
    async (slug) => {
      await expect(store.read(slug)).rejects.toMatchObject({ code: 'slug' });
      await expect(store.remove(slug)).rejects.toMatchObject({ code: 'slug' });
      await expect(store.stage(slug, [])).rejects.toMatchObject({ code: 'slug' });
    },
  );
});

describe('what is there and may not be read', () => {
  let refusal: string | undefined;
  const { readFile } = fs;
  const refusing = async (...parameters: Parameters<typeof readFile>) => {
    if (refusal !== undefined) throw Object.assign(new Error(refusal), { code: refusal });
    return readFile(...parameters);
  };
  replaceFunctions(fs, { readFile: refusing as typeof readFile });

  it.each(['EACCES', 'EMFILE', 'EIO'])(
    'C12: a history is not written anew, and counts as no damage (%s)',
    async (code) => {
      const sight = { seen: '2026-06-01T12:00:00.000Z', news: false, goneAt: null, changedAt: null };
      const { history } = store;
      await history.update('repo', { addedAt: sight.seen, formerSlugs: ['old'] });
      await history.writeRecords('repo', { address: 'a', records: new Map([['one\n1\nall', sight]]) });
      refusal = code;
      await expect(history.update('repo', { addedAt: null })).rejects.toMatchObject({ code });
      await expect(history.readRecords('repo')).rejects.toMatchObject({ code });
      await expect(history.adopt('other', 'repo')).rejects.toMatchObject({ code });
      refusal = undefined;
      expect(history.damaged).toEqual([]);
      expect(await history.read('repo')).toMatchObject({ addedAt: sight.seen, formerSlugs: ['old'] });
      expect((await history.readRecords('repo'))?.records.size).toBe(1);
    },
  );

  it('C12: attempts that may not be read are kept, with what the operator accepted, unless the disk has lost them', async () => {
    const attempts = { ...noAttempts, failedAt: '2026-06-02T12:00:00.000Z', accepted: { stanzas: 7, date: null } };
    await store.writeAttempts('repo', attempts);
    for (const code of ['EACCES', 'EMFILE']) {
      refusal = code;
      await expect(store.readAttempts('repo')).rejects.toMatchObject({ code });
      expect(await store.removeUnused(new Set(), new Date('2026-06-03T00:00:00.000Z'))).toEqual([]);
    }
    refusal = 'EIO';
    expect(await store.readAttempts('repo')).toEqual(noAttempts);
    refusal = undefined;
    expect(await store.readAttempts('repo')).toEqual(attempts);
  });
});
