import { chmodSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LockedError } from '../../src/catalog/lock.ts';
import { generationPath } from '../../src/contract/generation.ts';
import { takeCatalog } from '../../src/following/mirror-files.ts';
import { isUnderWay, markUnderWay, unmarkUnderWay } from '../../src/following/mirror-mark.ts';
import type { PublicationSource } from '../../src/following/source.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { temporaryFolder } from '../support/folder.ts';
import { begin, cut, origin, read, take, useMirroredPublications } from '../support/mirrored-publication.ts';

useMirroredPublications();

/** Kills a mirror before one of its files has its name. */
const killAt = async (folder: string, isLast: (file: string) => boolean): Promise<void> => {
  const place = OutputFolder.prototype.place;
  const kill = vi.spyOn(OutputFolder.prototype, 'place').mockImplementation(function (this: OutputFolder, from, to) {
    if (isLast(to)) throw new Error('killed');
    place.call(this, from, to);
  });
  await expect(take(folder)).rejects.toThrow('killed');
  kill.mockRestore();
};

/** Kills a mirror when all is placed, before it removes what is gone. */
const killAtRemoval = async (folder: string): Promise<void> => {
  const kill = vi.spyOn(OutputFolder.prototype, 'removeEmptyAbove').mockImplementation(() => {
    throw new Error('killed');
  });
  await expect(take(folder)).rejects.toThrow('killed');
  kill.mockRestore();
};

/** Puts a command in the place of the system's `sync`; returns what stood in a folder each time that this was flushed. */
const noteAtSync = (folder: string): (() => string[][]) => {
  const bin = temporaryFolder();
  const noted = path.join(bin, 'noted');
  writeFileSync(
    path.join(bin, 'sync'),
    `#!/bin/sh\n[ "$2" != "${folder}" ] || (cd "$2" && find v2 -type f && echo .) >>"${noted}"\n`,
  );
  chmodSync(path.join(bin, 'sync'), 0o755);
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  return () =>
    (existsSync(noted) ? readFileSync(noted, 'utf8').split('\n.\n').slice(0, -1) : []).map((one) => one.split('\n'));
};

describe('a mirror that is interrupted', () => {
  it('P1: begins again where another generation comes in force while it reads, and mixes nothing', async () => {
    const { publication, folder } = begin();
    const last = { 'v2/a.json': '2', 'v2/c.json': '2' };
    await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '1' });
    let isDue = true;
    const publishing: Promise<unknown>[] = [];
    origin.intercept = (file) => {
      if (file === 'v2/b.json' && isDue) {
        isDue = false;
        publishing.push(publication.publish(last));
        rmSync(path.join(publication.out, 'v2/b.json'));
      }
      return undefined;
    };
    await take(folder);
    await Promise.all(publishing);
    await take(folder);
    expect(read(folder)).toEqual(last);
  });

  it('P1: by a power cut names nothing that is not on the disk: all that was taken is flushed before it is in force', async () => {
    const { publication, folder } = begin();
    // More than are flushed one by one.
    const filesOf = (content: string) =>
      Object.fromEntries(Array.from({ length: 70 }, (_, number) => [`v2/n/${number}.json`, content]));
    const stood = noteAtSync(folder);
    for (const content of ['1', '2']) {
      await publication.publish(filesOf(content));
      await take(folder);
      const { catalog, documents } = publication.current;
      const flushed = stood().at(-1);
      const named = [...Object.keys(filesOf(content)), catalog.path, documents.inventory];
      expect(flushed).toEqual(expect.arrayContaining(named));
      expect(stood()).toHaveLength(Number(content));
      expect(flushed?.includes(generationPath.current)).toBe(content === '2');
    }
    // What one left that was killed is flushed by the next.
    await publication.publish(filesOf('3'));
    await killAt(folder, (file) => file === generationPath.current);
    expect(stood()).toHaveLength(3);
    await take(folder);
    expect(stood()).toHaveLength(4);
  });

  it('P3: takes a catalog anew that a power cut has left short', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1' });
    await killAt(folder, (file) => file === generationPath.current);
    const catalog = path.join(folder, publication.current.catalog.path);
    const whole = readFileSync(catalog);
    writeFileSync(catalog, '');
    await take(folder);
    expect(readFileSync(catalog).equals(whole)).toBe(true);
  });

  it('P1: that is superseded, or killed, at any file of its first copy keeps nothing that the generation does not name', async () => {
    const files = { 'index.html': 'i', 'v2/a.json': '1', 'v2/b/c.json': '1', 'v2/b/d.json': '1' };
    const next = { 'index.html': 'i', 'v2/a.json': '2', 'v2/e.json': '1' };
    for (const how of ['superseded', 'killed']) {
      for (const at of Object.keys(files)) {
        const { publication, folder } = begin();
        await publication.publish(files);
        const publishing: Promise<unknown>[] = [];
        origin.intercept = (file) => {
          if (file !== at) return undefined;
          origin.intercept = undefined;
          publishing.push(publication.publish(next));
          return how === 'killed' ? cut(file) : undefined;
        };
        await take(folder, { concurrency: 1 }).catch(() => {});
        await Promise.all(publishing);
        // What belongs to nobody's publication stays.
        writeFileSync(path.join(folder, 'note.txt'), 'by hand');
        await take(folder);
        expect(read(folder), `${how} at ${at}`).toEqual({ ...next, 'note.txt': 'by hand' });
        expect(existsSync(path.join(folder, 'v2/b'))).toBe(false);
      }
    }
  });

  it('P1: killed while it brings a later generation keeps nothing of it that the next does not name', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1' });
    await take(folder);
    await publication.publish({ 'v2/a.json': '2', 'v2/b.json': '2' });
    const write = OutputFolder.prototype.write;
    const kill = vi.spyOn(OutputFolder.prototype, 'write').mockImplementation(function (
      this: OutputFolder,
      file,
      content,
    ) {
      if (file === generationPath.current) throw new Error('killed');
      write.call(this, file, content);
    });
    await expect(take(folder)).rejects.toThrow('killed');
    kill.mockRestore();
    // The publication is built anew from the first, so that no list tells of what was killed.
    const { state, out } = publication;
    rmSync(path.join(state, 'publication'), { recursive: true });
    rmSync(path.join(out, generationPath.changes(2)));
    await publication.publish({ 'v2/a.json': '3' });
    await take(folder);
    expect(read(folder)).toEqual({ 'v2/a.json': '3' });
  });

  it('P2: begun while another is under way there says so, and leaves that alone', async () => {
    const { publication, folder } = begin();
    const files = { 'v2/a.json': '1', 'v2/b.json': '1' };
    for (const round of ['1', '2']) {
      const current = { ...files, 'v2/a.json': round };
      await publication.publish(current);
      let second: Promise<unknown> | undefined;
      origin.intercept = (file) => {
        if (file === 'v2/a.json') second ??= take(folder).catch((error: unknown) => error);
        return undefined;
      };
      await take(folder);
      expect(await second).toBeInstanceOf(LockedError);
      expect(String(await second)).toContain(`another mirror is bringing ${folder} up to date`);
      expect(read(folder)).toEqual(current);
    }
    expect(await take(folder)).toMatchObject({ by: 'none' });
  });

  it('P2: killed on its way to a generation that its publication took back holds what is published instead', async () => {
    const { publication, folder } = begin();
    const first = { 'v2/a.json': '1', 'v2/b.json': '1', 'v2/c.json': '1' };
    await publication.publish(first);
    await take(folder);
    const backup = temporaryFolder();
    cpSync(publication.folder, backup, { recursive: true });
    await publication.publish({ ...first, 'v2/a.json': '2', 'v2/d.json': '2' });
    await killAt(folder, (file) => file === publication.current.catalog.path);
    expect(read(folder)['v2/a.json']).toBe('2');
    // Restored, it builds another second generation, of which the list says nothing of what was killed.
    rmSync(publication.folder, { recursive: true });
    cpSync(backup, publication.folder, { recursive: true });
    const other = { ...first, 'v2/b.json': '3' };
    await publication.publish(other, { isTouched: undefined });
    writeFileSync(path.join(publication.out, 'v2/a.json'), '1');
    expect(publication.changes(2).documents).toEqual({ written: ['v2/b.json'], removed: [] });
    await take(folder);
    expect(read(folder)).toEqual(other);
    await publication.publish({ ...other, 'v2/c.json': '4' });
    expect(await take(folder)).toMatchObject({ by: 'changes', fetched: 1 });
  });

  it('P2: killed before it has removed what is gone removes it the next time, though nothing was published since', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '1' });
    await take(folder);
    await publication.publish({ 'v2/a.json': '1' });
    await killAtRemoval(folder);
    writeFileSync(path.join(folder, 'v2/b.json'), '1');
    expect(await take(folder)).toMatchObject({ fetched: 0, removed: 1 });
    expect(read(folder)).toEqual({ 'v2/a.json': '1' });
    expect(await take(folder)).toMatchObject({ by: 'none' });
    expect(existsSync(path.join(folder, '.debdex', 'mirroring'))).toBe(false);
  });

  it('P2: killed twice in its first copy removes in the end what belongs to no generation', async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '1' });
    await killAt(folder, (file) => file === publication.current.catalog.path);
    expect(read(folder)).toHaveProperty('v2/b.json');
    await publication.publish({ 'v2/a.json': '2' });
    await killAtRemoval(folder);
    writeFileSync(path.join(folder, 'v2/b.json'), '1');
    await take(folder);
    expect(read(folder)).toEqual({ 'v2/a.json': '2' });
  });

  it('P1: cut in the middle of any file goes on from what it has', async () => {
    const { publication, folder } = begin();
    const first = { 'v2/a.json': '1'.repeat(999), 'v2/b.json': '2'.repeat(999) };
    const second = { 'v2/a.json': '3'.repeat(999), 'v2/c.json': '2'.repeat(999) };
    await publication.publish(first);
    const names = () => [
      ...[generationPath.current, publication.current.catalog.path, publication.current.documents.inventory],
      ...['v2/a.json', 'v2/b.json', 'v2/c.json', publication.current.changes],
    ];
    for (const file of names()) {
      origin.intercept = (name) => (name === file ? cut(file) : undefined);
      const outcome = await take(folder).catch(() => 'cut');
      // What it took before the cut it does not take again, and then nothing is cut.
      if (outcome === 'cut') expect(existsSync(path.join(folder, generationPath.current)), file).toBe(false);
    }
    origin.intercept = undefined;
    await take(folder);
    expect(read(folder)).toEqual(first);
    await publication.publish(second);
    for (const file of names()) {
      origin.intercept = (name) => (name === file ? cut(file) : undefined);
      const before = readFileSync(path.join(folder, generationPath.current), 'utf8');
      if ((await take(folder).catch(() => 'cut')) === 'cut') {
        expect(readFileSync(path.join(folder, generationPath.current), 'utf8'), file).toBe(before);
      }
    }
    origin.intercept = undefined;
    await take(folder);
    expect(read(folder)).toEqual(second);
  });
});

it('P1: a mirror that goes on after one that was killed takes a catalog again only where it is not whole', async () => {
  const { publication, folder } = begin();
  await publication.publish({ 'v2/a.json': 'a' });
  const { catalog } = publication.current;
  const output = new OutputFolder(folder);
  const bytes = readFileSync(path.join(publication.out, catalog.path));
  let taken = 0;
  const source = {
    take: async (_path: string, file: string) => {
      taken++;
      writeFileSync(file, bytes);
      return 'unused';
    },
  } as unknown as PublicationSource;
  const takeFrom = (standing: Uint8Array, isDoubtful: boolean) => {
    output.write(catalog.path, standing);
    return takeCatalog(catalog, isDoubtful, output, { source });
  };
  expect([await takeFrom(bytes, true), await takeFrom(bytes, false), taken]).toEqual([undefined, undefined, 0]);
  const temporary = await takeFrom(bytes.subarray(0, -1), true);
  expect(readFileSync(temporary ?? '').equals(bytes)).toBe(true);
  expect(taken).toBe(1);
});

it('P1: that a mirror is under way is on the disk before it goes on, and is written once', async () => {
  const output = new OutputFolder(temporaryFolder());
  const steps: boolean[] = [];
  const flush = vi.spyOn(OutputFolder.prototype, 'flush').mockImplementation(async function (this: OutputFolder) {
    steps.push(isUnderWay(this));
  });
  onTestFinished(() => flush.mockRestore());
  for (let time = 0; time < 2; time++) await markUnderWay(output);
  expect(steps).toEqual([true]);
  unmarkUnderWay(output);
  expect(isUnderWay(output)).toBe(false);
});
