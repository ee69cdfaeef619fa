import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { generationPath, signaturesFolder } from '../../src/contract/generation.ts';
import { mirror } from '../../src/following/mirror.ts';
import { PublicationSource } from '../../src/following/source.ts';
import { createFetcher, type Fetcher } from '../../src/net/fetcher.ts';
import {
  mendSignature,
  putGenerationInForce,
  replaceSignature,
  signaturePathOf,
} from '../../src/publication/generation-signature.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { createSigner, type Signer, verifySignature } from '../../src/publication/signature.ts';
import { FolderDestination } from '../../src/uploading/folder-destination.ts';
import { FileOrigin } from '../support/built-publication.ts';
import { temporaryFolder } from '../support/folder.ts';
import { Killed, KilledFolder } from '../support/killed-folder.ts';
import { otherPrivateKey, Publication, privateKey, publicKey } from '../support/publication.ts';
import { folderTarget, send } from '../support/uploading.ts';

// generation.json and its signature are two files, and whoever writes them may be killed between the two.

let publication: Publication;
let origin: FileOrigin;
let fetcher: Fetcher;
let signer: Signer;
beforeEach(async () => {
  publication = new Publication();
  origin = await new FileOrigin(publication.out).open();
  fetcher = createFetcher({ allowPrivateNetworks: true });
  signer = await createSigner(privateKey);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await fetcher.close();
  await origin.close();
});

/** Takes what stands in a folder as somebody does who has nothing yet, and trusts one key. Resolves to its number. */
const takeAnew = async (from: string, key = publicKey): Promise<number> => {
  origin.folder = from;
  const folder = path.join(temporaryFolder(), 'anew');
  const { generation } = await mirror({ source: new PublicationSource(origin.address, fetcher, key), folder });
  return generation.number;
};
const readIn = (folder: string, file: string) => readFileSync(path.join(folder, file));
const isInForce = async (folder: string, key = publicKey): Promise<boolean> => {
  const text = readIn(folder, generationPath.current);
  const signatures = [generationPath.signature, signaturePathOf(text)].map((file) => readIn(folder, file).toString());
  return (await Promise.all(signatures.map((jws) => verifySignature(jws, text, key)))).every(Boolean);
};

it('P1: a build killed at any step leaves what whoever trusts its key can take, and the next mends it first of all', async () => {
  let left = 0;
  for (let step = 0, isThrough = false; !isThrough; step++) {
    publication = new Publication();
    await publication.publish({ 'v2/a.json': '1' }, { signer });
    try {
      await publication.publish({ 'v2/b.json': '2' }, { signer, output: new KilledFolder(publication.out, step) });
      isThrough = true;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      // What a document-writing build leaves is written first, so it is undone here: this is about signatures.
      publication.output.write('v2/a.json', '1');
    }
    expect(await takeAnew(publication.out), `step ${step}`).toBe(publication.current.number);
    if (!(await isInForce(publication.out))) left++;
    await mendSignature(publication.output, signer);
    expect(await isInForce(publication.out)).toBe(true);
  }
  // A kill between the two was among them.
  expect(left).toBe(1);
});

it('P1: a signature that is lost under either of its names is made again by the next build', async () => {
  await publication.publish({ 'v2/a.json': '1' }, { signer });
  const named = signaturePathOf(readIn(publication.out, generationPath.current));
  for (const file of [generationPath.signature, named]) {
    rmSync(path.join(publication.out, file));
    await mendSignature(publication.output, signer);
    expect(await isInForce(publication.out), file).toBe(true);
  }
});

it('P1: a mirror killed between signature and generation goes on, and so does whoever reads it', async () => {
  const folder = path.join(temporaryFolder(), 'mirror');
  const take = () => {
    origin.folder = publication.out;
    return mirror({ source: new PublicationSource(origin.address, fetcher, publicKey), folder });
  };
  await publication.publish({ 'v2/a.json': '1' }, { signer });
  await take();
  await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '2' }, { signer });
  const write = OutputFolder.prototype.write;
  const kill = vi.spyOn(OutputFolder.prototype, 'write').mockImplementation(function (
    this: OutputFolder,
    file,
    content,
  ) {
    if (file === generationPath.current) throw new Killed();
    write.call(this, file, content);
  });
  await expect(take()).rejects.toThrow(Killed);
  kill.mockRestore();
  expect(await isInForce(folder)).toBe(false);
  expect(await takeAnew(folder)).toBe(1);
  await take();
  expect(await isInForce(folder)).toBe(true);
  expect(await takeAnew(folder)).toBe(2);
});

it('P1: an upload killed between signature and generation goes on, and so does whoever reads it', async () => {
  const folder = path.join(temporaryFolder(), 'to');
  const target = folderTarget(folder);
  await publication.publish({ 'v2/a.json': '1' }, { signer });
  await send(publication.out, target);
  await publication.publish({ 'v2/a.json': '1', 'v2/b.json': '2' }, { signer });
  const replace = FolderDestination.prototype.replace;
  const kill = vi.spyOn(FolderDestination.prototype, 'replace').mockImplementation(async function (
    this: FolderDestination,
    name,
    ...more
  ) {
    if (name === generationPath.current) throw new Killed();
    return replace.call(this, name, ...more);
  });
  await expect(send(publication.out, target)).rejects.toThrow(Killed);
  kill.mockRestore();
  expect(await isInForce(folder)).toBe(false);
  expect(await takeAnew(folder)).toBe(1);
  await send(publication.out, target);
  expect(await isInForce(folder)).toBe(true);
  expect(await takeAnew(folder)).toBe(2);
});

it('P1: an upload of what a build was killed in brings the signature of the generation in force', async () => {
  await publication.publish({ 'v2/a.json': '1' }, { signer });
  publication.output.write(generationPath.signature, await signer.sign(Buffer.from('the next generation')));
  const folder = path.join(temporaryFolder(), 'to');
  await send(publication.out, folderTarget(folder));
  expect(await isInForce(folder)).toBe(true);
});

it('P3: a reader of which a cache holds one of the two longer reads both again, and not for ever', async () => {
  await publication.publish({ 'v2/a.json': '1' }, { signer });
  const other = Buffer.from(await signer.sign(Buffer.from('the generation before')));
  for (const [stale, isTaken] of [
    [4, true],
    [Number.POSITIVE_INFINITY, false],
  ] as const) {
    let asked = 0;
    origin.folder = publication.out;
    origin.intercept = (file) => {
      if (file.startsWith('v2/signatures/')) return (response) => response.writeHead(404).end();
      return file === generationPath.signature && asked++ < stale ? other : undefined;
    };
    const found = new PublicationSource(origin.address, fetcher, publicKey).readGeneration();
    if (isTaken) expect((await found)?.generation.number).toBe(1);
    else await expect(found).rejects.toMatchObject({ kind: 'unsigned' });
    expect(asked).toBe(5);
  }
  origin.intercept = undefined;
});

it('P3: a page with which a host answers for a signature that is not there is none: a mirror keeps no such file', async () => {
  const folder = path.join(temporaryFolder(), 'mirror');
  await publication.publish({ 'v2/a.json': '1' });
  origin.folder = publication.out;
  origin.intercept = (file) =>
    file.endsWith('.jws') ? Buffer.from('<!doctype html><title>Sign in</title>') : undefined;
  const take = (key?: string) => mirror({ source: new PublicationSource(origin.address, fetcher, key), folder });
  await take();
  expect(existsSync(path.join(folder, generationPath.signature))).toBe(false);
  await expect(take(publicKey)).rejects.toThrow('generation.jws is no signature, but such as a web page');
});

it('P3: where only the key changed, or none signs any more, mirrors and uploads follow', async () => {
  const other = await createSigner(otherPrivateKey);
  const files = { 'v2/a.json': '1' };
  const [copy, folder] = [path.join(temporaryFolder(), 'mirror'), path.join(temporaryFolder(), 'to')];
  const bring = async () => {
    origin.folder = publication.out;
    await mirror({ source: new PublicationSource(origin.address, fetcher), folder: copy });
    await send(publication.out, folderTarget(folder));
  };
  await publication.publish(files, { signer });
  await bring();
  await publication.publish(files, { signer: other });
  await bring();
  for (const each of [publication.out, copy, folder]) {
    expect(await isInForce(each, other.publicKey)).toBe(true);
    expect(await takeAnew(each, other.publicKey)).toBe(1);
    await expect(takeAnew(each)).rejects.toThrow(/not by the public key/);
  }
  await publication.publish(files);
  await bring();
  for (const each of [publication.out, copy, folder]) {
    const left = folderTarget(each)
      .names()
      .filter((name) => name.endsWith('.jws'));
    expect(left).toEqual([]);
  }
});

it('P1: a generation comes in force when all else of it is on the disk, and is on the disk when that is told', async () => {
  const output = new OutputFolder(temporaryFolder());
  const files = ['v2/a.json', signaturePathOf('text'), generationPath.signature, generationPath.current];
  const flushed: string[][] = [];
  vi.spyOn(output, 'flush').mockImplementation(async () => {
    flushed.push(files.filter((file) => existsSync(output.resolve(file))));
  });
  output.write('v2/a.json', '1');
  await putGenerationInForce(output, 'text', 'jws');
  expect(flushed).toEqual([files.slice(0, 2), files]);
  // Likewise of a signature alone, and of its end.
  const named = signaturePathOf('text');
  rmSync(output.resolve(named));
  await replaceSignature(output, 'text', 'another');
  expect([flushed.length, flushed.at(-1)]).toEqual([3, files]);
  await replaceSignature(output, 'text', undefined);
  expect([flushed.length, flushed.at(-1)]).toEqual([4, ['v2/a.json', generationPath.current]]);
});

it('H10: signatures of generations that are long past go, everywhere', async () => {
  const [copy, folder] = [path.join(temporaryFolder(), 'mirror'), path.join(temporaryFolder(), 'to')];
  const day = (number: number) => () => new Date(Date.UTC(2026, 5, number));
  for (let number = 1; number <= 6; number++) {
    await publication.publish({ 'v2/a.json': `${number}` }, { signer });
    origin.folder = publication.out;
    await mirror({ source: new PublicationSource(origin.address, fetcher, publicKey), folder: copy });
    await send(publication.out, folderTarget(folder), { now: day(2 * number) });
  }
  const held = (each: string) =>
    folderTarget(each)
      .names()
      .filter((name) => name.startsWith(`${signaturesFolder}/`)).length;
  // What an upload brought is removed a day later.
  expect([held(publication.out), held(copy), held(folder)]).toEqual([3, 3, 4]);
});

it('P3: what signs no generation is taken for none: not under the name of another', async () => {
  await publication.publish({ 'v2/a.json': '1' }, { signer });
  const jws = await signer.sign(Buffer.from('something else'));
  const text = readIn(publication.out, generationPath.current);
  publication.output.write(signaturePathOf(text), jws);
  // The one in force fits still.
  expect(await takeAnew(publication.out)).toBe(1);
  publication.output.write(generationPath.signature, jws);
  await expect(takeAnew(publication.out)).rejects.toThrow(/of another text/);
  rmSync(path.join(publication.out, generationPath.signature));
  rmSync(path.join(publication.out, signaturesFolder), { recursive: true });
  await expect(takeAnew(publication.out)).rejects.toThrow(/generation\.jws is missing/);
  // Nobody signed it, and nothing is signed that was not.
  await mendSignature(publication.output, signer);
  await expect(takeAnew(publication.out)).rejects.toThrow(/generation\.jws is missing/);
});

it('P3: a damaged generation.json is not signed, though what stood there before was', async () => {
  await publication.publish({ 'v2/a.json': '1' }, { signer });
  const damaged = readIn(publication.out, generationPath.current).subarray(0, 20);
  publication.output.write(generationPath.current, damaged);
  await mendSignature(publication.output, signer);
  const jws = readIn(publication.out, generationPath.signature).toString();
  expect(await verifySignature(jws, damaged, publicKey)).toBe(false);
  expect(existsSync(path.join(publication.out, signaturePathOf(damaged)))).toBe(false);
});
