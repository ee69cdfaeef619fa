import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PackageRecord, RepositoryRecord } from '../../src/contract/records.ts';
import { type BuiltServer, publishBuild, serveBuild } from '../support/built.ts';
import { base } from '../support/catalog.ts';
import { generatedRepositories } from '../support/generated.ts';
import { openWire } from '../support/wire.ts';

interface Page<T> {
  message: string;
  date: string;
  refs: { nextPage?: string; previousPage?: string };
  count: number;
  data: T[];
}

let server: BuiltServer;
let wire: ReturnType<typeof openWire>;
beforeAll(async () => {
  server = await serveBuild(generatedRepositories());
  wire = openWire(server.port);
});
afterAll(async () => {
  wire.close();
  await server.close();
});

const ask = async <T = PackageRecord>(target: string): Promise<Page<T>> => {
  const { status, body } = await wire.get(target);
  expect(status, target).toBe(200);
  const page = body as Page<T>;
  expect(Object.keys(page)).toEqual(['message', 'date', 'refs', 'count', 'data']);
  expect(page.count, 'count is that of data').toBe(page.data.length);
  return page;
};
const search = (q: string, more = '') => ask(`/v2/jailbreak/package/search?q=${encodeURIComponent(q)}${more}`);
const idsOf = ({ data }: Page<{ id: string }>) => data.map(({ id }) => id);

/** The pages that `nextPage` leads to, the first among them. */
const follow = async <T>(target: string): Promise<Page<T>[]> => {
  const pages: Page<T>[] = [];
  let next: string | undefined = target;
  while (next !== undefined) {
    const page: Page<T> = await ask<T>(next);
    pages.push(page);
    next = page.refs.nextPage?.slice(base.length);
    if (page.refs.nextPage !== undefined) expect(page.refs.nextPage.startsWith(`${base}/v2/`)).toBe(true);
  }
  return pages;
};

describe('paging', () => {
  it('leads through all results by nextPage, once each, and back by previousPage', async () => {
    for (const kind of ['package', 'repository']) {
      const whole = await ask<{ id: string }>(`/v2/jailbreak/${kind}/search?q=example&limit=250`);
      expect(whole.refs).toEqual({});
      for (const limit of [1, 3, 7].filter((each) => whole.count / each < 60)) {
        const pages = await follow<{ id: string }>(`/v2/jailbreak/${kind}/search?q=example&limit=${limit}`);
        expect(pages.flatMap(idsOf)).toEqual(idsOf(whole));
        for (const [index, { refs, count }] of pages.entries()) {
          const link = (page: number) => `${base}/v2/jailbreak/${kind}/search?q=example&limit=${limit}&page=${page}`;
          expect(refs.previousPage).toBe(index === 0 ? undefined : link(index));
          expect(refs.nextPage).toBe(index === pages.length - 1 ? undefined : link(index + 2));
          expect(count).toBe(index === pages.length - 1 ? whole.count - index * limit : limit);
        }
      }
    }
  });

  it('H5 has no page too far behind to be asked for, and refuses in true words what is no page', async () => {
    for (const kind of ['package', 'repository']) {
      const target = `/v2/jailbreak/${kind}/search?q=example&page=`;
      for (const page of ['9007199254740991', '9'.repeat(400), '1000000000000000']) {
        expect((await ask(target + page)).count, page).toBe(0);
      }
      expect((await ask(`${target}00000000000000000001`)).count).toBeGreaterThan(0);
      for (const page of ['0', '-1', '1.5', '1e3', '', '0'.repeat(400)]) {
        const { status, body } = await wire.get(target + page);
        expect([status, (body as { error: string }).error], page).toEqual([
          400,
          "Query parameter 'page' must be an integer of at least 1",
        ]);
      }
    }
  });

  it('has pages of 100 where no limit is given, and goes on past page 4', async () => {
    const first = await search('com');
    expect(first.count).toBe(100);
    expect(first.refs.nextPage).toContain('&limit=100&page=2');
    const pages = await follow<PackageRecord>('/v2/jailbreak/package/search?q=com&limit=20');
    expect(pages.length).toBeGreaterThan(5);
    const ids = pages.flatMap(idsOf);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.slice(0, 100)).toEqual(idsOf(first));
  });

  it('H5: past the end is empty, however far, and leads back to the last page that is not', async () => {
    const questions = ['package/search?q=com', 'package/search?q=com&sort=name', 'repository/search?q=example'];
    for (const asked of questions) {
      const target = `/v2/jailbreak/${asked}&limit=2`;
      const last = (await follow(target)).length;
      expect(last, asked).toBeGreaterThan(1);
      for (const page of [last + 1, last + 2, 1001, 4_294_967_296, 999_999_999_999_999]) {
        const { count, refs } = await ask(`${target}&page=${page}`);
        expect(count, `${asked} ${page}`).toBe(0);
        expect(refs, `${asked} ${page}`).toEqual({ previousPage: expect.stringMatching(`&page=${last}$`) });
      }
    }
    for (const page of [2, 50, 1001]) {
      const { refs } = await ask(`/v2/jailbreak/package/search?q=%26%20%3D&page=${page}`);
      expect(refs, `${page} of nothing`).toEqual({ previousPage: expect.stringMatching('&page=1$') });
    }
  });

  it('keeps a question with every character that means something in an address', async () => {
    const q = 'a&b=c?d#e%f+g h/i\\j"k<l>{m}|n^o`p[q]é🎉';
    for (const page of [2, 3]) {
      const { refs } = await search(q, `&limit=9&page=${page}`);
      // Nothing is found, so the first page is the last one.
      const link = new URL(refs.previousPage ?? '');
      expect(link.searchParams.get('q')).toBe(q);
      expect([link.searchParams.get('limit'), link.searchParams.get('page')]).toEqual(['9', '1']);
      expect(refs.previousPage).toMatch(/^[\x21-\x7e]+$/);
    }
  });
});

describe('questions', () => {
  it('are answered for every character there is, alone and in a word', async () => {
    const characters = [
      ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
      '\u0085',
      '\u00a0',
      '\u00ad',
      '\u0301',
      '\u200b',
      '\u200f',
      '\u2028',
      '\u202e',
      '\u3000',
      '\ufeff',
      '\ufffd',
      '\uffff',
      '\u{e000}',
      '\u{10ffff}',
      'ß',
      'İ',
      'ı',
      'ﬁ',
      'ℵ',
      '²',
      '٣',
      'ｓ',
      'ა',
      '汉',
      '🎉',
      '👨‍👩‍👧',
      '🇩🇪',
    ];
    for (const character of characters) {
      for (const q of [character.repeat(2), `sn${character}ow`, `${character}snow${character}`, `"${character}`]) {
        const { status, body } = await wire.get(`/v2/jailbreak/package/search?limit=1&q=${encodeURIComponent(q)}`);
        const isShort = [...q.trim()].length < 2;
        expect(status, JSON.stringify(q)).toBe(isShort ? 400 : 200);
        if (!isShort) expect((body as Page<PackageRecord>).count).toBeLessThanOrEqual(1);
      }
    }
    expect(server.faults).toEqual([]);
  });

  it('are never syntax', async () => {
    const plain = idsOf(await search('snowboard'));
    expect(plain).not.toEqual([]);
    for (const q of [
      '"snowboard"',
      'snowboard*',
      '(snowboard)',
      '-snowboard',
      '^snowboard',
      '%snowboard%',
      "snowboard'--",
      '{snowboard}:',
    ]) {
      expect(idsOf(await search(q)), q).toEqual(plain);
    }
    for (const q of ['snowboard OR azure', 'snowboard NOT azure', 'NEAR(snowboard azure)', 'name:snowboard azure']) {
      expect(idsOf(await search(q)), q).toEqual([]);
    }
  });

  it('have 2 to 256 characters as people count them, trimmed', async () => {
    const statusOf = async (q: string) =>
      (await wire.get(`/v2/jailbreak/package/search?q=${encodeURIComponent(q)}`)).status;
    for (const [q, status] of [
      ['s', 400],
      ['  s  ', 400],
      ['🎉', 400],
      ['汉', 400],
      ['sn', 200],
      ['🎉🎉', 200],
      [`${' '.repeat(500)}sn`, 200],
      ['🎉'.repeat(256), 200],
      ['🎉'.repeat(257), 400],
      ['x'.repeat(257), 400],
    ] as const) {
      expect(await statusOf(q), q.slice(0, 20)).toBe(status);
    }
  });

  it('find more with no letter less: every beginning of a name finds it', async () => {
    for (const name of ['SnowBoard', 'Popcorn Time', 'Filza File Manager', '汉化补丁', 'Éclair']) {
      for (let length = 2; length <= [...name].length; length++) {
        const typed = [...name].slice(0, length).join('');
        const { data } = await search(typed, '&limit=50');
        expect(
          data.map((record) => record.name),
          typed,
        ).toContain(name);
      }
    }
  });

  it('answer latest records alone, and each once', async () => {
    const { data } = await search('example', '&limit=250');
    expect(data.every((record) => record.latest_version)).toBe(true);
    expect(new Set(data.map(({ id }) => id)).size).toBe(data.length);
  });

  it('about repositories match slug, name, description and host name', async () => {
    const find = async (q: string) =>
      (await ask<RepositoryRecord>(`/jailbreak/repository/search?q=${encodeURIComponent(q)}`)).data.map(
        ({ slug }) => slug,
      );
    expect(await find('alp')).toEqual(['alpha']);
    expect(await find('beta.example')).toEqual(['beta']);
    expect(await find('BÉTA')).toEqual(['beta']);
    expect(await find('first of all')).toEqual(['alpha']);
    expect(await find('nothing of the kind')).toEqual([]);
  });
});

describe('multi lookup', () => {
  it('prefers bootstrap repositories where asked', async () => {
    const { data } = (await wire.get('/v2/jailbreak/package/search?q=snowboard')).body as Page<PackageRecord>;
    const id = data[0]?.package_id ?? '';
    const ask = async (priority: string) =>
      ((await wire.get(`/v2/jailbreak/package/multi?ids=${id}${priority}`)).body as Page<PackageRecord>).data[0]
        ?.repository;
    expect(await ask('')).toMatchObject({ slug: 'alpha', isBootstrap: false });
    expect(await ask('&priority=default')).toMatchObject({ slug: 'alpha' });
    expect(await ask('&priority=bootstrap')).toMatchObject({ slug: 'boot', isBootstrap: true });
  });

  it('finds the odd identifiers too, each under its own name', async () => {
    const odd = [
      'Upper.Case',
      'upper.case',
      'a/b',
      '..',
      '__proto__',
      'constructor',
      '100%',
      'a?b#c',
      'libstdc++',
      'search',
    ];
    const target = `/v2/jailbreak/package/multi?ids=${odd.map(encodeURIComponent).join(',')}`;
    const { data } = (await wire.get(target)).body as Page<PackageRecord>;
    expect(data.map(({ package_id }) => package_id)).toEqual(odd);
  });
});

describe('a build while people search', () => {
  it('is taken up without a request that fails', async () => {
    const own = await serveBuild(generatedRepositories());
    const client = openWire(own.port);
    const named = async () => {
      const { status, body } = await client.get('/v2/jailbreak/package/search?q=only&limit=1');
      expect(status).toBe(200);
      return (body as Page<PackageRecord>).data[0]?.version;
    };
    expect(await named()).toBe('1.0');
    const seen = new Set<string | undefined>();
    let building = true;
    const asking = (async () => {
      while (building) seen.add(await named());
    })();
    const next = generatedRepositories().map((repository) => ({
      ...repository,
      packages: repository.packages.replaceAll('Version: 1.0\n', 'Version: 9.9\n'),
      changedAt: '2026-05-03T00:00:00.000Z',
    }));
    await publishBuild(next, own, new Date('2026-05-03T00:00:00Z'));
    own.write('../state/generation.json', 'next');
    await expect.poll(named, { interval: 50 }).toBe('9.9');
    building = false;
    await asking;
    expect([...seen]).toEqual(['1.0', '9.9']);
    client.close();
    await own.close();
  });
});
