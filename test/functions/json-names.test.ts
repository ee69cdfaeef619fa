import { afterAll, beforeAll, expect, it } from 'vitest';
import { publicAddress } from '../../src/contract/public-addresses.ts';
import type { PackageRecord, RepositoryRecord } from '../../src/contract/records.ts';
import { readPublished } from '../clients/published-records.ts';
import { type BuiltServer, serveBuild } from '../support/built.ts';
import { base, packages } from '../support/catalog.ts';

// What is called like the document of another one.
const ids = ['foo', 'foo.json', 'foo.json.json', 'Foo', 'Foo.json', '_foo.json', 'foo.JSON', '.json', 'search.json'];

let server: BuiltServer;
beforeAll(async () => {
  const all = packages(...ids.map((Package) => ({ Package })));
  server = await serveBuild([
    { slug: 'bar', packages: all },
    { slug: 'other', packages: packages({ Package: 'foo' }) },
  ]);
});
afterAll(() => server.close());

const read = async <T>(address: string): Promise<T> => {
  const answer = await fetch(server.address + address.slice(base.length));
  expect(answer.status, address).toBe(200);
  return ((await answer.json()) as { data: T }).data;
};

it('H4 refs lead to the package or repository that they stand in, whatever it is called', async () => {
  const published = readPublished(server.folder);
  expect(new Set(published.packages.map(({ package_id: id }) => id))).toEqual(new Set(ids));
  for (const record of published.packages) {
    const found = await read<PackageRecord[]>(record.refs.meta);
    expect(new Set(found.map(({ package_id: id }) => id)), record.refs.meta).toEqual(new Set([record.package_id]));
    expect((await read<RepositoryRecord>(record.refs.repo)).slug).toBe(record.repository_id);
  }
  for (const { slug, refs } of published.repositories) {
    expect((await read<RepositoryRecord>(refs.meta)).slug, refs.meta).toBe(slug);
    const found = await read<PackageRecord[]>(refs.packages);
    expect(new Set(found.map(({ repository_id: repository }) => repository))).toEqual(new Set([slug]));
  }
});

it('H4 refs of a repository that cannot be asked for by its slug name its own document', () => {
  const { repository, repositoryPackages } = publicAddress({ base });
  expect([repository('search'), repository('Search'), repositoryPackages('bar.json')]).toEqual([
    `${base}/v2/jailbreak/repository/search.json`,
    `${base}/v2/jailbreak/repository/Search`,
    `${base}/v2/jailbreak/repository/bar.json/packages`,
  ]);
  expect([repository('bar'), repository('bar.json')]).toEqual([
    `${base}/v2/jailbreak/repository/bar`,
    `${base}/v2/jailbreak/repository/bar.json.json`,
  ]);
});
