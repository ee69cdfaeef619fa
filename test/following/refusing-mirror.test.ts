import { existsSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { changeListSchema, generationPath } from '../../src/contract/generation.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { isSafePath } from '../../src/publication/safe-paths.ts';
import { createSigner } from '../../src/publication/signature.ts';
import { temporaryFolder } from '../support/folder.ts';
import { begin, origin, read, take, useMirroredPublications } from '../support/mirrored-publication.ts';
import { Publication, privateKey, sha256 } from '../support/publication.ts';

useMirroredPublications();

describe('P3: a mirror goes on with what it has and says why, where the publication', () => {
  const refuse = async (folder: string, message: RegExp, publicKey?: string) => {
    const before = read(folder);
    await expect(take(folder, publicKey === undefined ? {} : { publicKey })).rejects.toThrow(message);
    expect(read(folder)).toEqual(before);
  };
  const prepare = async () => {
    const { publication, folder } = begin();
    await publication.publish({ 'v2/a.json': '1' });
    await take(folder);
    const older = readFileSync(path.join(publication.out, generationPath.current));
    await publication.publish({ 'v2/a.json': '2' });
    return { publication, folder, older };
  };

  it('is older', async () => {
    const { publication, folder, older } = await prepare();
    await take(folder);
    origin.intercept = (file) => (file === generationPath.current ? older : undefined);
    await refuse(folder, /older than the generation 2 .* empty folder/);
    // Of the same number and date, and another.
    const other = { ...JSON.parse(publication.read(generationPath.current)), previous: null };
    origin.intercept = (file) => (file === generationPath.current ? Buffer.from(JSON.stringify(other)) : undefined);
    await refuse(folder, /older than the generation 2 .* empty folder/);
  });

  it.each(['cut short', 'altered'])('has a catalog that is %s', async (how) => {
    const { publication, folder } = await prepare();
    const file = path.join(publication.out, publication.current.catalog.path);
    if (how === 'altered')
      writeFileSync(file, readFileSync(path.join(publication.out, publication.current.documents.inventory)));
    else truncateSync(file, readFileSync(file).length - 3);
    await refuse(folder, /holds other files than it says/);
  });

  it('has documents with other bytes', async () => {
    const { publication, folder } = await prepare();
    writeFileSync(path.join(publication.out, 'v2/a.json'), 'x');
    await refuse(folder, /holds other files than it says/);
  });

  it.each<[string, (files: { whole: Buffer; differences: Buffer }) => Record<string, Buffer | undefined>]>([
    ['no inventory', () => ({ whole: undefined })],
    ['no differences', () => ({ differences: undefined })],
    ['differences that are cut short', ({ differences }) => ({ differences: differences.subarray(0, -2) })],
    ['differences that are altered', () => ({ differences: zstdCompressSync(`${'1'.repeat(64)}  v2/a.json\n`) })],
    ['differences in place of the inventory', ({ differences }) => ({ whole: differences })],
    ['the inventory in place of differences', ({ whole }) => ({ differences: whole })],
    ['an inventory of another generation', () => ({ whole: zstdCompressSync(`${'1'.repeat(64)}  v2/z.json\n`) })],
  ])('has %s', async (_, damage) => {
    const { publication, folder } = begin();
    const files = { 'v2/a.json': '1', 'v2/b.json': '1', 'v2/c.json': '1' };
    await publication.publish(files);
    await take(folder);
    await publication.publish({ ...files, 'v2/a.json': '2' });
    const { inventory, differences = '' } = publication.current.documents;
    const told = {
      whole: readFileSync(path.join(publication.out, inventory)),
      differences: readFileSync(path.join(publication.out, differences)),
    };
    const damaged = damage(told);
    // The mirror has the inventory already.
    if ('whole' in damaged) rmSync(path.join(folder, inventory));
    for (const [kind, bytes] of Object.entries(damaged)) {
      const file = path.join(publication.out, kind === 'whole' ? inventory : differences);
      if (bytes === undefined) rmSync(file);
      else writeFileSync(file, bytes);
    }
    await refuse(folder, /holds other files than it says/);
    writeFileSync(path.join(publication.out, inventory), told.whole);
    writeFileSync(path.join(publication.out, differences), told.differences);
    await take(folder);
    expect(read(folder)).toEqual({ ...files, 'v2/a.json': '2' });
  });

  it('has an inventory that no Debdex writes: a path twice, out of order, no digest, no line', async () => {
    const { publication, folder } = await prepare();
    const line = (file: string, text = '2') => `${sha256(text)}  ${file}\n`;
    const texts = [
      line('v2/a.json') + line('v2/a.json'),
      line('v2/a.json', '1') + line('v2/a.json'),
      line('v2/b.json') + line('v2/a.json'),
      `${'x'.repeat(64)}  v2/a.json\n`,
      line('v2/a.json').trim(),
    ];
    writeFileSync(path.join(publication.out, 'v2/b.json'), '2');
    for (const text of texts) {
      const documents = { count: 1, digest: sha256(text), inventory: `v2/inventory/${sha256(text)}.txt.zst` };
      const generation = Buffer.from(JSON.stringify({ ...publication.current, documents }));
      origin.intercept = (file) => {
        if (file === documents.inventory) return zstdCompressSync(text);
        return file === generationPath.current ? generation : undefined;
      };
      await refuse(folder, /holds other files than it says/);
    }
  });

  it('is not signed, or by another key', async () => {
    const { publication, folder } = await prepare();
    const signer = await createSigner(privateKey);
    await refuse(folder, /generation\.jws is missing/, signer.publicKey);
    const files = { 'v2/a.json': '3' };
    await publication.publish(files, { signer });
    await refuse(folder, /not by the public key that is configured/, 'A'.repeat(43));
    await take(folder, { publicKey: signer.publicKey });
    expect(read(folder)).toEqual(files);
  });

  it('is none, or of another format', async () => {
    const { folder } = await prepare();
    origin.intercept = (file) => (file === generationPath.current ? Buffer.from('{"format":2}') : undefined);
    await refuse(folder, /not of a form that this version knows/);
    // As a network answers before somebody signs in, or a host for all that it does not have.
    origin.intercept = (file) => (file === generationPath.current ? Buffer.from('\n<html>') : undefined);
    await refuse(folder, /generation\.json is a web page: give the address/);
    // As of a store that has its files compressed.
    origin.intercept = (file) =>
      file === generationPath.current
        ? (response) => response.setHeader('Content-Encoding', 'gzip').end(gzipSync('{"format":1}'))
        : undefined;
    await refuse(folder, /generation\.json comes compressed \(gzip\)/);
    origin.folder = new Publication().out;
    origin.intercept = undefined;
    await refuse(folder, /publishes no generation \(404/);
  });

  it('C9: names files outside the folder', async () => {
    const { publication, folder } = await prepare();
    const list = changeListSchema.parse(JSON.parse(publication.read(publication.current.changes)));
    for (const bad of ['../outside', '/etc/passwd', 'a/../../b', '.staging/x', 'a\\b', 'c:x', '']) {
      expect(isSafePath(bad)).toBe(false);
      const documents = { written: [bad], removed: [] };
      origin.intercept = (file) =>
        file === publication.current.changes ? Buffer.from(JSON.stringify({ ...list, documents })) : undefined;
      await refuse(folder, /which no Debdex writes/);
      const { documents: named, ...rest } = publication.current;
      const text = `${'0'.repeat(64)}  ${bad}\n`;
      const inventory = `v2/inventory/${sha256(text)}.txt.zst`;
      for (const told of [
        { ...named, inventory: bad },
        { ...named, differences: bad },
        { count: 1, digest: sha256(text), inventory },
      ]) {
        const generation = Buffer.from(JSON.stringify({ ...rest, documents: told }));
        origin.intercept = (file) => {
          if (file === inventory) return zstdCompressSync(text);
          return file === generationPath.current ? generation : undefined;
        };
        await refuse(folder, /which no Debdex writes/);
      }
    }
    // Of these an inventory would make several lines, a disk no name at all, and another system the name of another file.
    for (const bad of ['a\nb', 'a\rb', 'a\0b', 'a\u0085b', 'a\ud800b'])
      expect(isSafePath(bad), JSON.stringify(bad)).toBe(false);
    expect(isSafePath('.well-known/security.txt')).toBe(true);
    // The document of a package that is called so.
    for (const id of ['.hidden', '..', '../../etc/passwd']) expect(isSafePath(documentPath.package(id)), id).toBe(true);
  });

  it.each([
    ['a path of two lines', 'v2/a.json\n'],
    ['a name that no disk takes', `v2/${'é'.repeat(128)}`],
    ['a path that no store takes', `v2${'/é'.repeat(400)}`],
    ['folders without end', `v2${'/a'.repeat(32)}`],
    ['a file that is the folder of another', 'v2/a.json/b'],
    ['what tells of its generation', generationPath.current],
    ['a file in place of a folder of ours', 'v2'],
    ['another', 'v2/changes'],
    ['a folder where inventories are looked for', 'v2/inventory/a/b'],
    ['a file where catalogs are', 'v2/catalog/a.json'],
  ])('C9: names %s', async (_, bad) => {
    const { publication, folder } = await prepare();
    const lines = [`${sha256('2')}  v2/a.json\n`, `${sha256('x')}  ${bad}\n`];
    const text = bad < 'v2/a.json' ? lines.reverse().join('') : lines.join('');
    const documents = { count: 2, digest: sha256(text), inventory: `v2/inventory/${sha256(text)}.txt.zst` };
    const generation = Buffer.from(JSON.stringify({ ...publication.current, documents }));
    origin.intercept = (file) => {
      if (file === documents.inventory) return zstdCompressSync(text);
      if (file === generationPath.current) return generation;
      return file === bad ? Buffer.from('x') : undefined;
    };
    await refuse(folder, /which no Debdex writes|holds other files than it says/);
    expect(existsSync(path.join(folder, '.debdex', 'mirroring'))).toBe(false);
    // It takes what is published next, as if nothing had been.
    origin.intercept = undefined;
    await publication.publish({ 'v2/a.json': '3', 'v2/portions/a.json': '3', 'v2/portions/a.portion': '3' });
    await take(folder);
    expect(read(folder)).toEqual({ 'v2/a.json': '3' });
    expect(readFileSync(path.join(folder, 'v2/portions/a.portion'), 'utf8')).toBe('3');
  });

  it('C2: has an inventory of more bytes than fit in memory', async () => {
    const { publication, folder } = await prepare();
    const { inventory } = publication.current.documents;
    const head = { 'content-length': 2 ** 28 + 1 };
    origin.intercept = (file) =>
      file === inventory ? (response) => void response.writeHead(200, head).flushHeaders() : undefined;
    await refuse(folder, /announces 268435457 bytes, more than 268435456/);
  });

  it('C9: has its catalog or inventory where files of another kind are', async () => {
    const { publication, folder } = await prepare();
    const { catalog, documents, ...rest } = publication.current;
    for (const bad of ['v2/b.json', 'index.html', generationPath.current, 'v2/catalog/a/b']) {
      for (const told of [
        { catalog: { ...catalog, path: bad }, documents },
        { catalog, documents: { ...documents, inventory: bad } },
      ]) {
        const generation = Buffer.from(JSON.stringify({ ...rest, ...told }));
        origin.intercept = (file) => (file === generationPath.current ? generation : undefined);
        await refuse(folder, /which no Debdex writes|holds other files than it says/);
      }
    }
  });

  it('C9: would be written through a link', async () => {
    const { folder } = await prepare();
    const outside = temporaryFolder();
    rmSync(path.join(folder, 'v2'), { recursive: true });
    symlinkSync(outside, path.join(folder, 'v2'));
    await take(folder);
    expect(existsSync(path.join(outside, 'a.json'))).toBe(false);
    expect(read(folder)).toEqual({ 'v2/a.json': '2' });
  });
});

it('P3: a mirror takes a generation that is said to have a coding, and is sent as it is', async () => {
  const { publication, folder } = begin();
  await publication.publish({ 'v2/a.json': '1' });
  origin.intercept = (file) =>
    file === generationPath.current
      ? (response) =>
          response
            .setHeader('Content-Encoding', 'utf-8')
            .end(readFileSync(path.join(publication.out, generationPath.current)))
      : undefined;
  await take(folder);
  expect(read(folder)).toEqual({ 'v2/a.json': '1' });
});
