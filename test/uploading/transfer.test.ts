import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { type Generation, generationPath, keptChangeLists } from '../../src/contract/generation.ts';
import { listChanges } from '../../src/uploading/bring-generation.ts';
import type { Claim } from '../../src/uploading/claim.ts';
import type { Destination } from '../../src/uploading/destination.ts';
import { type LocalFile, LocalPublication, Superseded } from '../../src/uploading/local-publication.ts';
import type { State } from '../../src/uploading/state.ts';
import { Transfer } from '../../src/uploading/transfer.ts';
import { temporaryFolder } from '../support/folder.ts';

/** A publication that knows which of its files are held open. */
class WatchedPublication extends LocalPublication {
  readonly held: string[] = [];

  override async open(file: string, sha256?: string): Promise<LocalFile> {
    const opened = await super.open(file, sha256);
    this.held.push(file);
    const close = async () => {
      await opened[Symbol.asyncDispose]();
      this.held.splice(this.held.indexOf(file), 1);
    };
    return { ...opened, [Symbol.asyncDispose]: close };
  }
}

// A large file is held open while it is sent: an upload of many would run out of descriptors.
it('P1: a file is held open as long as it is sent, and no longer, whatever becomes of that', async () => {
  const publication = new WatchedPublication(temporaryFolder());
  const bytes = Buffer.alloc(2 ** 20 + 1);
  writeFileSync(path.join(publication.folder, 'large'), bytes);
  const whileSent: number[] = [];
  let failure: Error | undefined;
  const destination = {
    usualConcurrency: 1,
    look: async () => 'none',
    put: async () => {
      whileSent.push(publication.held.length);
      if (failure !== undefined) throw failure;
    },
  } as unknown as Destination;
  const claim = { assertFresh: async () => {} } as Claim;
  const transfer = new Transfer({ publication, destination });
  const send = () => transfer.send([{ path: 'large', sha256: hash('sha256', bytes), names: ['a', 'b'] }], claim);
  const sendAccount = () => transfer.sendAccount('large', claim);
  for (const sending of [send, sendAccount]) {
    failure = undefined;
    await sending();
    expect(publication.held).toEqual([]);
    failure = new Error('of the test');
    await expect(sending()).rejects.toThrow('of the test');
    expect(publication.held).toEqual([]);
  }
  expect(whileSent).toEqual([1, 1, 1, 1, 1]);
});

it('P1: a file with other bytes than its generation says is not sent, however large it is, nor held open', async () => {
  const publication = new LocalPublication(temporaryFolder());
  const sizes = { small: 10, large: 2 ** 20 + 1 };
  for (const [name, size] of Object.entries(sizes)) {
    writeFileSync(path.join(publication.folder, name), Buffer.alloc(size));
    await expect(publication.open(name, hash('sha256', 'other bytes'))).rejects.toThrow(Superseded);
  }
  const descriptors = existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd') : [];
  const held = descriptors.map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return '';
    }
  });
  expect(held.filter((file) => file.startsWith(publication.folder))).toEqual([]);
});

it('P1: what is no file in the place of one is not waited for, and is taken for one that a build is replacing', async () => {
  const publication = new LocalPublication(temporaryFolder());
  symlinkSync('/dev/null', path.join(publication.folder, 'device'));
  mkdirSync(path.join(publication.folder, 'folder'));
  writeFileSync(path.join(publication.folder, 'file'), '');
  for (const [name, words] of [
    ['device', 'device is no file'],
    ['folder', 'folder is no file'],
    ['none', 'none is missing'],
    ['file/below', 'file/below is missing'],
  ] as const) {
    const opening = publication.open(name);
    await expect(opening, name).rejects.toThrow(words);
    await expect(opening, name).rejects.toBeInstanceOf(Superseded);
  }
});

it('P1: new files come before changed ones, and the entrances after all others, new ones first again', async () => {
  const destination = { usualConcurrency: 1, look: async () => 'none' } as unknown as Destination;
  const transfer = new Transfer({ publication: new LocalPublication(temporaryFolder()), destination });
  const planned = (['other', 'new', 'look'] as const).flatMap((verdict) =>
    ['index.html', 'v2/index.json', 'page'].map((file) => ({ path: file, sha256: '', names: [verdict], verdict })),
  );
  const turns = (await transfer.order(planned)).map((turn) => turn.map(({ path: file, names }) => `${names} ${file}`));
  expect(turns).toEqual([
    ['new page', 'look page'],
    ['other page'],
    ['new index.html', 'new v2/index.json', 'look index.html', 'look v2/index.json'],
    ['other index.html', 'other v2/index.json'],
  ]);
});

it('P1: a file that may be another by the time that it is read is sent though it seems to be there', async () => {
  const destination = { usualConcurrency: 1, look: async () => 'same' } as unknown as Destination;
  const order = (verdict: 'look' | 'look and send') => {
    const transfer = new Transfer({ publication: new LocalPublication(temporaryFolder()), destination });
    return transfer
      .order([{ path: 'page', sha256: '', names: ['page'], verdict }])
      .then((turns) => ({ turns: turns.map((turn) => turn.length), found: transfer.tally.found }));
  };
  expect(await order('look')).toEqual({ turns: [0, 0, 0, 0], found: 1 });
  expect(await order('look and send')).toEqual({ turns: [0, 1, 0, 0], found: 0 });
});

const holdLists = (numbers: readonly number[]): LocalPublication => {
  const publication = new LocalPublication(temporaryFolder());
  for (const number of numbers) {
    const list = path.join(publication.folder, generationPath.changes(number));
    mkdirSync(path.dirname(list), { recursive: true });
    writeFileSync(list, `${number}`);
  }
  return publication;
};

/** The change lists to send from the generation at a destination to another one. */
const listFrom = (there: number, number: number, publication: LocalPublication) => {
  const destination = { look: async () => 'same' } as unknown as Destination;
  const state = { current: { generation: { number: there } } } as unknown as State;
  return listChanges({ number } as Generation, state, { publication, destination, keepRemovedMs: 0 });
};

it('P3: a generation that takes back later ones brings its change lists anew, and one that follows only those that are missing', async () => {
  const publication = holdLists([1, 2, 3]);
  expect(await listFrom(1, 3, publication)).toEqual([2, 3].map(generationPath.changes));
  expect(await listFrom(5, 3, publication)).toEqual([1, 2, 3].map(generationPath.changes));
});

it('P3: where none has the list of the generation there any more, those that still lead to the present one are brought', async () => {
  const last = keptChangeLists + 2;
  const kept = Array.from({ length: keptChangeLists }, (_, index) => index + 3);
  expect(await listFrom(1, last, holdLists(kept))).toEqual(kept.map(generationPath.changes));
});
