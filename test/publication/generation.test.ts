import { createPublicKey, generateKeyPairSync, sign as signEd25519, verify as verifyEd25519 } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestPieces } from '../../src/catalog/pieces.ts';
import { generationPath, keptCatalogs, keptChangeLists, type PackageChange } from '../../src/contract/generation.ts';
import { readGeneration, readLastNumber } from '../../src/publication/generation-in-force.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { keepPendingChanges, mergeChanges, readPendingChanges } from '../../src/publication/package-changes.ts';
import { createSigner, isPublicKey, verifySignature } from '../../src/publication/signature.ts';
import { temporaryFolder } from '../support/folder.ts';
import { Killed, KilledFolder } from '../support/killed-folder.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { type Files, Publication, privateKey, publicKey, sha256 } from '../support/publication.ts';

describe('a generation', () => {
  it('P1: tells of all that is published, by a digest that sha256sum would print', async () => {
    const files = {
      'v2/b.json': 'b',
      'index.html': 'i',
      'v2/ﬀ.json': 'high',
      'v2/😀.json': 'higher',
      'v2/a.json': 'a',
    };
    const publication = new Publication();
    const { isNew } = await publication.publish(files);
    expect(isNew).toBe(true);
    publication.expectWhole(files);
    expect(publication.current).toMatchObject({
      format: 1,
      number: 1,
      previous: null,
      date: '2026-01-01T00:00:00.000Z',
    });
    expect(publication.changes(1).documents).toEqual({
      written: ['index.html', 'v2/a.json', 'v2/b.json', 'v2/ﬀ.json', 'v2/😀.json'],
      removed: [],
    });
  });

  it('C13: is not followed by another where nothing changed', async () => {
    const publication = new Publication();
    await publication.publish({ 'v2/a.json': 'a' });
    const before = publication.read(generationPath.current);
    expect((await publication.publish({ 'v2/a.json': 'a' })).isNew).toBe(false);
    expect(publication.read(generationPath.current)).toBe(before);
    expect(readdirSync(path.join(publication.out, 'v2', 'changes'))).toEqual(['1.json']);
  });

  it('C13: where nothing changed its inventory is not written again; where files change places it is', async () => {
    const publication = new Publication();
    const file = path.join(publication.folder, 'catalog');
    writeFileSync(file, 'the same');
    const catalog = { file, ...(await digestPieces(file)) };
    const inventory = path.join(publication.state, 'publication', 'inventory.txt');
    const publish = (files: Files) => publication.publish(files, { catalog });
    await publish({ 'v2/a.json': 'a', 'v2/b.json': 'b' });
    const { ino } = statSync(inventory);
    expect((await publish({ 'v2/a.json': 'a', 'v2/b.json': 'b' })).isNew).toBe(false);
    expect(statSync(inventory).ino).toBe(ino);
    for (const files of [{ 'v2/a.json': 'a', 'v2/c.json': 'b' }, { 'v2/a.json': 'a' }, { 'v2/a.json': 'other' }]) {
      expect((await publish(files)).isNew).toBe(true);
      publication.expectWhole(files);
    }
  });

  it('P1: is refused where files are said to stand of which the inventory before does not tell', async () => {
    const publication = new Publication();
    await publication.publish({ 'v2/a.json': 'a', 'v2/b.json': 'b' });
    const standing = { count: 2, has: (file: string) => file === 'v2/b.json' };
    await expect(publication.publish({ 'v2/a.json': 'other' }, { standing })).rejects.toThrow('Build again');
    expect(publication.current.number).toBe(1);
    const one = { ...standing, count: 1 };
    await publication.publish({ 'v2/a.json': 'a third' }, { standing: one });
    expect(publication.current).toMatchObject({ number: 2, documents: { count: 2 } });
  });

  it('P2: goes on with what still stands of files that are carried on, and with no others', async () => {
    const publication = new Publication();
    const documents = { 'v2/a.json': 'a', 'v2/c.json': 'c' };
    const pages = { 'index.html': 'i', 'v2/b.html': 'b', 'w.html': 'w' };
    const isCarried = (file: string) => file.endsWith('.html');
    await publication.publish({ ...documents, ...pages, 'v2/d.json': 'd' });
    await publication.publish({ ...documents, 'v2/c.json': 'c2' }, { isCarried });
    publication.expectWhole({ ...documents, ...pages, 'v2/c.json': 'c2' });
    expect(publication.changes(2).documents).toEqual({ written: ['v2/c.json'], removed: ['v2/d.json'] });
    // They are gone by now.
    await publication.publish({ ...documents, 'v2/c.json': 'c2' }, { isCarried });
    publication.expectWhole({ ...documents, 'v2/c.json': 'c2' });
    expect(publication.changes(3).documents).toEqual({ written: [], removed: Object.keys(pages) });
  });

  it('is followed by another where only the catalog changed', async () => {
    const publication = new Publication();
    await publication.publish({ 'v2/a.json': 'a' });
    const file = path.join(publication.state, 'other');
    writeFileSync(file, 'another');
    await publication.publish({ 'v2/a.json': 'a' }, { catalog: { file, ...(await digestPieces(file)) } });
    expect(publication.current).toMatchObject({ number: 2, previous: 1, catalog: { sha256: sha256('another') } });
    expect(publication.changes(2).documents).toEqual({ written: [], removed: [] });
  });

  it('keeps the last catalogs and change lists, and no more', async () => {
    const publication = new Publication();
    for (let number = 1; number <= 6; number++) await publication.publish({ 'v2/a.json': `${number}` });
    // As if nearly a hundred had been published since.
    const text = publication.read(generationPath.current).replace('"number":6', `"number":${keptChangeLists + 2}`);
    writeFileSync(path.join(publication.out, generationPath.current), text);
    await publication.publish({ 'v2/a.json': 'next' });
    const lists = readdirSync(path.join(publication.out, 'v2', 'changes'));
    expect(lists.map((name) => Number.parseInt(name, 10)).sort((a, b) => a - b)).toEqual([
      4,
      5,
      6,
      keptChangeLists + 3,
    ]);
    const catalogs = readdirSync(path.join(publication.out, 'v2', 'catalog'));
    expect(catalogs).toHaveLength(keptCatalogs);
    expect(catalogs).toContain(path.basename(publication.current.catalog.path));
  });

  it('P2: keeps the catalogs of the last three generations though the clock was set back a year', async () => {
    const publication = new Publication();
    const folder = path.join(publication.out, 'v2', 'catalog');
    const ahead = Date.now() / 1000 + 365 * 86_400;
    const named: string[] = [];
    for (let number = 1; number <= 6; number++) {
      await publication.publish({ 'v2/a.json': `${number}` });
      named.push(path.basename(publication.current.catalog.path));
      // The first three are of the time before.
      const at = number <= 3 ? ahead + number : Date.now() / 1000 - 10 + number;
      utimesSync(path.join(folder, named.at(-1) ?? ''), at, at);
    }
    expect(readdirSync(folder).sort()).toEqual(named.slice(-keptCatalogs).sort());
  });

  it('P2: keeps the catalog of the generation before where that had come back from an earlier one', async () => {
    const publication = new Publication();
    const folder = path.join(publication.out, 'v2', 'catalog');
    const named: string[] = [];
    for (const [index, content] of ['1', '2', '3', '1', '4'].entries()) {
      await publication.publish({ 'v2/a.json': content });
      named.push(path.basename(publication.current.catalog.path));
      const at = Date.now() / 1000 - 100 + index;
      if (index < 3) utimesSync(path.join(folder, named.at(-1) ?? ''), at, at);
    }
    expect(readdirSync(folder).sort()).toEqual(named.slice(-keptCatalogs).sort());
  });

  it('P2: names one whole inventory and what differs from it, until that is much, and keeps what the last three name', async () => {
    const publication = new Publication();
    const many = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`v2/${String(at).padStart(3, '0')}.json`, '']),
    );
    const named: string[][] = [];
    let files: Files = many;
    for (let number = 1; number <= 24; number++) {
      // One is new, one has other bytes, and one is gone, which is back in the next.
      const { [`v2/${String(number).padStart(3, '0')}.json`]: _, ...others } = many;
      files = { ...others, 'v2/999.json': `${number}`, [`v2/new${number}.json`]: 'new' };
      if (number % 6 === 0)
        files = { ...files, ...Object.fromEntries(Array.from({ length: 5 * number }, (_, at) => [`w/${at}`, ''])) };
      await publication.publish(files);
      publication.expectWhole(files);
      const { inventory, differences } = publication.current.documents;
      named.push([inventory, ...(differences === undefined ? [] : [differences])]);
      for (const file of named.slice(-3).flat()) expect(existsSync(path.join(publication.out, file)), file).toBe(true);
    }
    const wholes = new Set(named.map(([whole]) => whole));
    expect(wholes.size).toBeGreaterThan(2);
    expect(wholes.size).toBeLessThan(12);
    expect(readdirSync(path.join(publication.out, 'v2/inventory')).length).toBeLessThanOrEqual(2 * keptCatalogs);
  });

  it('P2: writes a whole inventory where the one before is lost or damaged, though nothing else changed', async () => {
    const publication = new Publication();
    const files = { 'v2/a.json': 'a', 'v2/b.json': 'b' };
    for (const damage of ['lost', 'damaged']) {
      await publication.publish({ ...files, 'v2/c.json': damage });
      await publication.publish(files);
      const { inventory, differences } = publication.current.documents;
      for (const file of [differences, inventory]) {
        if (file === undefined) continue;
        const { number } = publication.current;
        if (damage === 'lost') rmSync(path.join(publication.out, file));
        else writeFileSync(path.join(publication.out, file), 'damaged');
        await publication.publish(files);
        expect(publication.current.number).toBe(number + 1);
        publication.expectWhole(files);
      }
    }
  });

  it('P2: begins a new chain where what was published before is not known any more', async () => {
    const publication = new Publication();
    await publication.publish({ 'v2/a.json': 'a', 'v2/b.json': 'b' });
    rmSync(path.join(publication.state, 'publication'), { recursive: true });
    await publication.publish({ 'v2/a.json': 'a', 'v2/c.json': 'c' });
    expect(publication.current).toMatchObject({ number: 2, previous: null });
    publication.expectWhole({ 'v2/a.json': 'a', 'v2/c.json': 'c' });
    writeFileSync(path.join(publication.out, generationPath.current), '{"format":1,');
    rmSync(path.join(publication.state, 'publication'), { recursive: true });
    await publication.publish({ 'v2/a.json': 'a2', 'v2/c.json': 'c' });
    expect(publication.current).toMatchObject({ number: 3, previous: null });
  });

  it.each(['is lost', 'has a generation.json that is damaged'])(
    'P2: goes on where the output folder %s, by what the state folder knows',
    async (damage) => {
      const publication = new Publication();
      await publication.publish({ 'v2/a.json': 'a', 'v2/b.json': 'b' });
      await publication.publish({ 'v2/a.json': 'a2', 'v2/b.json': 'b' });
      if (damage === 'is lost') rmSync(publication.out, { recursive: true });
      else writeFileSync(path.join(publication.out, generationPath.current), '{"format":1,');
      const files = { 'v2/a.json': 'a2', 'v2/c.json': 'c' };
      const output = new OutputFolder(publication.out);
      for (const [name, text] of Object.entries(files)) output.write(name, text);
      await publication.publish(files, { output, isTouched: (name) => output.hasPlaced(name) });
      expect(publication.current).toMatchObject({ number: 3, previous: 2 });
      expect(publication.changes(3).documents).toEqual({ written: ['v2/c.json'], removed: ['v2/b.json'] });
      publication.expectWhole(files);
      await publication.publish({ 'v2/a.json': 'a2' });
      expect(publication.current).toMatchObject({ number: 4, previous: 3 });
    },
  );

  it('P2: gives no number anew where an older copy of the output folder was brought back', async () => {
    const publication = new Publication();
    const copy = temporaryFolder();
    for (const content of ['1', '2', '3']) {
      await publication.publish({ 'v2/a.json': content });
      if (content === '1') cpSync(publication.out, copy, { recursive: true });
    }
    rmSync(publication.out, { recursive: true });
    cpSync(copy, publication.out, { recursive: true });
    expect(readLastNumber(publication.output, publication.state)).toBe(3);
    await publication.publish({ 'v2/a.json': '4' });
    expect(publication.current).toMatchObject({ number: 4, previous: null });
    publication.expectWhole({ 'v2/a.json': '4' });
  });

  it('P2: keeps no list of generations that an older copy has taken back', async () => {
    const publication = new Publication();
    const copy = temporaryFolder();
    for (const content of ['1', '2', '3', '4']) {
      await publication.publish({ 'v2/a.json': content });
      if (content === '1') cpSync(publication.folder, copy, { recursive: true });
    }
    // Over what is there.
    cpSync(copy, publication.folder, { recursive: true });
    await publication.publish({ 'v2/a.json': '5' }, { isTouched: undefined });
    expect(publication.current).toMatchObject({ number: 2, previous: 1 });
    expect(readdirSync(path.join(publication.out, 'v2/changes'))).toEqual(['1.json', '2.json']);
    expect(publication.changes(2).date).toBe(publication.current.date);
  });

  it('C12: leaves none of its temporary files, also where it cannot be published', async () => {
    const publication = new Publication();
    const sign = async () => {
      writeFileSync(publication.output.temporary(), 'half-written');
      throw new Error('of the test');
    };
    const signer = { publicKey, sign };
    await expect(publication.publish({ 'v2/a.json': 'a' }, { signer })).rejects.toThrow('of the test');
    expect(existsSync(path.join(publication.out, '.staging'))).toBe(false);
    expect(readGeneration(publication.output)).toBeUndefined();
  });

  it('P2: reads every file again where it is not known which were written', async () => {
    const publication = new Publication();
    await publication.publish({ 'v2/a.json': 'a', 'v2/b.json': 'b' });
    publication.output.write('v2/b.json', 'left by a build that was killed');
    await publication.publish({ 'v2/a.json': 'a', 'v2/b.json': 'b' }, { isTouched: undefined });
    expect(publication.changes(2).documents.written).toEqual(['v2/b.json']);
  });
});

const names = ['v2/a.json', 'v2/b.json', 'v2/c/d.json', 'index.html', 'ﬀ.html', '😀.html'];
const history = fc.array(
  fc
    .dictionary(fc.constantFrom(...names), fc.constantFrom('1', '2', '3'))
    .filter((files) => Object.keys(files).length > 0),
  { minLength: 2, maxLength: 8 },
);

/** Follows change lists from one generation to the newest, on a copy of what was published. */
const follow = (mirror: Files, from: number, publication: Publication): Files => {
  const files = { ...mirror };
  const published = publication.files();
  for (let number = from + 1; number <= publication.current.number; number++) {
    const { documents } = publication.changes(number);
    for (const name of documents.removed) delete files[name];
    for (const name of documents.written) files[name] = published[name] ?? 'nothing';
  }
  return files;
};

it('P2: a mirror of any generation that follows the change lists holds what is published, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (rounds) => {
      const publication = new Publication();
      const mirrors: [number, Files][] = [];
      for (const files of rounds) {
        await publication.publish(files);
        publication.expectWhole(files);
        mirrors.push([publication.current.number, files]);
      }
      const newest = publication.files();
      expect(newest).toEqual(rounds.at(-1));
      for (const [number, mirror] of mirrors) expect(follow(mirror, number, publication)).toEqual(newest);
    }),
    { numRuns: timesFrom('DEBDEX_TEST_HISTORIES', 15) },
  );
});

it('P1: killed at any step it leaves the generation before or the new one, and the next build goes on from there', async () => {
  const [first, second, third]: Files[] = [
    { 'v2/a.json': '1', 'v2/b.json': '1' },
    { 'v2/a.json': '2', 'v2/c.json': '2' },
    { 'v2/a.json': '3', 'v2/c.json': '2' },
  ];
  const signer = await createSigner(privateKey);
  let isThrough = false;
  for (let step = 0; !isThrough; step++) {
    const publication = new Publication();
    await publication.publish(first ?? {}, { signer });
    try {
      await publication.publish(second ?? {}, {
        signer,
        output: new KilledFolder(publication.out, step),
        packages: [],
      });
      isThrough = true;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
    const { number, catalog, changes } = publication.current;
    expect([1, 2]).toContain(number);
    for (const name of [catalog.path, changes]) expect(existsSync(path.join(publication.out, name))).toBe(true);
    // What the killed build wrote of the documents it does not know; so all are read again.
    await publication.publish(third ?? {}, { signer, isTouched: undefined });
    publication.expectWhole(third ?? {});
    expect(publication.current).toMatchObject({ number: number + 1, previous: number });
    const mirrored = follow(number === 1 ? (first ?? {}) : (second ?? {}), number, publication);
    expect(mirrored).toEqual(third);
  }
});

it('P2: every change of a package is told once, wherever the build that found it is killed', async () => {
  const change = { package_id: 'a', repository: 'one' } as const;
  const added: PackageChange = { ...change, change: 'added', version: '1', previous_version: null };
  const removed: PackageChange = { ...change, change: 'removed', version: null, previous_version: '1' };
  let isThrough = false;
  for (let step = 0; !isThrough; step++) {
    const publication = new Publication();
    const { state, output } = publication;
    const publishWith = (found: PackageChange, files: Files, folder = output) => {
      const present = { last: readLastNumber(output, state), repositories: [{ slug: 'one', aliases: [] }] };
      keepPendingChanges(state, [found], present);
      const packages = readPendingChanges(state, present);
      return publication.publish(files, { output: folder, packages });
    };
    await publication.publish({ 'v2/b.json': 'b' });
    try {
      await publishWith(added, { 'v2/b.json': 'b', 'v2/a.json': 'a' }, new KilledFolder(publication.out, step));
      isThrough = true;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
    const { number } = publication.current;
    await publishWith(removed, { 'v2/b.json': 'b2' });
    const told = [2, 3].slice(0, publication.current.number - 1).map((one) => publication.changes(one).packages);
    expect(told).toEqual(number === 1 ? [[]] : [[added], [removed]]);
  }
});

it('P2: changes that a killed build found are told under the slug that their repository has since, or not at all', () => {
  const state = temporaryFolder();
  const added = (repository: string, package_id: string): PackageChange => {
    return { package_id, repository, change: 'added', version: '1', previous_version: null };
  };
  const listed = (...repositories: [slug: string, ...aliases: string[]][]) => {
    return { last: 1, repositories: repositories.map(([slug, ...aliases]) => ({ slug, aliases })) };
  };
  const found = [added('gone', 'a'), added('new', 'b'), added('old', 'b'), added('old', 'c'), added('same', 'd')];
  keepPendingChanges(state, found, listed(['gone'], ['old'], ['new'], ['same']));
  const now = listed(['new', 'old'], ['same', 'gone-before']);
  expect(readPendingChanges(state, now)).toEqual([added('new', 'b'), added('new', 'c'), added('same', 'd')]);
  keepPendingChanges(state, [{ ...added('new', 'b'), change: 'removed', version: null, previous_version: '1' }], now);
  expect(readPendingChanges(state, now)).toEqual([added('new', 'c'), added('same', 'd')]);
});

it('P2: where nobody knows what changed of packages, the next list of changes does not lead from the one before', async () => {
  const publication = new Publication();
  const { state } = publication;
  const present = { last: 1, repositories: [{ slug: 'one', aliases: [] }] };
  const found: PackageChange = {
    ...{ package_id: 'a', repository: 'one', change: 'added', version: '1', previous_version: null },
  };
  await publication.publish({ 'v2/a.json': 'a' });
  keepPendingChanges(state, undefined, present);
  // What a later build knows after this one was killed is not all.
  keepPendingChanges(state, [found], present);
  await publication.publish({ 'v2/a.json': 'b' }, { packages: readPendingChanges(state, present) });
  expect(publication.current).toMatchObject({ number: 2, previous: null });
  expect(publication.changes(2)).toMatchObject({ previous: null, packages: [] });
  expect(readPendingChanges(state, present)).toEqual([]);
  // With the same catalog as before nothing changed.
  keepPendingChanges(state, undefined, { ...present, last: 2 });
  await publication.publish({ 'v2/a.json': 'b' }, { packages: readPendingChanges(state, { ...present, last: 2 }) });
  await publication.publish({ 'v2/a.json': 'c' }, { packages: readPendingChanges(state, { ...present, last: 2 }) });
  expect(publication.current).toMatchObject({ number: 3, previous: 2 });
});

it('P2: changes that a killed build of an earlier program left as a list alone are told, and once', () => {
  const state = temporaryFolder();
  const found: PackageChange = {
    package_id: 'a',
    repository: 'one',
    change: 'added',
    version: '1',
    previous_version: null,
  };
  mkdirSync(path.join(state, 'publication'));
  writeFileSync(path.join(state, 'publication', 'packages.json'), `${JSON.stringify([found])}\n`);
  const present = { last: 3, repositories: [{ slug: 'one', aliases: [] }] };
  expect(readPendingChanges(state, present)).toEqual([found]);
  keepPendingChanges(state, [{ ...found, package_id: 'b' }], present);
  expect(readPendingChanges(state, { ...present, last: 4 })).toEqual([]);
});

describe('a signature', () => {
  it('P3: is a detached JWS of generation.json that others can check', async () => {
    const publication = new Publication();
    const signer = await createSigner(privateKey);
    await publication.publish({ 'v2/a.json': 'a' }, { signer });
    const text = readFileSync(path.join(publication.out, generationPath.current));
    const jws = publication.read(generationPath.signature);
    expect(isPublicKey(signer.publicKey)).toBe(true);
    expect(signer.publicKey).toBe(publicKey);
    // RFC 7515, section 5.2, by hand.
    const [header = '', payload, signature = ''] = jws.trim().split('.');
    expect([JSON.parse(Buffer.from(header, 'base64url').toString()), payload]).toEqual([{ alg: 'EdDSA' }, '']);
    const signed = Buffer.from(`${header}.${text.toString('base64url')}`);
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: signer.publicKey }, format: 'jwk' });
    expect(verifyEd25519(null, signed, key, Buffer.from(signature, 'base64url'))).toBe(true);
    expect(await verifySignature(jws, text, signer.publicKey)).toBe(true);
    // A line of text, as programs that show files expect.
    expect(jws).toMatch(/^\S+\n$/);
  });

  it('P3: of other bytes, by another key, or none at all, does not count', async () => {
    const signer = await createSigner(privateKey);
    const other = await createSigner(
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    );
    const payload = Buffer.from('{"number":1}');
    const jws = await signer.sign(payload);
    const [header, , signature] = jws.trim().split('.');
    // By the right key, and said to be by another algorithm of it (RFC 9864) than those who verify are told of.
    const otherHeader = Buffer.from('{"alg":"Ed25519"}').toString('base64url');
    const otherSigned = Buffer.from(`${otherHeader}.${payload.toString('base64url')}`);
    const otherSignature = signEd25519(null, otherSigned, privateKey).toString('base64url');
    const refused: [string, Uint8Array, string][] = [
      [jws, Buffer.from('{"number":2}'), signer.publicKey],
      [jws, payload, other.publicKey],
      ['', payload, signer.publicKey],
      ['..', payload, signer.publicKey],
      [`${header}..`, payload, signer.publicKey],
      [`${Buffer.from('{"alg":"none"}').toString('base64url')}..`, payload, signer.publicKey],
      [`${header}.${payload.toString('base64url')}.${signature}`, payload, signer.publicKey],
      [jws, payload, 'no key'],
      [`${otherHeader}..${otherSignature}`, payload, signer.publicKey],
    ];
    for (const [text, bytes, key] of refused) expect(await verifySignature(text, bytes, key), text).toBe(false);
  });

  it('comes and goes with the key, though nothing else changed', async () => {
    const publication = new Publication();
    const files = { 'v2/a.json': 'a' };
    await publication.publish(files);
    expect(existsSync(path.join(publication.out, generationPath.signature))).toBe(false);
    const signer = await createSigner(privateKey);
    expect((await publication.publish(files, { signer })).isNew).toBe(false);
    const text = readFileSync(path.join(publication.out, generationPath.current));
    expect(await verifySignature(publication.read(generationPath.signature), text, signer.publicKey)).toBe(true);
    await publication.publish(files);
    expect(existsSync(path.join(publication.out, generationPath.signature))).toBe(false);
  });

  it.each(['', 'no key', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'])(
    'wants a private key of Ed25519, and says how to make one (%j)',
    async (text) => {
      await expect(createSigner(text)).rejects.toThrow('openssl genpkey -algorithm ed25519');
    },
  );
});

it('P2: changes of packages that no generation told of lead from before the first to after the last', () => {
  const change = (package_id: string, previous_version: string | null, version: string | null) =>
    ({
      package_id,
      repository: 'one',
      change: version === null ? 'removed' : previous_version === null ? 'added' : 'updated',
      version,
      previous_version,
    }) as const;
  expect(
    mergeChanges(
      [change('b', '1', '2'), change('c', null, '1'), change('d', '1', null), change('e', '1', '2')],
      [
        change('a', '1', '2'),
        change('b', '2', '3'),
        change('c', '1', null),
        change('d', null, '2'),
        change('e', '2', '1'),
      ],
    ),
  ).toEqual([change('a', '1', '2'), change('b', '1', '3'), change('d', '1', '2')]);
});

it('is unreadable where it is damaged, and never half read', () => {
  const publication = new Publication();
  expect(readGeneration(publication.output)).toBeUndefined();
  publication.output.write(generationPath.current, '{"format":2}');
  expect(readGeneration(publication.output)).toBeUndefined();
});
