import { expect, it } from 'vitest';
import { FindingCounter, showExample } from '../../src/contract/findings.ts';
import { readRedirectTargets, sayRedirect } from '../../src/contract/redirected.ts';
import { findUnsafe } from '../../src/safety/find-unsafe.ts';
import { createSafetyList } from '../../src/safety/safety-list.ts';

const origin = 'http://a.example/debs';

type Redirects = readonly (readonly [path: string, target: string])[];

/** The findings of a repository whose files, at these paths, are redirected to these addresses. */
const findingsOf = (redirects: Redirects) => {
  const counter = new FindingCounter();
  for (const [path, target] of redirects)
    counter.add('redirected', sayRedirect(new URL(`${origin}${path}`), new URL(target)));
  return counter.list();
};

/** Where these lead. */
const targetsOf = (redirects: Redirects): readonly string[] => readRedirectTargets(findingsOf(redirects));

it('the evidence of redirects tells the folders of one host apart, whatever the files are called there', () => {
  const [kept, other] = ['https://shared.example/good/r.txt', 'https://shared.example/bad/p.txt'];
  const redirects = [
    ['/Release', kept],
    ['/Packages', other],
    ['/Packages.gz', `${kept}.gz`],
  ] as const;
  expect(targetsOf(redirects)).toEqual([kept, other, `${kept}.gz`]);
  // One to each place is shown.
  expect(findingsOf(redirects).map(showExample)).toEqual([
    `${origin}/Release to ${kept} and ${origin}/Packages to ${other}`,
  ]);
  const named = ['https://shared.example/good/Release', 'https://shared.example/bad/Packages'] as const;
  expect(
    targetsOf([
      ['/Release', named[0]],
      ['/Packages', named[1]],
    ]),
  ).toEqual(named);
});

it('the evidence of redirects has a place for each file that a visit may request', () => {
  const names = ['InRelease', 'Release', 'Release.gpg', 'payment_endpoint'];
  for (const architecture of ['iphoneos-arm', 'all'])
    for (const ending of ['zst', 'xz', 'lzma', 'bz2', 'gz', 'plain'])
      names.push(`${architecture}/Packages.${ending}`, `${architecture}/by-hash/SHA256/${ending}`);
  const targets = names.map((name, index) => `https://n${index}.example/${name}`);
  expect(targetsOf(names.map((name, index) => [`/${name}`, targets[index] ?? '']))).toEqual(targets);
});

it('the evidence of redirects has the host of an address, and its folder, however long that which was asked for is', () => {
  const target = `https://${'b'.repeat(63)}.example/bad/Packages`;
  expect(targetsOf([[`/${'folder/'.repeat(100)}Packages`, target]])).toEqual([target]);
});

it('words in an address, with blanks or without, are none of the evidence of redirects', () => {
  const target = 'https://b.example/x to y and z?p to q and r';
  expect(targetsOf([['/Release and / to c', target]])).toEqual([new URL(target).href]);
});

it('the evidence of redirects has a path of the safety list, however far from its beginning, and less of it is shown', () => {
  const host = [...Array(4).fill('n'.repeat(60)), 'example'].join('.');
  const list = createSafetyList([{ host, path: '/bad' }]);
  // What servers take for nothing before a path, and paths beside it.
  for (const length of [0, 300, 4080, 4083, 20_000]) {
    const slashes = '/'.repeat(length);
    const findings = findingsOf([
      [`/${'a'.repeat(length)}/Release`, `https://other.example/${'b'.repeat(length)}`],
      ['/Packages', `https://${host}:8443/${slashes}bad/Packages`],
    ]);
    expect(findUnsafe(list, origin, readRedirectTargets(findings))?.entry.path, `${length}`).toBe('/bad');
    const beside = `/good/${slashes}Packages`;
    const isListed = findUnsafe(list, origin, targetsOf([['/Packages', `https://${host}${beside}`]])) !== undefined;
    expect(isListed, `${length}`).toBe(beside.length > 4096);
    const shown = findings
      .map(showExample)
      .join()
      .split(/ to | and /);
    expect(shown).toHaveLength(4);
    expect(Math.max(...shown.map((address) => address.length))).toBeLessThanOrEqual(301);
  }
});

it('the evidence of redirects has what the safety list names of a place that has moved as a whole, by any reading', () => {
  const list = createSafetyList([{ host: 'shared.example', path: '/debs/dists/bad' }]);
  for (const [path, target] of [
    ['/dists/bad/main/Packages', 'dists/bad/main/Packages'],
    ['/Packages', 'dists%2fbad%2fPackages'],
    ['/Packages', 'dists;a/bad;b/Packages'],
  ] as const) {
    const findings = findingsOf([
      ['/Release', 'https://shared.example/debs/Release'],
      [path, `https://shared.example/debs/${target}`],
    ]);
    expect(findUnsafe(list, origin, readRedirectTargets(findings))?.entry.path, target).toBe('/debs/dists/bad');
  }
});

it('the evidence of redirects is bounded, and no other evidence tells of any', () => {
  const many = Array.from({ length: 40 }, (_, index) => `https://n${index}.example/Release`);
  expect(targetsOf(many.map((target, index) => [`/${index}`, target]))).toEqual(many.slice(0, 32));
  // What a stranger wrote could otherwise lead to whatever the safety list names.
  const example = 'com.example.a to https://unsafe.example/ and b to https://unsafe.example/b';
  expect(readRedirectTargets([{ code: 'field-malformed', example }])).toEqual([]);
});
