import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Claim } from '../../src/uploading/claim.ts';
import type { Destination } from '../../src/uploading/destination.ts';
import { type LocalFile, LocalPublication } from '../../src/uploading/local-publication.ts';
import { Transfer } from '../../src/uploading/transfer.ts';
import { temporaryFolder } from '../support/folder.ts';

/** A publication that knows which of its files are held open. */
class WatchedPublication extends LocalPublication {
  readonly held: string[] = [];

  override async open(file: string, sha256?: string): Promise<LocalFile> {
    const opened = await super.open(file, sha256);
    this.held.push(file);
    const close = async () => {
      await opened.close();
      this.held.splice(this.held.indexOf(file), 1);
    };
    return { ...opened, close };
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
