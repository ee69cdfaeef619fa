import { renameSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { AnswerTooLarge } from '../../src/contract/errors.ts';
import { buildCatalog, packages, parseRecords, type SourceRepository } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';
import { openSearch } from './open-search.ts';

describe('multi lookup', () => {
  it('answers one latest record for each known identifier in the order asked', async () => {
    const { search } = await openSearch(
      { slug: 'poor', ranking: 4, packages: packages({ Package: 'a', Version: '9' }, { Package: 'b' }) },
      { slug: 'good', ranking: 1, packages: packages({ Package: 'a', Version: '1' }, { Package: 'a', Version: '2' }) },
      { slug: 'boot', ranking: 5, bootstrap: true, packages: packages({ Package: 'a', Version: '0' }) },
    );
    const ask = async (ids: string[], priority: 'default' | 'bootstrap') =>
      parseRecords(await search.latest(ids, priority)).map(
        (record) => `${record.package} ${record.version} ${record.repository.slug}`,
      );
    expect(await ask(['b', 'unknown', 'a'], 'default')).toEqual(['b 1.0 poor', 'a 2 good']);
    expect(await ask(['a'], 'bootstrap')).toEqual(['a 0 boot']);
    expect(await ask(['unknown'], 'default')).toEqual([]);
  });

  it('chooses of equals by version, then slug, then architecture, in whatever order they came', async () => {
    const versions = (...ofA: Record<string, string>[]) =>
      packages(...ofA.map((fields) => ({ Package: 'a', ...fields })));
    const [arm, arm64] = ['iphoneos-arm', 'iphoneos-arm64'].map((Architecture) => ({ Architecture }));
    const repositories = [
      { slug: 'z', packages: versions({ Version: '9.5' }) },
      { slug: 'y', packages: versions({ Version: '0:10.0' }) },
      { slug: 'x', packages: versions({ Version: '10.0', ...arm64 }, { Version: '10.0', ...arm }) },
      { slug: 'w', packages: versions({ Version: '1.0' }) },
    ];
    for (const order of [repositories, repositories.toReversed()]) {
      const { search } = await openSearch(...order);
      for (const priority of ['default', 'bootstrap'] as const) {
        const records = parseRecords(await search.latest(['a'], priority));
        expect(records.map((record) => `${record.repository.slug} ${record.version} ${record.architecture}`)).toEqual([
          'x 10.0 iphoneos-arm',
        ]);
      }
    }
  });
});

describe('H7 what is read in parts', () => {
  afterEach(() => void vi.restoreAllMocks());

  /** A clock by which everything takes long, so that each part is read in a turn of its own. */
  const slowClock = () => {
    let time = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (time += 100));
  };
  const names = Array.from({ length: 100 }, (_, index) => `com.example.p${index}`);
  const versioned = (version: string) => ({
    slug: 'one',
    packages: packages(...names.map((name) => ({ Package: name, Name: `Snow ${name}`, Version: version }))),
  });
  const takeUp = async (search: CatalogFiles, state: string, version: string) => {
    const other = temporaryFolder();
    await buildCatalog(other, [versioned(version)]);
    return () => {
      renameSync(catalogPath(other), catalogPath(state));
      search.refresh();
    };
  };

  it.each(['latest', 'search'] as const)(
    'is of one generation, whatever comes in force meanwhile (%s)',
    async (way) => {
      const { search, state } = await openSearch(versioned('1'));
      const read = async () => {
        const { pieces, count } =
          way === 'latest'
            ? await search.latest(names, 'default')
            : (await search.searchPackages('snow', 100, 1)).records;
        return [new Set(parseRecords({ pieces, count }).map(({ version }) => version)), count];
      };
      expect(await read()).toEqual([new Set(['1']), 100]);
      const takeUpSecond = await takeUp(search, state, '2');
      const takeUpThird = await takeUp(search, state, '3');
      const close = vi.spyOn(CatalogFile.prototype, 'close');
      slowClock();
      const first = read();
      takeUpSecond();
      const second = read();
      takeUpThird();
      expect(close, 'both are still read').not.toHaveBeenCalled();
      expect(await first).toEqual([new Set(['1']), 100]);
      expect(await second).toEqual([new Set(['2']), 100]);
      expect(close, 'nobody reads them any more').toHaveBeenCalledTimes(2);
      expect(await read()).toEqual([new Set(['3']), 100]);
    },
  );

  it('stays readable to its end when the index is closed', async () => {
    const { search } = await openSearch(versioned('1'));
    const close = vi.spyOn(CatalogFile.prototype, 'close');
    slowClock();
    const reading = search.latest(names, 'default');
    search.close();
    expect((await reading).count).toBe(100);
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('lets everything else go on in between', async () => {
    const { search } = await openSearch(versioned('1'));
    slowClock();
    let turns = 0;
    let isReading = true;
    const reading = search.latest(names, 'default').finally(() => (isReading = false));
    while (isReading) {
      await nextTurn();
      turns++;
    }
    expect((await reading).count).toBe(100);
    expect(turns).toBeGreaterThanOrEqual(3);
  });

  it('is refused where it is more than an answer holds, and a record of any length is read whole', async () => {
    const long = ['a', 'b'].map((name) => ({ Package: name, Description: 'ü-'.repeat(16_000) }));
    const { search } = await openSearch({ slug: 'one', packages: packages(...long) });
    // Each again and again, as often as it is asked for: indexing as many of such length takes seconds.
    const ids = Array.from({ length: 460 }, (_, index) => (index % 2 === 0 ? 'a' : 'b'));
    const [record] = parseRecords(await search.latest(ids.slice(0, 1), 'default'));
    expect(record?.description).toBe('ü-'.repeat(16_000));
    expect((await search.latest(ids.slice(0, 250), 'default')).count).toBe(250);
    await expect(search.latest(ids, 'default')).rejects.toThrow(AnswerTooLarge);
    // They have fewer characters than an answer may have bytes.
    expect(await search.older.latest(ids.slice(0, 250))).toHaveLength(250);
    await expect(search.older.latest(ids)).rejects.toThrow(AnswerTooLarge);
  });
});

describe('repository search', () => {
  it('finds a repository by its address, before others on its host', async () => {
    const at = (slug: string, uri: string): SourceRepository => {
      const origin = { uri, suite: './', component: null, binary: null };
      return { slug, uri, packages: packages({}), crawled: { origin } };
    };
    const { search } = await openSearch(
      at('alpha', 'https://repo.shared.example/alpha/'),
      at('beta', 'https://repo.shared.example/beta'),
      at('gamma', 'https://gamma.example/'),
    );
    const found = async (text: string) =>
      parseRecords((await search.searchRepositories(text, 9, 1)).records).map(({ id }) => id);
    for (const text of [
      'https://gamma.example/',
      'http://gamma.example',
      ' HTTPS://Gamma.Example/Packages.gz ',
      'gamma.example/',
    ])
      expect(await found(text.trim()), text).toEqual(['gamma']);
    for (const link of [
      'sileo://source/https://gamma.example/',
      'zbra://packages/com.example.app?source=https://gamma.example/',
      'cydia://url/https://cydia.saurik.com/api/share#?source=https://gamma.example/',
      'cydia://url/https://cydia.saurik.com/api/share#?source=https://gamma.example/&package=com.example.app',
    ])
      expect(await found(link), link).toEqual(['gamma']);
    const beta = 'cydia://url/https://cydia.saurik.com/api/share#?source=https://repo.shared.example/beta/&package=p';
    expect(await found(beta)).toEqual(['beta', 'alpha']);
    expect(await found('https://repo.shared.example/beta/')).toEqual(['beta', 'alpha']);
    expect(await found('https://repo.shared.example/')).toEqual(['alpha', 'beta']);
    expect(await found('https://other.example/')).toEqual([]);
    expect(await found('repo: shared')).toEqual(['alpha', 'beta']);
  });

  it('matches slug, name, host name and description, the closest first', async () => {
    const { search } = await openSearch(
      { slug: 'alpha', release: 'Origin: First\nDescription: all about beta\n', packages: packages({}) },
      { slug: 'beta', release: 'Origin: Second\n', packages: packages({}) },
      { slug: 'gamma', uri: 'https://apt.beta-test.example/', release: 'Origin: Third Béta\n', packages: packages({}) },
    );
    const { records, more } = await search.searchRepositories('beta', 2, 1);
    expect(parseRecords(records).map(({ id }) => id)).toEqual(['beta', 'gamma']);
    expect(more).toBe(true);
    expect((await search.searchRepositories('beta', 2, 2)).records.count).toBe(1);
    // As many as a page has are no reason for another.
    expect((await search.searchRepositories('beta', 3, 1)).more).toBe(false);
    expect((await search.searchRepositories('nothing', 2, 1)).records.count).toBe(0);
  });

  it('finds a repository by a former slug that still leads to it', async () => {
    const { search } = await openSearch(
      { slug: 'alpha', aliases: ['former', 'beta'], packages: packages({}) },
      { slug: 'beta', packages: packages({}) },
    );
    const found = async (text: string) =>
      parseRecords((await search.searchRepositories(text, 9, 1)).records).map(({ id }) => id);
    expect(await found('former')).toEqual(['alpha']);
    expect(await found('beta')).toEqual(['beta']);
  });
});
