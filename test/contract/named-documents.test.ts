import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressOf } from '../../src/contract/named-documents.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { publicAddress } from '../../src/contract/public-addresses.ts';

describe('the address of a file', () => {
  it.each([
    ['v2/index.json', 'v2/'],
    ['v2/jailbreak/package/com.example.json', 'v2/jailbreak/package/com.example'],
    ['v2/jailbreak/repository/chariz.json', 'v2/jailbreak/repository/chariz'],
    ['v2/jailbreak/repository/chariz/packages.json', 'v2/jailbreak/repository/chariz/packages'],
    ['v2/jailbreak/repository/chariz/packages/2.json', 'v2/jailbreak/repository/chariz/packages/2'],
    ['v2/jailbreak/repository/chariz/findings.json', 'v2/jailbreak/repository/chariz/findings'],
    ['v2/jailbreak/repository/ranking/all.json', undefined],
    ['v2/openapi.json', undefined],
    ['v2/generation.json', undefined],
    ['about/index.html', 'about/'],
    ['index.html', ''],
    ['feed.atom', undefined],
    [documentPath.package('search'), undefined],
    [documentPath.repository('search'), undefined],
    [documentPath.repositoryPackages('search'), 'v2/jailbreak/repository/search/packages'],
    [documentPath.repository('foo.json'), undefined],
    [documentPath.repositoryFindings('foo.json'), 'v2/jailbreak/repository/foo.json/findings'],
    [documentPath.repository('A.b_C'), 'v2/jailbreak/repository/A.b_C'],
    [documentPath.repositoryPackagesPage('A.', 12), 'v2/jailbreak/repository/A./packages/12'],
    [documentPath.package('..'), undefined],
    [documentPath.package('a/../b'), undefined],
    [documentPath.package('a\u0000b'), undefined],
    [documentPath.package('foo.json'), undefined],
    [documentPath.package('x'.repeat(300)), undefined],
  ])('%s is %s', (path, address) => {
    expect(addressOf(path)).toBe(address);
  });

  it('is what refs name, for every identifier that can be asked for by its name', () => {
    const identifiers = fc.oneof(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string({ minLength: 1 }));
    fc.assert(
      fc.property(identifiers, (id) => {
        const refs = decodeURIComponent(publicAddress({ base: '' }).package(id).slice(1));
        const address = addressOf(documentPath.package(id));
        if (address !== undefined) expect(address).toBe(refs);
        else expect(refs === documentPath.package(id) || /[/\\\p{Cc}]/u.test(id)).toBe(true);
      }),
      { examples: ['g++', 'a~b', '100%', 'a b', 'ünï', 'A.B', '😀', "it's(*)!"].map((id) => [id] as [string]) },
    );
  });
});
