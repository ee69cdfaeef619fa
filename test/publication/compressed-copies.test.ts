import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CopiesInput, removeCopies, writeCopies } from '../../src/publication/compressed-copies.ts';
import { listFiles } from '../../src/publication/folder-entries.ts';
import { findPassedLimits } from '../../src/publication/host-limits.ts';
import { copiesRecord, OutputFolder } from '../../src/publication/output-folder.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench } from '../support/building.ts';
import { temporaryFolder } from '../support/folder.ts';
import { OriginServer } from '../support/origin-server.ts';

const decompress = (file: string): Buffer =>
  (file.endsWith('.br') ? brotliDecompressSync : gunzipSync)(readFileSync(file));
const isCopy = (file: string) => /\.(?:br|gz)$/.test(file);
const told = 'Does one thing, and another. ';
const textOf = (length: number) => `{"text":"${told.repeat(Math.ceil(length / told.length)).slice(0, length)}"}`;

describe('compressed copies', () => {
  let folder: string;
  let output: OutputFolder;
  let files: string[];
  beforeEach(() => {
    folder = mkdtempSync(path.join(temporaryFolder(), 'copies-'));
    output = new OutputFolder(path.join(folder, 'out'));
    output.keepCopies();
    files = [];
  });

  const put = (file: string, content: string | Uint8Array) => {
    output.write(file, content);
    if (!files.includes(file)) files.push(file);
  };
  const compress = (options: Partial<CopiesInput> = {}) =>
    writeCopies({
      output,
      paths: files,
      isTouched: () => false,
      verify: false,
      ...options,
    });
  const copies = () => [...listFiles(output.root)].filter(isCopy).sort();
  const assertRight = () => {
    for (const copy of copies()) {
      const whole = readFileSync(output.resolve(copy.replace(/\.(?:br|gz)$/, '')));
      expect(decompress(output.resolve(copy)).equals(whole), copy).toBe(true);
    }
  };

  it('C12: stand beside every file that they make smaller, and are made once', async () => {
    put('v2/a.json', textOf(5000));
    put('v2/small.json', textOf(1000));
    put('icon.png', Buffer.alloc(5000));
    // Random digits: text by its name, and no shorter for being compressed.
    put('noise.txt', randomBytes(2000));
    // Past what is compressed in one go.
    put('v2/large.json', textOf(4 * 2 ** 20));
    const made = ['v2/a.json.br', 'v2/a.json.gz', 'v2/large.json.br', 'v2/large.json.gz'];
    expect(await compress()).toBe(4);
    expect(copies()).toEqual(made);
    assertRight();
    expect(await compress()).toBe(0);
    expect(await compress({ isTouched: () => true })).toBe(0);
    // Those of files that are not published this time, such as pages, are known to the next.
    expect(await compress({ paths: ['v2/large.json'] })).toBe(0);
    expect(await compress()).toBe(0);
    expect(copies()).toEqual(made);
  });

  it('have a window of 64 KB where all of the file fits into it, because larger ones take ten times the time to prepare', async () => {
    put('fits.json', textOf(2 ** 16 - 16 - '{"text":""}'.length));
    put('longer.json', textOf(2 ** 16 - 15 - '{"text":""}'.length));
    expect([statSync(output.resolve('fits.json')).size, await compress()]).toEqual([65_520, 4]);
    assertRight();
    // A window of 16 bits is written as a first bit of 0 (RFC 7932, section 9.1).
    const firstBits = ['fits.json.br', 'longer.json.br'].map(
      (copy) => (readFileSync(output.resolve(copy))[0] ?? 0) & 1,
    );
    expect(firstBits).toEqual([0, 1]);
  });

  it('P1: goes before its file is replaced, so that none ever stands beside another file than its own', async () => {
    put('v2/a.json', textOf(5000));
    await compress();
    // Another thread or a later build, which was not told to keep copies.
    new OutputFolder(output.root).write('v2/a.json', textOf(6000));
    expect(copies()).toEqual([]);
    expect(await compress()).toBe(2);
    assertRight();
  });

  it('C12: are made anew where they are missing or cut short, and with --verify where any byte is another', async () => {
    put('v2/a.json', textOf(5000));
    put('v2/b.json', textOf(7000));
    await compress();
    const [one, other] = [output.resolve('v2/a.json.br'), output.resolve('v2/b.json.gz')];
    rmSync(one);
    truncateSync(other, statSync(other).size - 1);
    expect(await compress()).toBe(2);
    assertRight();
    for (const file of copies().map((copy) => output.resolve(copy))) {
      const bytes = readFileSync(file);
      bytes[bytes.length - 2] = (bytes[bytes.length - 2] ?? 0) ^ 0xff;
      writeFileSync(file, bytes);
    }
    expect(await compress()).toBe(0);
    expect(await compress({ verify: true })).toBe(4);
    assertRight();
    rmSync(output.resolve(copiesRecord));
    output = new OutputFolder(output.root);
    output.keepCopies();
    expect(await compress()).toBe(4);
    assertRight();
  });

  it('C12: do not stand beside a file that they would not make smaller, whoever put one there', async () => {
    put('v2/small.json', textOf(1000));
    put('noise.txt', randomBytes(2000));
    for (const file of files) writeFileSync(output.resolve(`${file}.gz`), 'by hand, and of something else');
    expect(await compress()).toBe(0);
    expect(copies()).toEqual([]);
  });

  it('C12: are made of a file that has grown, though it was too small before', async () => {
    put('v2/a.json', textOf(100));
    expect(await compress()).toBe(0);
    put('v2/a.json', textOf(5000));
    expect(await compress({ isTouched: (file) => output.hasPlaced(file) })).toBe(2);
  });

  it('C12: are gone, and the record of them, where none are to be kept any more', async () => {
    put('v2/a.json', textOf(5000));
    await compress();
    removeCopies(output);
    expect([...listFiles(output.root)]).toEqual(files);
    expect([output, new OutputFolder(output.root)].map(({ keepsCopies }) => keepsCopies)).toEqual([false, false]);
  });

  it('P1: leaves none half-written where one cannot be made', async () => {
    put('v2/a.json', textOf(5000));
    files.push('v2/gone.json');
    await expect(compress()).rejects.toThrow('gone.json');
    files.pop();
    await compress();
    assertRight();
  });
});

describe('npm run build -- --precompress', () => {
  let origin: OriginServer;
  let bench: BuildBench;
  beforeEach(async () => {
    origin = await OriginServer.start();
  });
  afterEach(() => origin.stop());
  const open = (options?: { site: boolean }) => {
    bench = new BuildBench(options);
    bench.list([{ slug: 'one', uri: origin.uri('one') }]);
  };
  const serve = async (count: number, described = '') => {
    const packages = makePackages(count, 'one').map((fields) => ({
      ...fields,
      Description: `${fields.Description}${described}`,
    }));
    origin.serve('one', await generateRepository({ packages }));
  };
  const standing = () => [...listFiles(bench.out)].filter((file) => !file.startsWith('.'));
  const assertCopies = () => {
    const all = standing();
    const copied = all.filter(isCopy);
    expect(copied.length).toBeGreaterThan(5);
    for (const copy of copied) {
      const whole = readFileSync(path.join(bench.out, copy.replace(/\.(?:br|gz)$/, '')));
      expect(decompress(path.join(bench.out, copy)).equals(whole), copy).toBe(true);
    }
    for (const file of all.filter(
      (name) => /\.(?:json|txt|yaml|html|xml|atom)$/.test(name) && !/changes\/|generation/.test(name),
    )) {
      const isLarge = statSync(path.join(bench.out, file)).size >= 1400;
      expect(all.includes(`${file}.gz`), file).toBe(isLarge);
    }
  };

  it('C12: keeps the copies of what is published, pages among it, right through changes', async () => {
    open({ site: true });
    await serve(3);
    const first = await bench.build('DEBDEX_PRECOMPRESS=1 ');
    expect(first).toMatchObject({
      status: 0,
      text: expect.stringMatching(/^Size +\d+ files, [\d,]+ [kM]B; the largest is /m),
    });
    assertCopies();
    // Copies are files of hosts too.
    const noted = JSON.parse(readFileSync(path.join(bench.state, 'publication', 'size.json'), 'utf8'));
    const bytes = standing().reduce((sum, file) => sum + statSync(path.join(bench.out, file)).size, 0);
    expect(noted.size).toMatchObject({ files: standing().length, bytes });
    expect(bench.findUntold().filter((file) => !isCopy(file))).toEqual([]);
    // Share pictures stay as they are: to draw one takes longer than all else here.
    await serve(3, ', described otherwise');
    expect((await bench.build('DEBDEX_PRECOMPRESS=1 ')).status).toBe(0);
    assertCopies();
    expect(standing().filter((file) => file.endsWith('.html.br')).length).toBeGreaterThan(5);
  });

  it('C12: keeps copies until it is told not to, and makes those of what did not change when it is told to again', async () => {
    open();
    await serve(12);
    expect((await bench.build('DEBDEX_PRECOMPRESS=1 ')).status).toBe(0);
    assertCopies();
    writeFileSync(path.join(bench.out, 'left-by-a-kill.txt.gz'), '');
    expect((await bench.build()).status).toBe(0);
    expect(standing().filter(isCopy)).toEqual([]);
    expect(bench.findUntold()).toEqual([]);
    expect((await bench.build('DEBDEX_PRECOMPRESS=1 ')).status).toBe(0);
    assertCopies();
    // With a file its copies go.
    await serve(7);
    expect((await bench.build('DEBDEX_PRECOMPRESS=1 ')).status).toBe(0);
    assertCopies();
    expect(existsSync(path.join(bench.out, '.staging'))).toBe(false);
  });
});

describe('the size of what is published', () => {
  it('says which known hosts it is too much for', () => {
    const size = (files: number, bytes: number, largest: number) => ({
      files,
      bytes,
      largest: { path: 'a', bytes: largest },
    });
    expect(findPassedLimits(size(20_000, 1e9, 25 * 2 ** 20))).toEqual([]);
    expect(findPassedLimits(size(20_001, 1e9, 25 * 2 ** 20))).toEqual([
      { host: 'Cloudflare, free', limits: ['20,000 files'] },
    ]);
    expect(findPassedLimits(size(100_001, 1e9 + 1, 25 * 2 ** 20 + 1))).toEqual([
      { host: 'Cloudflare, free', limits: ['20,000 files', '25 MiB a file'] },
      { host: 'Cloudflare, paid', limits: ['100,000 files', '25 MiB a file'] },
      { host: 'GitHub Pages', limits: ['1 GB in all'] },
    ]);
  });
});
