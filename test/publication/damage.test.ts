import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CatalogBuild, catalogPath } from '../../src/catalog/state-catalog.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { openStore } from '../../src/snapshots/store.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench } from '../support/building.ts';
import { temporaryFolder } from '../support/folder.ts';
import { OriginServer } from '../support/origin-server.ts';

// Each test is several builds, one after the other.
vi.setConfig({ testTimeout: 120_000 });

let origin: OriginServer;
// What a test damaged the builds of it have mended, which it sees: the next goes on from there.
const folder = mkdtempSync(path.join(tmpdir(), 'debdex-damage-'));
const bench = new BuildBench({ folder });
let before: Map<string, string>;

beforeAll(async () => {
  origin = await OriginServer.start();
  origin.serve('one', await generateRepository({ packages: makePackages(60) }));
  bench.list([{ slug: 'one', uri: origin.uri('one') }]);
  expect((await bench.build()).status).toBe(0);
  before = bench.read();
});

afterAll(async () => {
  await origin.stop();
  rmSync(folder, { recursive: true });
});

/** The next builds are of another repository, and not of the one any more. */
const listAnother = async (): Promise<void> => {
  origin.serve('two', await generateRepository({ packages: makePackages(80, 'q') }));
  bench.list([{ slug: 'two', uri: origin.uri('two') }]);
};

/** Writes over bytes of a file in the place where they are. */
const overwrite = (file: string, at: number, bytes: Uint8Array): void => {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, at);
  closeSync(descriptor);
};

/** Lets the catalog look from outside like the one that was put in force. */
const disguise = (state: string): void => {
  const file = path.join(state, 'catalog.mark.json');
  const [mark] = JSON.parse(readFileSync(file, 'utf8'));
  const { mtimeNs } = statSync(catalogPath(state), { bigint: true });
  writeFileSync(file, JSON.stringify([{ ...mark, changed: String(mtimeNs) }]));
};

/** Changes one byte of the text of a record, which SQLite cannot notice. */
const changeByte = (state: string): void => {
  const file = catalogPath(state);
  const at = readFileSync(file).indexOf('"com.example.p33"');
  expect(at).toBeGreaterThan(4096);
  overwrite(file, at + 1, Buffer.from('C'));
};

/** What SQLite says of a damaged file (SQLITE_CORRUPT). */
const damage = Object.assign(new Error('database disk image is malformed'), { code: 'ERR_SQLITE_ERROR', errcode: 11 });

const rebuilt = expect.stringMatching(/The catalog was damaged and was built anew from the snapshots/);

describe('a catalog that is damaged', () => {
  it('C12: in one byte of one page is built anew from the snapshots, in a sentence, and nothing else changes', async () => {
    changeByte(bench.state);
    expect(await bench.build()).toMatchObject({ status: 0, text: rebuilt });
    expect(bench.findDamage()).toEqual([]);
    expect(bench.read()).toEqual(before);
    expect((await bench.build()).text).not.toContain('Repaired');
  });

  it('C12: and looks as it did is noticed when it is read, or with --verify', async () => {
    const { size } = statSync(catalogPath(bench.state));
    overwrite(catalogPath(bench.state), 4096, Buffer.alloc(size - 4096, 0x5a));
    disguise(bench.state);
    expect(await bench.build()).toMatchObject({ status: 0, text: rebuilt });
    expect(bench.findDamage()).toEqual([]);
    expect(bench.read()).toEqual(before);
    changeByte(bench.state);
    disguise(bench.state);
    expect(await bench.build('DEBDEX_VERIFY=1 ')).toMatchObject({ status: 0, text: rebuilt });
    expect(bench.read()).toEqual(before);
  });

  it('C12: and found to be when documents have their names already is built anew all the same', async () => {
    const putInForce = vi.spyOn(CatalogBuild.prototype, 'publish').mockRejectedValueOnce(damage);
    try {
      expect(await bench.build()).toMatchObject({ status: 0, text: rebuilt });
      expect(putInForce).toHaveBeenCalledTimes(2);
    } finally {
      putInForce.mockRestore();
    }
    expect(bench.findDamage()).toEqual([]);
    expect(bench.read()).toEqual(before);
  });

  it('C12: and found to be when documents wait for their names leaves none of those that were made of it', async () => {
    const held = vi.spyOn(OutputFolder.prototype, 'hold');
    const seal = vi.spyOn(CatalogBuild.prototype, 'seal').mockImplementationOnce(async () => {
      const [output] = held.mock.contexts as OutputFolder[];
      // What is built anew finds the right one in its place, and does not write it.
      output?.write(documentPath.package('com.example.p33'), '{"of": "a damaged record"}');
      expect(output?.held).toBeGreaterThan(0);
      throw damage;
    });
    try {
      expect(await bench.build()).toMatchObject({ status: 0, text: rebuilt });
      expect(held).toHaveBeenCalledTimes(2);
    } finally {
      held.mockRestore();
      seal.mockRestore();
    }
    expect(bench.read()).toEqual(before);
  });

  it('C12: where nothing is known of how it was put in force is noticed too, and a whole one is kept', async () => {
    const mark = path.join(bench.state, 'catalog.mark.json');
    rmSync(mark);
    expect((await bench.build()).text).not.toContain('Repaired');
    rmSync(mark, { force: true });
    truncateSync(catalogPath(bench.state), 8192);
    expect(await bench.build()).toMatchObject({ status: 0, text: rebuilt });
    // A restored backup has another time, and the same bytes.
    const backup = readFileSync(catalogPath(bench.state));
    writeFileSync(catalogPath(bench.state), backup);
    expect((await bench.build()).text).not.toContain('Repaired');
  });
});

describe('documents that are damaged', () => {
  it('C12: are written again as they were: a size that differs at once, a byte with --verify', async () => {
    const fileOf = (document: string) => path.join(bench.out, document);
    const damaged = [
      documentPath.package('com.example.p7'),
      documentPath.repositoryPackages('one'),
      documentPath.repository('one'),
      documentPath.landing,
      documentPath.openapiJson,
    ];
    for (const document of damaged) truncateSync(fileOf(document), 20);
    truncateSync(fileOf(documentPath.package('com.example.p8')), 0);
    rmSync(fileOf(documentPath.package('com.example.p9')));
    expect((await bench.build()).text).toMatch(/Repaired +7 documents/);
    expect(bench.read()).toEqual(before);
    for (const document of damaged) overwrite(fileOf(document), 60, Buffer.from('?'));
    const cheap = await bench.build();
    expect(cheap.text).not.toContain('Repaired');
    expect((await bench.build('DEBDEX_VERIFY=1 ')).text).toMatch(/Repaired +5 documents/);
    expect(bench.read()).toEqual(before);
    expect((await bench.build('DEBDEX_VERIFY=1 ')).text).not.toContain('Repaired');
  });

  it('C12: that were written are flushed before the catalog says so', async () => {
    // strace is on few machines: a command of that name on the path tells that it was called, and with what.
    const folder = temporaryFolder();
    const log = path.join(folder, 'log');
    writeFileSync(path.join(folder, 'sync'), `#!/bin/sh\necho "$@" >> ${log}\nls ${bench.state} >> ${log}\n`, {
      mode: 0o755,
    });
    await listAnother();
    expect((await bench.build(`PATH=${folder}:${process.env.PATH} `)).status).toBe(0);
    const told = readFileSync(log, 'utf8');
    expect(told).toContain(`-f ${bench.out}\n`);
    expect(told).toMatch(/^catalog\.next\.\w+\.sqlite$/m);
  });
});

describe('the snapshots of a repository that is not in the manifest any more', () => {
  it('C3: stay for thirty days after it was last asked for, and go then', async () => {
    await listAnother();
    const snapshots = openStore(bench.state);
    const attempts = await snapshots.readAttempts('one');
    const now = Date.parse(attempts.succeededAt ?? '');
    for (const [days, kept] of [
      [29, true],
      [31, false],
    ] as const) {
      const last = new Date(now - days * 86_400_000).toISOString();
      await snapshots.writeAttempts('one', { ...attempts, succeededAt: last, failedAt: null });
      expect((await bench.build()).status).toBe(0);
      expect((await snapshots.read('one')) !== undefined, `${days} days`).toBe(kept);
      expect(await snapshots.read('two')).toBeDefined();
    }
  });
});

it('P2: a catalog that is lost in a build that changes packages leaves a list of changes that leads from nowhere', async () => {
  bench.list([{ slug: 'one', uri: origin.uri('one') }]);
  await bench.build();
  origin.serve('one', await generateRepository({ packages: makePackages(61) }));
  rmSync(catalogPath(bench.state));
  expect((await bench.build()).text).toMatch(/Changes[\s\S]+packages: not known/);
  const { number, changes } = JSON.parse(readFileSync(path.join(bench.out, 'v2/generation.json'), 'utf8'));
  expect(JSON.parse(readFileSync(path.join(bench.out, changes), 'utf8'))).toMatchObject({ number, previous: null });
});
