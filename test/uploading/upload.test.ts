import files, {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Generation, generationPath } from '../../src/contract/generation.ts';
import { signaturePathOf } from '../../src/publication/generation-signature.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { createSigner } from '../../src/publication/signature.ts';
import { Claim } from '../../src/uploading/claim.ts';
import type { Destination } from '../../src/uploading/destination.ts';
import { FolderDestination } from '../../src/uploading/folder-destination.ts';
import { fileOf, type LocalGeneration, LocalPublication } from '../../src/uploading/local-publication.ts';
import { recordName, retiredName } from '../../src/uploading/record.ts';
import { assertNotNewer, type State } from '../../src/uploading/state.ts';
import { Conflict, UploadError } from '../../src/uploading/upload-error.ts';
import { temporaryFolder } from '../support/folder.ts';
import { ObjectStoreServer } from '../support/object-store.ts';
import { type Files, Publication, privateKey } from '../support/publication.ts';
import { replaceFunctions } from '../support/replaced-functions.ts';
import { folderTarget, send, storeTarget, type UploadTarget } from '../support/uploading.ts';

const storeFolder = mkdtempSync(path.join(tmpdir(), 'debdex-store-'));
let server: ObjectStoreServer;
let places = 0;
beforeAll(async () => {
  server = await ObjectStoreServer.start(storeFolder);
});
beforeEach(() => {
  server.refuse = undefined;
  server.knowsConditions = true;
  server.requests.length = 0;
});
afterAll(async () => {
  await server.stop();
  rmSync(storeFolder, { recursive: true, force: true });
});

const day = (number: number) => () => new Date(Date.UTC(2026, 5, number));
const first: Files = {
  'index.html': 'site',
  'v2/index.json': 'landing',
  'v2/jailbreak/package/a.json': 'a',
  'v2/jailbreak/package/b.json': 'b',
};
const own = [recordName, retiredName];
const expectHeld = (target: UploadTarget, publication: Publication, files: Files) => {
  for (const [name, text] of Object.entries(files)) expect(target.read(name)?.toString(), name).toBe(text);
  const { catalog, changes, documents } = publication.current;
  const { inventory, differences = inventory } = documents;
  for (const name of [generationPath.current, catalog.path, changes, inventory, differences]) {
    expect(target.read(name)?.equals(readFileSync(path.join(publication.out, name))), name).toBe(true);
  }
};

const kinds: readonly [string, () => UploadTarget][] = [
  ['to a folder', () => folderTarget(path.join(temporaryFolder(), 'to'))],
  ['to object storage', () => storeTarget(server, `place-${++places}/deep er`)],
];

describe.each(kinds)('an upload %s', (_, place) => {
  it('P1: sends everything once, then only changes, and a later upload removes files that are gone', async () => {
    const publication = new Publication();
    const target = place();
    await publication.publish(first);
    const { sent } = await send(publication.out, target, { now: day(1) });
    expect(sent).toBeGreaterThanOrEqual(Object.keys(first).length + 3);
    expectHeld(target, publication, first);
    expect(await send(publication.out, target, { now: day(1) })).toMatchObject({ sent: 0, removed: 0 });

    const { 'v2/jailbreak/package/b.json': gone, ...rest } = first;
    const second = { ...rest, 'v2/jailbreak/package/a.json': 'A', 'v2/jailbreak/package/c.json': 'c' };
    await publication.publish(second);
    server.requests.length = 0;
    const changed = await send(publication.out, target, { now: day(2) });
    const put = server.take('PUT').map((key) => key.replace(/^place-\d+\/deep er\//, ''));
    expect(put.filter((key) => key in first && !key.includes('package'))).toEqual([]);
    expect(changed).toMatchObject({ removed: 0, generation: { number: 2 } });
    expectHeld(target, publication, second);
    expect(target.read('v2/jailbreak/package/b.json')?.toString()).toBe(gone);
    // The old one stays for a day, for readers of what named it.
    expect(changed.kept).toBeGreaterThan(0);

    await publication.publish({ ...second, 'v2/jailbreak/package/d.json': 'd' });
    expect(await send(publication.out, target, { now: day(2) })).toMatchObject({ removed: 0 });
    expect(target.read('v2/jailbreak/package/b.json')).toBeDefined();
    const late = await send(publication.out, target, { now: day(3) });
    expect(late).toMatchObject({ sent: 0, kept: 0 });
    expect(late.removed).toBeGreaterThan(0);
    expect(await send(publication.out, target, { now: day(3) })).toMatchObject({ sent: 0, removed: 0, kept: 0 });
    expect(target.names().filter((name) => name.includes('package/b'))).toEqual([]);
    expectHeld(target, publication, { ...second, 'v2/jailbreak/package/d.json': 'd' });
  });

  it('P3: carries the signature, and takes it away with it', async () => {
    const publication = new Publication();
    const target = place();
    const signer = await createSigner(privateKey);
    await publication.publish(first, { signer });
    await send(publication.out, target);
    // Also under the name of what it signs, which a reader finds while the other is being replaced.
    for (const name of [generationPath.signature, signaturePathOf(publication.read(generationPath.current))])
      expect(target.read(name)?.toString(), name).toBe(publication.read(generationPath.signature));
    await publication.publish({ ...first, 'v2/x.json': 'x' });
    await send(publication.out, target);
    expect(target.read(generationPath.signature)).toBeUndefined();
  });

  it('sends again what is gone or damaged there when it is to verify', async () => {
    const publication = new Publication();
    const target = place();
    await publication.publish(first);
    await send(publication.out, target);
    const other = new Publication();
    await other.publish({ 'v2/jailbreak/package/a.json': 'another' });
    // As if somebody had put it there by hand: the note of the last upload does not know.
    await damage(target);
    expect(await send(publication.out, target)).toMatchObject({ sent: 0 });
    const { sent } = await send(publication.out, target, { verify: true });
    expect(sent).toBe(1);
    expectHeld(target, publication, first);
  });

  it('refuses a place that holds something else, unless it is told to', async () => {
    const publication = new Publication();
    const target = place();
    await publication.publish(first);
    await send(publication.out, target);
    await forget(target);
    await expect(send(publication.out, target)).rejects.toThrow(/holds something, and no publication.*--force/);
    await send(publication.out, target, { force: true });
    expectHeld(target, publication, first);
  });

  it('P1: two at once do not mix: the second says that another is under way', async () => {
    const [publication, target] = [new Publication(), place()];
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`v2/${index}.json`, `${index}`]));
    await publication.publish({ ...first, ...many });
    let second: Promise<string> | undefined;
    const begin = () => {
      second ??= send(publication.out, target).then(
        () => 'done',
        (error: Error) => error.message,
      );
    };
    // It goes on only when the second has looked twice.
    const isOver = () => second;
    const one = send(publication.out, target, { concurrency: 1, onProgress: begin });
    await one;
    expect(await isOver()).toMatch(/done|under way|taken over/);
    expectHeld(target, publication, { ...first, ...many });
  });
});

// What an upload decides it decides alike wherever it uploads to, and object storage answers in ten times the time.
describe('an upload', () => {
  const place = () => folderTarget(path.join(temporaryFolder(), 'to'));

  it('P1: keeps what comes back before it was removed', async () => {
    const publication = new Publication();
    const target = place();
    const { 'v2/jailbreak/package/b.json': _, ...rest } = first;
    await publication.publish(first);
    await send(publication.out, target, { now: day(1) });
    await publication.publish(rest);
    await send(publication.out, target, { now: day(1) });
    await publication.publish(first);
    expect(await send(publication.out, target, { now: day(1) })).toMatchObject({ kept: 0 });
    await publication.publish({ ...first, 'v2/x.json': 'x' });
    await send(publication.out, target, { now: day(9) });
    expectHeld(target, publication, first);
  });

  it('P1: removes a file that is gone even if its removal was recorded by a clock that was years ahead', async () => {
    const publication = new Publication();
    const target = place();
    const { 'v2/jailbreak/package/b.json': _, ...rest } = first;
    await publication.publish(first);
    await send(publication.out, target, { now: day(1) });
    await publication.publish(rest);
    await send(publication.out, target, { now: day(3000) });
    for (const [at, isThere] of [
      [1, true],
      [3, false],
    ] as const) {
      await publication.publish({ ...rest, 'v2/x.json': String(at) });
      await send(publication.out, target, { now: day(at) });
      expect(target.read('v2/jailbreak/package/b.json') !== undefined, `day ${at}`).toBe(isThere);
    }
  });

  it('P1: rehearses without a trace', async () => {
    const publication = new Publication();
    const target = place();
    await publication.publish(first);
    const would = await send(publication.out, target, { dryRun: true });
    expect(target.names()).toEqual([]);
    expect(await send(publication.out, target)).toMatchObject({ sent: would.sent, bytes: would.bytes });
  });

  it('P1: starts again if a build puts another generation in force meanwhile, and does not mix the two', async () => {
    const publication = new Publication();
    const target = place();
    await publication.publish(first);
    const second = { ...first, 'v2/jailbreak/package/a.json': 'A', 'v2/jailbreak/package/z.json': 'z' };
    let publishing: Promise<unknown> | undefined;
    await send(publication.out, target, {
      concurrency: 1,
      onProgress: () => (publishing ??= publication.publish(second)),
    });
    await publishing;
    await send(publication.out, target);
    expectHeld(target, publication, second);
  });

  it('P1: reports files that do not match their generation if no build is running', async () => {
    const publication = new Publication();
    const target = place();
    await publication.publish(first);
    await send(publication.out, target);
    const before = target.read(generationPath.current);
    await publication.publish({ ...first, 'v2/jailbreak/package/a.json': 'A' });
    writeFileSync(path.join(publication.out, 'v2/jailbreak/package/a.json'), 'of a build that was killed');
    await expect(send(publication.out, target)).rejects.toThrow(/package\/a\.json has other bytes.*Run npm run build/);
    expect(target.read(generationPath.current)).toEqual(before);
    expect(target.read('v2/jailbreak/package/a.json')?.toString()).toBe('a');
  });

  it('P1: goes on to look at every file after one that did so and failed, though that one had nothing to put in force', async () => {
    const publication = new Publication();
    const target = place();
    await publication.publish(first);
    await send(publication.out, target);
    await damage(target);
    const put = vi.spyOn(FolderDestination.prototype, 'put').mockRejectedValueOnce(new UploadError('of the test'));
    onTestFinished(() => put.mockRestore());
    await expect(send(publication.out, target, { verify: true })).rejects.toThrow('of the test');
    expect(await send(publication.out, target)).toMatchObject({ sent: 1 });
    expectHeld(target, publication, first);
    expect(await send(publication.out, target)).toMatchObject({ sent: 0, found: 0 });
  });

  it('P1: looks at every file where the list of those that are there is lost', async () => {
    const publication = new Publication();
    const target = place();
    await publication.publish(first);
    await send(publication.out, target);
    rmSync(path.join(target.title, publication.current.documents.inventory));
    const second = { ...first, 'v2/jailbreak/package/a.json': 'A' };
    await publication.publish(second);
    expect(await send(publication.out, target)).toMatchObject({ found: Object.keys(first).length - 1 });
    expectHeld(target, publication, second);
  });

  it('P1: puts nothing in force that is not in force here any more when all of it is sent', async () => {
    const publication = new Publication();
    const target = place();
    await publication.publish(first);
    const looking = vi.spyOn(LocalPublication.prototype, 'isInForce').mockReturnValueOnce(false);
    onTestFinished(() => looking.mockRestore());
    await expect(send(publication.out, target)).rejects.toThrow('(another generation is in force)');
    expect(target.read(generationPath.current)).toBeUndefined();
  });

  it('P3: takes both signatures away where the same generation is signed no more', async () => {
    const publication = new Publication();
    const target = place();
    await publication.publish(first, { signer: await createSigner(privateKey) });
    const text = publication.read(generationPath.current);
    const names = [generationPath.signature, signaturePathOf(text)];
    await send(publication.out, target);
    expect(names.map((name) => target.read(name) === undefined)).toEqual([false, false]);
    await publication.publish(first);
    expect(publication.read(generationPath.current)).toBe(text);
    await send(publication.out, target);
    expect(names.map((name) => target.read(name) === undefined)).toEqual([true, true]);
  });

  it('P1: sends no catalog that is cut short', async () => {
    const publication = new Publication();
    const target = place();
    await publication.publish(first);
    const { path: catalog } = publication.current.catalog;
    const file = path.join(publication.out, catalog);
    writeFileSync(file, readFileSync(file).subarray(0, -1));
    await expect(send(publication.out, target)).rejects.toThrow(`${catalog} is cut short`);
    expect(target.read(generationPath.current)).toBeUndefined();
  });

  it('P3: refuses to replace what is newer, unless it is told to', async () => {
    const publication = new Publication();
    const target = place();
    await publication.publish(first);
    const older = readFileSync(path.join(publication.out, generationPath.current));
    await publication.publish({ ...first, 'v2/x.json': 'x' });
    await send(publication.out, target);
    writeFileSync(path.join(publication.out, generationPath.current), older);
    await expect(send(publication.out, target)).rejects.toThrow(/newer than the generation 1 .*--force/);
    await send(publication.out, target, { force: true });
    expect(target.read(generationPath.current)?.equals(older)).toBe(true);
  });

  it('keeps three catalogs and differences of an inventory, and the change lists of a hundred generations', async () => {
    const publication = new Publication();
    const target = place();
    for (let round = 1; round <= 6; round++) {
      await publication.publish({ ...first, 'v2/x.json': String(round) });
      await send(publication.out, target, { now: day(round * 2) });
    }
    const held = (folder: string) => target.names().filter((name) => name.startsWith(`v2/${folder}/`)).length;
    // The last that was retired waits for its day, and the differences are all of one whole inventory.
    expect([held('catalog'), held('inventory'), held('changes')]).toEqual([4, 4 + 1, 6]);
  });
});

const damage = async ({ options }: UploadTarget): Promise<void> => {
  const name = 'v2/jailbreak/package/a.json';
  if (options.endpoint === undefined) rmSync(path.join(options.address, name));
  else rmSync(path.join(storeFolder, options.address.slice('s3://'.length), `${name}._S3rver_object`));
};

const forget = async ({ options }: UploadTarget): Promise<void> => {
  for (const name of [...own, generationPath.current]) {
    if (options.endpoint === undefined) rmSync(path.join(options.address, name), { force: true });
    else
      rmSync(path.join(storeFolder, options.address.slice('s3://'.length), `${name}._S3rver_object`), { force: true });
  }
};

describe('an upload to a folder refuses', () => {
  const refuse = async (publication: Publication, folder: string, message: RegExp) =>
    expect(send(publication.out, folderTarget(folder))).rejects.toThrow(message);

  it('the output folder, what lies in it and what it lies in, behind links too', async () => {
    const publication = new Publication();
    await publication.publish(first);
    const link = path.join(temporaryFolder(), 'link');
    symlinkSync(publication.folder, link);
    for (const folder of [
      publication.out,
      path.join(publication.out, 'x/y'),
      publication.folder,
      link,
      `${link}/out`,
    ]) {
      await refuse(publication, folder, /same folder, or one lies in the other/);
    }
  });

  it('a file, the output folder of a build, and what cannot be a destination', async () => {
    const publication = new Publication();
    await publication.publish(first);
    const folder = temporaryFolder();
    writeFileSync(path.join(folder, 'file'), '');
    await refuse(publication, path.join(folder, 'file'), /is a file/);
    mkdirSync(path.join(folder, 'dist', '.debdex'), { recursive: true });
    writeFileSync(path.join(folder, 'dist', '.debdex', 'owner.json'), '{}');
    await refuse(publication, path.join(folder, 'dist'), /output folder of builds/);
    for (const address of [
      's3://UPPER/x',
      's3://bucket/a//b',
      's3://bucket/../b',
      'gs://bucket',
      'https://x.example/',
      'user@host:/srv/index',
      'host:index',
    ]) {
      await refuse(publication, address, /must be a folder or s3:\/\/bucket\/prefix/);
    }
  });

  it('a folder in which nothing was built, and a generation whose inventory is lost', async () => {
    const publication = new Publication();
    const folder = path.join(temporaryFolder(), 'to');
    await refuse(publication, folder, /holds no publication.*npm run build/);
    await publication.publish(first);
    rmSync(path.join(publication.out, publication.current.documents.inventory));
    await refuse(publication, folder, /missing or damaged/);
  });
});

describe('an upload to a folder', () => {
  it('goes on from a copy that was made by other means', async () => {
    const publication = new Publication();
    const folder = path.join(temporaryFolder(), 'to');
    await publication.publish(first);
    await send(publication.out, folderTarget(folder));
    rmSync(path.join(folder, recordName));
    writeFileSync(path.join(folder, 'v2/jailbreak/package/a.json'), 'older');
    await publication.publish({ ...first, 'v2/x.json': 'x' });
    const { sent } = await send(publication.out, folderTarget(folder));
    // The one that differs, the new one, and catalog, inventory and change list.
    expect(sent).toBe(5);
  });

  it('C9: writes nothing through a link', async () => {
    const publication = new Publication();
    const [folder, outside] = [path.join(temporaryFolder(), 'to'), temporaryFolder()];
    await publication.publish(first);
    mkdirSync(folder);
    symlinkSync(outside, path.join(folder, 'v2'));
    await expect(send(publication.out, folderTarget(folder))).rejects.toThrow(/--force/);
    await send(publication.out, folderTarget(folder), { force: true });
    expect(folderTarget(outside).names()).toEqual([]);
    expectHeld(folderTarget(folder), publication, first);
  });

  it('says what to do about a record that cannot be read', async () => {
    const publication = new Publication();
    const folder = path.join(temporaryFolder(), 'to');
    await publication.publish(first);
    await send(publication.out, folderTarget(folder));
    copyFileSync(path.join(folder, generationPath.current), path.join(folder, recordName));
    await expect(send(publication.out, folderTarget(folder))).rejects.toThrow(/another version of Debdex: update/);
  });

  it('names what is no file in the place of what it reads, in either folder', async () => {
    const publication = new Publication();
    const folder = path.join(temporaryFolder(), 'to');
    await publication.publish(first);
    await send(publication.out, folderTarget(folder));
    for (const file of [recordName, generationPath.current].map((name) => path.join(folder, name))) {
      const bytes = readFileSync(file);
      rmSync(file);
      mkdirSync(file);
      const words = `a folder is in the place of the file ${path.basename(file)}, open '${file}'`;
      await expect(send(publication.out, folderTarget(folder))).rejects.toThrow(words);
      rmSync(file, { recursive: true });
      writeFileSync(file, bytes);
    }
    // As a pipe, for which nothing ends the waiting.
    const file = path.join(publication.out, generationPath.current);
    rmSync(file);
    symlinkSync('/dev/null', file);
    await expect(send(publication.out, folderTarget(folder))).rejects.toThrow(/no regular file is in the place of/);
  });
});

describe('an upload to a folder', () => {
  it('P1: has all of it on the disk, and its claim renewed, before its generation is in force, and that too before it ends', async () => {
    const publication = new Publication();
    await publication.publish(first);
    const steps: string[] = [];
    const flush = vi
      .spyOn(FolderDestination.prototype, 'flush')
      .mockImplementation(async () => void steps.push('flush'));
    const renew = vi.spyOn(Claim.prototype, 'renew').mockImplementation(async () => void steps.push('renew'));
    const { replace: put } = FolderDestination.prototype;
    const replace = vi.spyOn(FolderDestination.prototype, 'replace').mockImplementation(function (
      this: FolderDestination,
      name,
      ...more
    ) {
      if (name === generationPath.current) steps.push('in force');
      return put.call(this, name, ...more);
    });
    onTestFinished(() => {
      for (const spy of [flush, renew, replace]) spy.mockRestore();
    });
    // Only what is renewed on purpose counts, and not by time.
    const times = { renewMs: 3_600_000, silentMs: 400, pollMs: 10, settleMs: 30 };
    await send(publication.out, folderTarget(path.join(temporaryFolder(), 'to')), { times });
    const at = steps.indexOf('in force');
    expect(steps.slice(at - 2)).toEqual(['flush', 'renew', 'in force', 'flush']);
  });

  it.each([
    ['another clock, of yesterday', -86_400_000],
    ['another clock, of tomorrow', 86_400_000],
    ['the same clock', 0],
  ])(
    'P1: goes on where one before it was killed with the latch in its hand, and leaves no folder of what is gone: a disk with %s',
    async (_, milliseconds) => {
      const publication = new Publication();
      await publication.publish({ ...first, 'package/gone/index.html': 'gone' });
      const target = folderTarget(path.join(temporaryFolder(), 'to'));
      await send(publication.out, target, { now: day(1) });
      const latch = path.join(target.title, '.debdex/latch');
      writeFileSync(latch, '');
      const at = new Date(Date.now() + milliseconds);
      utimesSync(latch, at, at);
      await publication.publish(first);
      const told: string[] = [];
      const onRetry = (reason: string) => told.push(reason);
      await send(publication.out, target, { now: day(2), keepRemovedMs: 0 }, { latchMs: 50, onRetry });
      expect(told).toEqual([expect.stringMatching(/latch, or was killed while it did: .* after 0.05 s/)]);
      expectHeld(target, publication, first);
      await send(publication.out, target, { now: day(9), keepRemovedMs: 0 });
      expect([existsSync(path.join(target.title, 'package')), existsSync(latch)]).toEqual([false, false]);
    },
    60_000,
  );

  it('says what happened where the folder is removed under it', async () => {
    const folder = path.join(temporaryFolder(), 'to');
    const destination = new FolderDestination(folder, temporaryFolder());
    await destination.begin();
    const file = fileOf(Buffer.from('a file'));
    await destination.put('one', 'one', file);
    rmSync(folder, { recursive: true });
    const putting = destination.put('two', 'two', file);
    await expect(putting).rejects.toThrow(`writes to ${folder} is gone before it is complete: somebody removed`);
    await expect(putting).rejects.toBeInstanceOf(UploadError);
  });

  it('P1: removes what a killed one has left half-written', async () => {
    const publication = new Publication();
    await publication.publish(first);
    const target = folderTarget(path.join(temporaryFolder(), 'to'));
    await send(publication.out, target);
    const staging = path.join(target.title, '.staging');
    mkdirSync(path.join(staging, '1-0'), { recursive: true });
    writeFileSync(path.join(staging, '1-0', '0'), 'half');
    await new FolderDestination(target.title, publication.out).begin();
    expect(existsSync(staging)).toBe(false);
  });

  it('P1: takes nobody for dead by the clock of a disk', async () => {
    const folder = path.join(temporaryFolder(), 'to');
    const destination = new FolderDestination(folder, temporaryFolder());
    const latch = path.join(folder, '.debdex/latch');
    mkdirSync(path.dirname(latch), { recursive: true });
    writeFileSync(latch, '');
    utimesSync(latch, 1_700_000_000, 1_700_000_000);
    const replacing = destination.replace('record', Buffer.from('ours'), undefined).catch((error: unknown) => error);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    expect([existsSync(latch), existsSync(path.join(folder, 'record'))]).toEqual([true, false]);
    writeFileSync(path.join(folder, 'record'), 'theirs');
    rmSync(latch);
    expect(await replacing).toBeInstanceOf(Conflict);
  });

  it('P1: goes on when what it records would survive a power cut, and no sooner', async () => {
    const folder = path.join(temporaryFolder(), 'to');
    const destination = new FolderDestination(folder, temporaryFolder());
    const recorded: boolean[] = [];
    vi.spyOn(OutputFolder.prototype, 'flush').mockImplementation(async () => {
      recorded.push(existsSync(path.join(folder, recordName)));
    });
    onTestFinished(() => void vi.restoreAllMocks());
    await destination.replace(recordName, Buffer.from('ours'), undefined);
    expect(recorded).toEqual([true]);
  });

  it('P1: takes a half-written record that is gone for the beginning of another upload', async () => {
    const destination = new FolderDestination(path.join(temporaryFolder(), 'to'), temporaryFolder());
    vi.spyOn(OutputFolder.prototype, 'write').mockImplementation(() => {
      throw Object.assign(new Error('ENOENT: of the system'), { code: 'ENOENT' });
    });
    onTestFinished(() => void vi.restoreAllMocks());
    await expect(destination.replace(recordName, Buffer.from('ours'), undefined)).rejects.toThrow(Conflict);
  });
});

it('P3: the signature that is sent is that of the generation in force, though the next is signed already', async () => {
  const publication = new Publication();
  await publication.publish(first, { signer: await createSigner(privateKey) });
  const signature = publication.read(generationPath.signature);
  writeFileSync(path.join(publication.out, generationPath.signature), 'of the next');
  expect(new LocalPublication(publication.out).read().jws?.toString()).toBe(signature);
});

it.each(kinds)(
  'P2: brings %s no list of another history than that which was restored, and gave numbers anew',
  async (_, open) => {
    const publication = new Publication();
    const target = open();
    await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '1' });
    const backup = temporaryFolder();
    cpSync(publication.folder, backup, { recursive: true });
    for (const content of ['2', '3']) {
      await publication.publish({ 'v2/a.json': content, 'v2/b.json': '1' });
      await send(publication.out, target, { now: day(1) });
    }
    rmSync(publication.folder, { recursive: true });
    cpSync(backup, publication.folder, { recursive: true });
    for (const content of ['4', '5', '6'])
      await publication.publish({ 'v2/a.json': '1', 'v2/b.json': content }, { isTouched: undefined });
    await send(publication.out, target, { now: day(2) });
    for (const number of [1, 2, 3, 4]) {
      const list = generationPath.changes(number);
      expect(target.read(list)?.toString(), list).toBe(publication.read(list));
    }
  },
);

it.each(kinds)(
  'P2: leaves in %s no list of generations that were taken back, and every one of those that are kept',
  async (_, open) => {
    const publication = new Publication();
    const target = open();
    await publication.publish({ 'v2/a.json': '1' });
    const backup = temporaryFolder();
    cpSync(publication.folder, backup, { recursive: true });
    for (const content of ['2', '3']) await publication.publish({ 'v2/a.json': content });
    await send(publication.out, target, { now: day(1) });
    rmSync(publication.folder, { recursive: true });
    cpSync(backup, publication.folder, { recursive: true });
    const lists = () => target.names().filter((name) => name.startsWith('v2/changes/'));
    await send(publication.out, target, { now: day(2), force: true });
    expect(lists()).toEqual([generationPath.changes(1)]);
    // Far on, so that the first lists are to go, and back again.
    const current = publication.read(generationPath.current);
    const far = { ...publication.current, number: 150 };
    writeFileSync(path.join(publication.out, generationPath.current), JSON.stringify(far));
    await send(publication.out, target, { now: day(3) });
    writeFileSync(path.join(publication.out, generationPath.current), current);
    await send(publication.out, target, { now: day(3), force: true });
    await send(publication.out, target, { now: day(9), force: true });
    expect(lists()).toEqual([generationPath.changes(1)]);
  },
);

it('P3: an upload that waited for its turn replaces nothing newer, that another brought meanwhile', async () => {
  const publication = new Publication();
  const target = folderTarget(path.join(temporaryFolder(), 'to'));
  await publication.publish({ 'v2/a.json': '1' });
  await send(publication.out, target);
  const waiting = path.join(temporaryFolder(), 'waiting');
  await publication.publish({ 'v2/a.json': '2' });
  cpSync(publication.out, waiting, { recursive: true });
  await publication.publish({ 'v2/a.json': '3' });
  const begin = vi.spyOn(FolderDestination.prototype, 'begin').mockImplementationOnce(async () => {
    writeFileSync(path.join(target.options.address, generationPath.current), publication.read(generationPath.current));
  });
  await expect(send(waiting, target)).rejects.toThrow(/newer than the generation 2/);
  begin.mockRestore();
  expect(target.read('v2/a.json')?.toString()).toBe('1');
});

it('P1: an upload that another has taken over from removes nothing any more', async () => {
  const publication = new Publication();
  const target = folderTarget(path.join(temporaryFolder(), 'to'));
  for (const files of [{ 'v2/a.json': '1', 'v2/b.json': '1' }, { 'v2/a.json': '1' }, { 'v2/a.json': '2' }]) {
    await publication.publish(files);
    if (publication.current.number < 3) await send(publication.out, target, { now: day(1) });
  }
  const { replace } = FolderDestination.prototype;
  const taking = vi.spyOn(FolderDestination.prototype, 'replace').mockImplementation(async function (
    this: FolderDestination,
    name,
    ...more
  ) {
    const tag = await replace.call(this, name, ...more);
    if (name !== generationPath.current) return tag;
    const record = await this.read(recordName);
    await replace.call(this, recordName, Buffer.from(`${record?.bytes} `), record?.tag);
    return tag;
  });
  // Each removal asks whether the right to write is held still.
  const times = { renewMs: 60_000, silentMs: 0, pollMs: 1, settleMs: 1 };
  try {
    await expect(send(publication.out, target, { now: day(9), times })).rejects.toThrow(/has taken over/);
  } finally {
    taking.mockRestore();
  }
  expect(target.read(generationPath.current)?.toString()).toBe(publication.read(generationPath.current));
  expect(target.read('v2/b.json')?.toString()).toBe('1');
  await send(publication.out, target, { now: day(9) });
  expect(target.read('v2/b.json')).toBeUndefined();
});

it('H7: uploads a generation of any number, and plans to remove no more files than can exist', async () => {
  const publication = new Publication();
  await publication.publish({ 'v2/a.json': '1' });
  const target = folderTarget(path.join(temporaryFolder(), 'to'));
  await send(publication.out, target, { now: day(1) });
  await publication.publish({ 'v2/a.json': '2' });
  const text = JSON.stringify({ ...publication.current, number: 200_000 });
  writeFileSync(path.join(publication.out, generationPath.current), text);
  expect((await send(publication.out, target, { now: day(2) })).kept).toBeLessThan(11_000);
  expect(target.read(generationPath.current)?.toString()).toBe(text);
});

it('P3: what is newer is told by its number, and of equal numbers by its date', () => {
  const of = (number: number, date: string) => {
    const generation = { number, date } as Generation;
    return { generation, text: Buffer.from(JSON.stringify(generation)) };
  };
  const isRefused = (there: ReturnType<typeof of>, here: ReturnType<typeof of>): boolean => {
    const check = () =>
      assertNotNewer(
        { current: { ...there, tag: '' } } as State,
        here as LocalGeneration,
        { title: 'to' } as Destination,
        'out',
      );
    try {
      check();
      return false;
    } catch (error) {
      expect(error).toBeInstanceOf(UploadError);
      return true;
    }
  };
  expect(isRefused(of(2, '2026-05-01'), of(1, '2026-05-02'))).toBe(true);
  expect(isRefused(of(1, '2026-05-02'), of(2, '2026-05-01'))).toBe(false);
  expect(isRefused(of(2, '2026-05-02'), of(2, '2026-05-01'))).toBe(true);
  expect(isRefused(of(2, '2026-05-01'), of(2, '2026-05-02'))).toBe(false);
});

describe('an upload that waits for the next generation', () => {
  const { existsSync: exists } = files;
  let whileLooking: (() => void) | undefined;
  replaceFunctions(files, {
    existsSync: (file) => {
      whileLooking?.();
      return exists(file);
    },
  });

  it('P1: does not take a build for an interrupted one that ended while it was looked for', async () => {
    const publication = new Publication();
    await publication.publish(first);
    const local = new LocalPublication(publication.out, -1);
    const superseded = local.read();
    const file = path.join(publication.out, generationPath.current);
    await publication.publish({ ...first, 'v2/x.json': 'x' });
    const next = readFileSync(file);
    writeFileSync(file, superseded.text);
    await expect(local.waitForNext(superseded, 'a file is gone', () => {})).rejects.toThrow(/no build is running/);
    // What it puts in force is there before it gives up its lock.
    whileLooking = () => writeFileSync(file, next);
    try {
      await local.waitForNext(superseded, 'a file is gone', () => {});
    } finally {
      whileLooking = undefined;
    }
    expect(local.isInForce(superseded)).toBe(false);
  });
});
