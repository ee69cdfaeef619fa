import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import {
  packageListSchema,
  repositoryFindingsSchema,
  repositoryListSchema,
  repositorySchema,
} from '../../src/contract/envelope.ts';
import { listPageMaximum } from '../../src/contract/parameters.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { textDocument } from '../../src/documents/document.ts';
import { DocumentPublisher } from '../../src/publication/document-publisher.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { openBuild, packages, type SourceRepository } from '../support/catalog.ts';
import { emissionOf } from '../support/emission.ts';
import { temporaryFolder } from '../support/folder.ts';

const emit = async (folder: string, repositories: readonly SourceRepository[], now: string) => {
  const { catalog, update } = await openBuild(path.join(folder, 'state'), repositories, new Date(now));
  const emission = emissionOf({ catalog, update }, path.join(folder, 'dist'), {
    now: new Date(now),
    failures: new Map([['never', { code: 'dns', count: 1, example: 'no such host' }]]),
    descriptions: async () => [textDocument('v2/openapi.json', '{}')],
  });
  try {
    await emission.write();
  } catch (error) {
    catalog.discard();
    throw error;
  }
  emission.forgetVanished();
  await catalog.publish();
  emission.removeVanished();
  return emission.count;
};

/** Every file below the output folder: path → content. */
const filesOf = (folder: string): Map<string, string> => {
  const root = path.join(folder, 'dist');
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => path.relative(root, path.join(entry.parentPath, entry.name))).sort();
  return new Map(paths.map((file) => [file, readFileSync(path.join(root, file), 'utf8')]));
};

const one: SourceRepository = { slug: 'one', ranking: 1, packages: packages({ Package: 'a' }, { Package: 'B' }) };
const two: SourceRepository = {
  slug: 'two',
  ranking: 2,
  packages: packages({ Package: 'a', Version: '2' }, { Package: 'c' }),
};
const first = '2026-05-02T00:00:00.000Z';
const second = '2026-05-03T00:00:00.000Z';

describe('emission', () => {
  it('writes every document of the contract', async () => {
    const folder = temporaryFolder();
    expect(await emit(folder, [one, two], first)).toEqual({ written: 20, unchanged: 0, removed: 0 });
    const files = filesOf(folder);
    expect([...files.keys()]).toEqual([
      'v2/divergences.json',
      'v2/downloads.json',
      'v2/index.json',
      'v2/jailbreak/package/_b.json',
      'v2/jailbreak/package/a.json',
      'v2/jailbreak/package/c.json',
      'v2/jailbreak/repository/never/findings.json',
      'v2/jailbreak/repository/one.json',
      'v2/jailbreak/repository/one/findings.json',
      'v2/jailbreak/repository/one/packages.json',
      'v2/jailbreak/repository/ranking/1.json',
      'v2/jailbreak/repository/ranking/2.json',
      'v2/jailbreak/repository/ranking/3.json',
      'v2/jailbreak/repository/ranking/4.json',
      'v2/jailbreak/repository/ranking/5.json',
      'v2/jailbreak/repository/ranking/all.json',
      'v2/jailbreak/repository/two.json',
      'v2/jailbreak/repository/two/findings.json',
      'v2/jailbreak/repository/two/packages.json',
      'v2/openapi.json',
    ]);
    const read = (file: string) => JSON.parse(files.get(`v2/jailbreak/${file}`) ?? '');
    expect(packageListSchema.parse(read('package/a.json')).data.map(({ repository_id }) => repository_id)).toEqual([
      'one',
      'two',
    ]);
    expect(
      packageListSchema.parse(read('repository/one/packages.json')).data.map(({ package_id }) => package_id),
    ).toEqual(['B', 'a']);
    expect(repositorySchema.parse(read('repository/one.json')).data.package_count).toBe(2);
    expect(repositoryListSchema.parse(read('repository/ranking/all.json')).count).toBe(2);
    expect(repositoryListSchema.parse(read('repository/ranking/5.json')).data).toEqual([]);
    expect(repositoryFindingsSchema.parse(read('repository/one/findings.json')).data).toMatchObject({
      failure: null,
      signature: { state: 'unsigned' },
      findings: [],
    });
    expect(repositoryFindingsSchema.parse(read('repository/never/findings.json')).data).toMatchObject({
      failure: { code: 'dns', weight: 'broken', for_operator: expect.stringContaining('no such host') },
      signature: null,
    });
    expect(Object.keys(read('package/a.json'))).toEqual(['message', 'date', 'count', 'data']);
  });

  it('answers a repository under its former slugs too, unless another one has them', async () => {
    const folder = temporaryFolder();
    await emit(folder, [{ ...one, aliases: ['uno', 'two'] }, two], first);
    const files = filesOf(folder);
    expect(files.get('v2/jailbreak/repository/uno.json')).toBe(files.get('v2/jailbreak/repository/one.json'));
    expect(files.get('v2/jailbreak/repository/uno/findings.json')).toBe(
      files.get('v2/jailbreak/repository/one/findings.json'),
    );
    expect(JSON.parse(files.get('v2/jailbreak/repository/two.json') ?? '').data.id).toBe('two');
    expect(JSON.parse(files.get('v2/jailbreak/repository/two/findings.json') ?? '').data.repository_id).toBe('two');
    await emit(folder, [one, two], second);
    expect(filesOf(folder).has('v2/jailbreak/repository/uno.json')).toBe(false);
    expect(filesOf(folder).has('v2/jailbreak/repository/uno/findings.json')).toBe(false);
  });

  it('C13: gives the same bytes for the same input', async () => {
    const [a, b] = [temporaryFolder(), temporaryFolder()];
    await emit(a, [one, two], first);
    await emit(b, [one, two], first);
    expect(filesOf(a)).toEqual(filesOf(b));
  });

  it('leaves unchanged documents as they are, bytes, date and file', async () => {
    const folder = temporaryFolder();
    await emit(folder, [one, two], first);
    const before = filesOf(folder);
    const file = path.join(folder, 'dist/v2/jailbreak/package/_b.json');
    const { ino } = statSync(file);
    expect(await emit(folder, [one, two], second)).toEqual({ written: 0, unchanged: 20, removed: 0 });
    expect(filesOf(folder)).toEqual(before);

    await emit(folder, [one, { ...two, packages: packages({ Package: 'a', Version: '3' }) }], second);
    expect(statSync(file).ino).toBe(ino);
    const after = filesOf(folder);
    expect(after.has('v2/jailbreak/package/c.json')).toBe(false);
    expect(JSON.parse(after.get('v2/jailbreak/package/a.json') ?? '').date).toBe(second);
    expect(JSON.parse(after.get('v2/jailbreak/package/_b.json') ?? '').date).toBe(first);
  });

  it('C12: puts back a missing document with the bytes it had, and removes what belongs to none', async () => {
    const folder = temporaryFolder();
    await emit(folder, [one, two], first);
    const before = filesOf(folder);
    for (const file of ['package/a.json', 'repository/one.json', 'repository/two/packages.json']) {
      rmSync(path.join(folder, 'dist/v2/jailbreak', file));
    }
    writeFileSync(path.join(folder, 'dist/v2/jailbreak/package/stranger.json'), '{}');
    expect(await emit(folder, [one, two], second)).toEqual({ written: 3, unchanged: 17, removed: 1 });
    expect(filesOf(folder)).toEqual(before);
  });

  it('C12: puts back what compares repositories, and keeps it where nothing changed', async () => {
    const folder = temporaryFolder();
    await emit(folder, [one, two], first);
    const file = path.join(folder, 'dist', documentPath.divergences);
    const before = readFileSync(file, 'utf8');
    rmSync(file);
    expect((await emit(folder, [one, two], second)).written).toBe(1);
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect((await emit(folder, [one, two], second)).written).toBe(0);
  });

  it('removes what vanished where the documents of two packages with long names stand in one folder', async () => {
    const folder = temporaryFolder();
    const long = ['1', '2'].map((end) => ({ Package: `com.example.${'Z'.repeat(130)}${end}` }));
    const index = (...others: string[]) => ({
      slug: 'one',
      packages: packages(...long, ...others.map((name) => ({ Package: name }))),
    });
    await emit(folder, [index('gone', 'kept')], first);
    expect((await emit(folder, [index('kept')], second)).removed).toBe(1);
    expect(filesOf(folder).has(documentPath.package('gone'))).toBe(false);
  });

  it('forgets what vanished, and nothing else', async () => {
    const folder = temporaryFolder();
    const noted = () => {
      const database = CatalogFile.openReadOnly(catalogPath(path.join(folder, 'state')));
      const paths = database.prepare<[string]>('SELECT path FROM document ORDER BY path').all().flat();
      database.close();
      return paths;
    };
    const published = () => [...filesOf(folder).keys()].filter((file) => file.startsWith('v2/'));
    await emit(folder, [one, two], first);
    expect(noted()).toEqual(published());
    await emit(folder, [two], second);
    expect(noted()).toEqual(published());
    expect(noted()).not.toContain(documentPath.package('B'));
  });

  it('keeps bytes and dates where the state is lost and the output is not', async () => {
    const folder = temporaryFolder();
    await emit(folder, [one, two], first);
    const before = filesOf(folder);
    rmSync(path.join(folder, 'state'), { recursive: true });
    await emit(folder, [one, two], second);
    expect(filesOf(folder)).toEqual(before);
    // The new state knows since when each has been like that, for when a file is lost.
    for (const file of ['package/a.json', 'repository/two/packages.json'])
      rmSync(path.join(folder, 'dist/v2/jailbreak', file));
    await emit(folder, [one, two], second);
    expect(filesOf(folder)).toEqual(before);
  });

  it('writes large repositories and many packages side by side, each file whole', async () => {
    const folder = temporaryFolder();
    // Several times what is handed over to be written at once.
    const description = 'x'.repeat(30_000);
    const many = (slug: string): SourceRepository => {
      const stanzas = Array.from({ length: 100 }, (_, index) => ({
        Package: `${slug}.${index}`,
        Description: description,
      }));
      return { slug, packages: packages(...stanzas) };
    };
    const slugs = ['r1', 'r2', 'r3', 'r4'];
    await emit(folder, slugs.map(many), first);
    for (const [file, text] of filesOf(folder)) {
      const { data, count } = JSON.parse(text);
      const [, slug, index] = /package\/(r\d)\.(\d+)\.json$/.exec(file) ?? [];
      if (slug !== undefined) expect(data[0].package_id, file).toBe(`${slug}.${index}`);
      if (file.endsWith('packages.json')) expect(count).toBe(100);
    }
  });

  it('lets other work go on while it writes a large list', async () => {
    const folder = temporaryFolder();
    const stanzas = Array.from({ length: 2 * listPageMaximum + 100 }, (_, index) => ({ Package: `p${index}` }));
    const sources = [{ slug: 'large', packages: packages(...stanzas) }];
    const { catalog, update } = await openBuild(path.join(folder, 'state'), sources, new Date(first));
    const emission = emissionOf({ catalog, update }, path.join(folder, 'dist'), { now: new Date(first) });
    const seen = new Set<number>();
    const looking = { goesOn: true };
    const lookOn = () => {
      seen.add(emission.count.written);
      if (looking.goesOn) setImmediate(lookOn);
    };
    lookOn();
    await emission.write();
    looking.goesOn = false;
    catalog.discard();
    // One document of each package, and one of the repository itself with that of its findings, before the pages.
    const before = stanzas.length + 2;
    expect(seen).toContain(before + 1);
    expect(seen).toContain(before + 2);
  });

  it('ends soon where nobody waits for it any more', async () => {
    const folder = temporaryFolder();
    const stanzas = Array.from({ length: 400 }, (_, index) => ({
      Package: `p${index}`,
      Description: 'x'.repeat(30_000),
    }));
    const sources = [{ slug: 'large', packages: packages(...stanzas) }];
    const opened = await openBuild(path.join(folder, 'state'), sources, new Date(first));
    const stopping = new AbortController();
    const { signal } = stopping;
    const emission = emissionOf(opened, path.join(folder, 'dist'), { now: new Date(first), signal });
    const writing = emission.write();
    setImmediate(() => stopping.abort(new Error('it failed elsewhere')));
    await expect(writing).rejects.toThrow('failed elsewhere');
    expect(emission.count.written).toBeLessThan(200);
    opened.catalog.discard();
  });

  it('C12: a package with many records, which is written at once, has its name after the repository that it names', async () => {
    const placed: string[] = [];
    const { place } = OutputFolder.prototype;
    const placing = vi.spyOn(OutputFolder.prototype, 'place').mockImplementation(function (
      this: OutputFolder,
      from,
      to,
    ) {
      placed.push(to);
      place.call(this, from, to);
    });
    onTestFinished(() => placing.mockRestore());
    const versions = Array.from({ length: 201 }, (_, index) => ({ Package: 'long', Version: `1.${index}` }));
    await emit(temporaryFolder(), [{ slug: 'one', packages: packages(...versions) }], first);
    const [repository, long] = [documentPath.repository('one'), documentPath.package('long')].map((file) =>
      placed.indexOf(file),
    );
    expect(repository).toBeGreaterThanOrEqual(0);
    expect(long).toBeGreaterThan(repository ?? 0);
  });

  it('C12: ends the thread that writes, also where it fails', async () => {
    const close = vi.spyOn(DocumentPublisher.prototype, 'close');
    onTestFinished(() => close.mockRestore());
    const folder = temporaryFolder();
    await emit(folder, [one], first);
    expect(close).toHaveBeenCalledTimes(1);
    const opened = await openBuild(path.join(folder, 'state'), [one], new Date(second));
    const descriptions = () => Promise.reject(new Error('of the test'));
    const emission = emissionOf(opened, path.join(folder, 'dist'), { now: new Date(second), descriptions });
    await expect(emission.write()).rejects.toThrow('of the test');
    expect(close).toHaveBeenCalledTimes(2);
    opened.catalog.discard();
  });

  it('C9: writes nothing through a symbolic link, and takes nothing behind it for published', async () => {
    const folder = temporaryFolder();
    await emit(folder, [one, two], first);
    const before = filesOf(folder);
    const [here, elsewhere] = [path.join(folder, 'dist/v2/jailbreak'), path.join(temporaryFolder(), 'moved')];
    renameSync(here, elsewhere);
    symlinkSync(elsewhere, here);
    const behind = readdirSync(elsewhere, { recursive: true });
    await emit(folder, [one, { ...two, packages: packages({ Package: 'a', Version: '3' }) }], second);
    expect(lstatSync(here).isDirectory()).toBe(true);
    expect(readdirSync(elsewhere, { recursive: true })).toEqual(behind);
    expect(readFileSync(path.join(elsewhere, 'package/a.json'), 'utf8')).toBe(
      before.get('v2/jailbreak/package/a.json'),
    );
    await emit(folder, [one, two], first);
    expect([...filesOf(folder).keys()]).toEqual([...before.keys()]);
  });

  it('C12: puts a document where a folder was, and a folder where a file was', async () => {
    const folder = temporaryFolder();
    await emit(folder, [one, two], first);
    const before = filesOf(folder);
    const at = (file: string) => path.join(folder, 'dist/v2/jailbreak', file);
    rmSync(at('package/a.json'));
    mkdirSync(at('package/a.json/b'), { recursive: true });
    rmSync(at('repository/one'), { recursive: true });
    writeFileSync(at('repository/one'), '');
    await emit(folder, [one, two], second);
    expect(filesOf(folder)).toEqual(before);
  });
});
