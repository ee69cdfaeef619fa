import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PackageRecord } from '../../src/contract/records.ts';
import { type BuiltServer, serveBuild } from '../support/built.ts';
import { base, packages } from '../support/catalog.ts';
import { openWire } from '../support/wire.ts';

const builds = ['iphoneos-arm', 'iphoneos-arm64', 'all'];
const stanzas = Array.from({ length: 60 }, (_, number) => ({
  Package: `com.example.snow${number}`,
  Name: `Snow ${number}`,
  Architecture: builds[number % builds.length],
  Section: number % 2 === 0 ? 'Tweaks & More' : 'Themes',
  Depends: number % 5 === 0 ? 'firmware (>= 15.0)' : undefined,
  Tag: number % 7 === 0 ? 'cydia::commercial' : undefined,
}));

let server: BuiltServer;
let wire: ReturnType<typeof openWire>;
beforeAll(async () => {
  server = await serveBuild([
    { slug: 'one', packages: packages(...stanzas) },
    { slug: 'two', packages: packages({ Package: 'com.example.other', Name: 'Snow of another' }) },
  ]);
  wire = openWire(server.port);
});
afterAll(async () => {
  wire.close();
  await server.close();
});

interface Page {
  readonly refs: { readonly nextPage?: string; readonly previousPage?: string };
  readonly count: number;
  readonly data: readonly PackageRecord[];
}
const path = '/v2/jailbreak/package/search?q=snow';
const ask = async (target: string): Promise<Page> => {
  const { status, body } = await wire.get(target);
  expect(status, target).toBe(200);
  return body as Page;
};

describe('C14: the parameters that narrow a search of packages', () => {
  it('are all held to, and their links keep them', async () => {
    const narrowed =
      '&limit=3&architecture=iphoneos-arm64&firmware=14.3&section=Tweaks+%26+More&repository=one&price=free';
    const found: PackageRecord[] = [];
    let next: string | undefined = path + narrowed;
    let pages = 0;
    while (next !== undefined) {
      const { data, refs }: Page = await ask(next);
      found.push(...data);
      pages++;
      for (const link of [refs.nextPage, refs.previousPage]) {
        if (link === undefined) continue;
        expect(link).toMatch(
          /\?q=snow&limit=3&architecture=iphoneos-arm64&firmware=14\.3&section=Tweaks%20%26%20More&repository=one&price=Free&page=\d+$/,
        );
      }
      next = refs.nextPage?.slice(base.length);
    }
    const expected = stanzas.filter(
      ({ Architecture, Section, Depends, Tag }) =>
        Architecture !== 'iphoneos-arm' && Section !== 'Themes' && Depends === undefined && Tag === undefined,
    );
    expect(pages).toBeGreaterThan(2);
    expect(found.map(({ package_id }) => package_id).sort()).toEqual(expected.map(({ Package }) => Package).sort());
  });

  it('keep the order on every page, and tell what all words but one fit', async () => {
    const order = (page: Page) => page.data.map(({ name }) => name);
    const whole = await ask(`${path}&sort=name`);
    expect(order(whole)).toEqual(order(whole).toSorted());
    const paged: (string | null)[] = [];
    let next: string | undefined = `${path}&limit=25&sort=NAME&kind=&state=`;
    while (next !== undefined) {
      const page: Page = await ask(next);
      paged.push(...order(page));
      next = page.refs.nextPage?.slice(base.length);
      if (next !== undefined) expect(next).toMatch(/\?q=snow&limit=25&sort=name&page=\d$/);
    }
    expect(paged).toEqual(order(whole));
    const some = await fetch(`${server.address}${path}+another&sort=newest`);
    expect(some.headers.get('records-in-part')).toBe('60');
    expect(some.headers.get('access-control-expose-headers')).toBe('Records-In-Part');
    const all = await fetch(`${server.address}${path}`);
    expect([all.headers.get('records-in-part'), all.headers.get('access-control-expose-headers')]).toEqual([
      null,
      null,
    ]);
  });

  it('leave out what says that it does not run on a version of iOS, and not what says nothing', async () => {
    expect((await ask(`${path}&firmware=14`)).count).toBe(61 - 12);
    expect((await ask(`${path}&firmware=15`)).count).toBe(61);
  });

  it('that are empty, as a form sends them, ask for nothing', async () => {
    expect((await ask(`${path}&architecture=&firmware=&section=&repository=&price=`)).data).toEqual(
      (await ask(path)).data,
    );
  });

  it.each([
    ['architecture=iphoneos-arm64%20', 'must be one architecture such as iphoneos-arm64'],
    ['architecture=arm,arm64', 'must be one architecture such as iphoneos-arm64'],
    ['firmware=iOS16', 'must be a version of iOS such as 16.7 or 15.8.3'],
    ['firmware=100', 'must be a version of iOS such as 16.7 or 15.8.3'],
    ['firmware=16.7.1.2', 'must be a version of iOS such as 16.7 or 15.8.3'],
    [`firmware=${'1'.repeat(10_000)}`, 'must be a version of iOS such as 16.7 or 15.8.3'],
    [`section=${'x'.repeat(257)}`, 'must be at most 256 characters'],
    ['section=%ff', 'must be percent-encoded UTF-8'],
    ['repository=a/b', 'must be the slug of one repository'],
    ['price=cheap', 'must be one of Free, Paid'],
    ['sort=oldest', 'must be one of newest, downloads, name'],
    ['state=gone', 'must be one of current, pre-release, stale'],
    ['kind=none', 'must be one of tweaks, '],
    ['price=free&price=free', 'must be given once'],
  ])('H5 say what to do where they are malformed: %s', async (query, words) => {
    const { status, body } = await wire.get(`${path}&${query}`);
    expect(status).toBe(400);
    expect((body as { error: string }).error).toContain(`Query parameter '${query.split('=')[0]}' ${words}`);
  });

  it('have answers of their own in every cache', async () => {
    const counts = async () => [
      (await ask(path)).count,
      (await ask(`${path}&price=Paid`)).count,
      (await ask(`${path}&architecture=all`)).count,
    ];
    const once = await counts();
    expect(once).toEqual([61, 9, 20]);
    expect(await counts()).toEqual(once);
  });

  it('mean nothing to a search of repositories', async () => {
    const repositories = await ask('/v2/jailbreak/repository/search?q=one&price=nonsense');
    expect(repositories.count).toBe(1);
  });
});
