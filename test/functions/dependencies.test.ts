import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dependenciesSchema } from '../../src/contract/envelope.ts';
import { type BuiltServer, serveBuild } from '../support/built.ts';
import { packages } from '../support/catalog.ts';

let server: BuiltServer;
beforeAll(async () => {
  server = await serveBuild([
    {
      slug: 'mine',
      packages: packages(
        { Package: 'a', Depends: 'libstdc++, firmware (>= 14.0)' },
        ...Array.from({ length: 1500 }, (_, number) => ({ Package: `p${number}`, Depends: `p${(number + 1) % 1500}` })),
      ),
    },
    { slug: 'other', packages: packages({ Package: 'libstdc++' }) },
    {
      slug: 'trap',
      packages: packages({ Package: 'libstdc++' }),
      ranking: 1,
      crawled: { origin: { uri: 'https://unsafe.test/', suite: './', component: null, binary: null } },
    },
  ]);
});
afterAll(() => server.close());

const ask = (target: string, init?: RequestInit) => fetch(`${server.address}/v2/jailbreak/package/${target}`, init);
const dataOf = async (target: string) => dependenciesSchema.parse(await (await ask(target)).json()).data;

describe('what installing a package brings, asked of the server', () => {
  it('H5: is packages, repositories to add and what the device has', async () => {
    const answer = await ask('a/dependencies?architecture=iphoneos-arm&repositories=mine&firmware=14');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { data } = dependenciesSchema.parse(await answer.json());
    expect(data).toMatchObject({ outcome: 'installable', firmware: '14.0', repositories: ['mine'] });
    expect(data.packages.map(({ package_id: id, repository_id: slug }) => [id, slug])).toEqual([
      ['a', 'mine'],
      ['libstdc++', 'other'],
    ]);
    // The safety list names the better ranked repository.
    expect(data.add).toMatchObject([{ repository_id: 'other', package_count: 1, safe: true }]);
    expect((await dataOf('a/dependencies?architecture=iphoneos-arm&firmware=13.7')).outcome).toBe('unmet');
    expect((await dataOf('a/dependencies?architecture=iphoneos-arm&firmware=')).firmware).toBeNull();
  });

  it('H3: takes an identifier however it is encoded, and repositories in any order', async () => {
    for (const id of ['libstdc++', 'libstdc%2B%2B', 'libstdc%2b+']) {
      expect((await dataOf(`${id}/dependencies?architecture=iphoneos-arm`)).package_id).toBe('libstdc++');
    }
    const [one, two] = await Promise.all(
      ['mine,other', 'other,,mine,other'].map((slugs) =>
        dataOf(`a/dependencies?architecture=iphoneos-arm&repositories=${slugs}`),
      ),
    );
    expect(one).toEqual(two);
  });

  it('H5: a long answer comes whole, to many at once', async () => {
    const target = 'p7/dependencies?architecture=iphoneos-arm&repositories=mine';
    const all = await Promise.all(Array.from({ length: 6 }, () => dataOf(target)));
    expect(new Set(all.map(({ packages: { length } }) => length))).toEqual(new Set([1500]));
    const head = await ask(target, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it.each([
    { target: 'none/dependencies?architecture=iphoneos-arm', status: 404 },
    { target: 'a/dependencies', status: 400, error: "Missing query parameter: 'architecture'" },
    {
      target: 'a/dependencies?architecture=a%20b',
      status: 400,
      error: "Query parameter 'architecture' must be one architecture such as iphoneos-arm64",
    },
    {
      target: 'a/dependencies?architecture=x&architecture=x',
      status: 400,
      error: "Query parameter 'architecture' must be given once",
    },
    {
      target: 'a/dependencies?architecture=x&firmware=new',
      status: 400,
      error: "Query parameter 'firmware' must be a version of iOS such as 16.7 or 15.8.3",
    },
    {
      target: `a/dependencies?architecture=x&repositories=${Array.from({ length: 1001 }, (_, number) => number).join(',')}`,
      status: 400,
      error: "Query parameter 'repositories' must be at most 1000 slugs separated by commas",
    },
  ])('H5: answers $status to $target', async ({ target, status, error }) => {
    const answer = await ask(target);
    expect(answer.status).toBe(status);
    expect(((await answer.json()) as { error?: string }).error).toBe(error);
  });
});
