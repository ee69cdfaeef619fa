import { describe, expect, it } from 'vitest';
import { componentOf } from '../../src/catalog/older-reading.ts';
import { manifestEntrySchema } from '../../src/contract/manifest.ts';
import { composeIndexRepositories, composeUnsafeHosts } from '../../src/contract/older-addresses/lists.ts';
import { createOlderOpenApi } from '../../src/contract/older-addresses/openapi.ts';
import { olderOperations } from '../../src/contract/older-addresses/operations.ts';
import { indexRepositoriesSchema } from '../../src/contract/older-addresses/records.ts';
import { expectReferences, lintDescription } from '../support/api-description.ts';

const description = createOlderOpenApi({ publicAddress: 'https://index.test', version: '1.2.3' });

describe('the description of addresses from before /v2', () => {
  it('H5: passes a third-party linter', async () => {
    expect(await lintDescription(JSON.stringify(description))).toEqual([]);
  });

  it('H5: has every address, says that it is deprecated, and resolves every reference', () => {
    const paths = description.paths as Record<string, { get: { deprecated: boolean } }>;
    expect(Object.keys(paths)).toEqual(Object.values(olderOperations).map(({ address }) => address.replace(/\/$/, '')));
    for (const { get } of Object.values(paths)) expect(get.deprecated).toBe(true);
    expectReferences(description);
  });

  it('H5: says which parameters a request must have, and which of two', () => {
    const paths = description.paths as Record<
      string,
      { get: { parameters?: { name: string; required?: boolean; description: string }[] } }
    >;
    const needed = Object.entries(paths).flatMap(([address, { get }]) =>
      (get.parameters ?? []).flatMap(({ name, required, description }) => {
        const other = /Required without "(\w+)"/.exec(description)?.[1];
        return required || other ? [`${address}?${name}${other ? ` or ${other}` : ''}`] : [];
      }),
    );
    expect(needed).toEqual([
      '/v1/community/packages?id',
      '/v1/community/packages/search?query',
      '/v1/community/packages/lookup?packages',
      '/v1/community/repositories/search?query or ranking',
      '/v1/community/repositories/safety?queries or query',
      '/v1/community/repositories/safety?query or queries',
      '/v1/community/repositories/check?queries or query',
      '/v1/community/repositories/check?query or queries',
    ]);
  });
});

it.each([
  ['stable', '/dists/stable/main/binary-iphoneos-arm/Packages.zst', 'main'],
  ['1800', '/dists/1800/main/debian-installer/binary-all/Packages', 'main/debian-installer'],
  ['stable', '/dists/stable/main/binary-all/binary-arm64/Packages', 'main/binary-all'],
  ['stable', '/dists/stable/binary-arm64/Packages', null],
  ['stable', '/dists/testing/main/binary-arm64/Packages', null],
  ['./', '/Packages.xz', null],
])('the component of suite %s with its index at %s is %s', (suite, origin_packages_path, component) => {
  expect(componentOf({ suite, origin_packages_path })).toBe(component);
});

describe('lists that older programs read', () => {
  it('tell the manifest by slug, without a slash at the end of addresses and without what is not stated', () => {
    const entries = [
      { slug: 'b', uri: 'https://b.test/a//', ranking: 3 },
      {
        slug: 'a',
        uri: 'https://a.test',
        suite: 'stable',
        component: 'main',
        binary: 'iphoneos-arm64',
        ranking: 1,
        bootstrap: true,
        aliases: ['z', 'y'],
        headers: { 'X-Secret': 'secret' },
      },
    ].map((entry) => manifestEntrySchema.parse(entry));
    const list = composeIndexRepositories(entries);
    expect(indexRepositoriesSchema.parse(list)).toEqual([
      {
        aliases: ['y', 'z'],
        binary: 'iphoneos-arm64',
        bootstrap: true,
        component: 'main',
        ranking: 1,
        slug: 'a',
        suite: 'stable',
        uri: 'https://a.test',
      },
      { bootstrap: false, ranking: 3, slug: 'b', suite: './', uri: 'https://b.test/a' },
    ]);
    for (const entry of list) expect(Object.keys(entry)).toEqual(Object.keys(entry).toSorted());
    expect(JSON.stringify(list)).not.toContain('secret');
  });

  it('tell the hosts of the safety list as programs parse them, sorted, each once, and none of which a path alone is listed', () => {
    const listed = { reason: 'Listed for the tests.', date: '2026-05-01', source: 'https://source.test/' };
    const hosts = [
      { host: 'b.test' },
      { host: 'A.test' },
      { host: 'c.test', path: '/bad' },
      { host: 'b.test', path: '/x' },
    ];
    const compose = (named: readonly { host: string; path?: string }[]) =>
      composeUnsafeHosts(named.map((one) => ({ ...listed, ...one })));
    expect(compose(hosts)).toEqual(['a.test', 'b.test']);
    const written = ['Bücher.test', 'xn--bcher-kva.test', 'dot.test.', '[2001:DB8::0]', '192.0.2.1'];
    expect(compose(written.map((host) => ({ host })))).toEqual([
      '192.0.2.1',
      '[2001:db8::]',
      'dot.test',
      'xn--bcher-kva.test',
    ]);
  });
});
