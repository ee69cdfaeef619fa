import files, { existsSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { LockedError } from '../../src/catalog/lock.ts';
import { describeFile, TakenFolder, takenOf } from '../../src/following/taken-folder.ts';
import { temporaryFolder } from '../support/folder.ts';
import { Publication, sha256 } from '../support/publication.ts';
import { replaceFunctions } from '../support/replaced-functions.ts';

const { fsyncSync } = files;
let onFlush: (descriptor: number) => void = () => {};
replaceFunctions(files, {
  fsyncSync: (descriptor) => {
    onFlush(descriptor);
    fsyncSync(descriptor);
  },
});

/** What was taken of a publication, with files of these digests. */
const takeFrom = async () => {
  const publication = new Publication();
  await publication.publish({ 'v2/a.json': 'a' });
  const file = { sha256: sha256('a'), size: 1, changed: '0' };
  const text = publication.read('v2/generation.json');
  return takenOf({ format: 1, text, jws: null, etag: null, catalog: file, compressed: file, large: [] }).note;
};

it.runIf(process.platform === 'linux')(
  'P1: what a replica took is in force when all that it names, and what says so, would survive a power cut',
  async () => {
    const note = await takeFrom();
    const folder = new TakenFolder(temporaryFolder());
    folder.prepare();
    const inForce = path.join(folder.root, 'in-force.json');
    const flushed: string[] = [];
    onFlush = (descriptor) => {
      const file = path.relative(folder.root, readlinkSync(`/proc/self/fd/${descriptor}`));
      flushed.push(`${path.dirname(file) === 'staging' ? 'note' : file} ${existsSync(inForce) ? 'after' : 'before'}`);
    };
    try {
      folder.write(note);
    } finally {
      onFlush = () => {};
    }
    // The folder itself has the name of the note.
    expect(flushed).toEqual(['catalog before', 'documents before', 'note before', ' after']);
  },
);

it('P3: of a note that tells of another catalog than its generation nothing is taken', async () => {
  const note = await takeFrom();
  const folder = new TakenFolder(temporaryFolder());
  folder.prepare();
  writeFileSync(folder.catalog(note.catalog.sha256, 'sqlite'), 'a');
  folder.write(note);
  await expect(folder.read()).rejects.toThrow('is damaged: it is taken anew');
  folder.clean(undefined);
  // What is in force on the disk stays, whatever this process answers from.
  expect(existsSync(folder.catalog(note.catalog.sha256, 'sqlite'))).toBe(true);
});

it('P3: a file of another size than was noted is not that file, though its time is the same', async () => {
  const note = await takeFrom();
  const folder = new TakenFolder(temporaryFolder());
  folder.prepare();
  const { sha256: digest } = takenOf(note).generation.catalog;
  const file = folder.catalog(digest, 'sqlite');
  writeFileSync(file, 'no catalog');
  const known = describeFile(file, digest);
  folder.write({ ...note, catalog: known });
  await expect(folder.read()).rejects.toThrow('is of another version of Debdex');
  folder.write({ ...note, catalog: { ...known, size: known.size + 1 } });
  await expect(folder.read()).rejects.toThrow('is damaged');
});

it('P3: a folder that was removed under a replica is locked by it again, and free once it ends', () => {
  const state = temporaryFolder();
  const folder = new TakenFolder(state);
  const unlock = folder.lock();
  rmSync(folder.root, { recursive: true });
  folder.prepare();
  expect(() => new TakenFolder(state).lock()).toThrow(LockedError);
  unlock();
  new TakenFolder(state).lock()();
});
