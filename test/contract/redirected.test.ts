import { expect, it } from 'vitest';
import { FindingCounter } from '../../src/contract/findings.ts';
import { readRedirectTargets, sayRedirect } from '../../src/contract/redirected.ts';

const origin = 'http://a.example/debs';

/** Where the findings of a repository lead whose files, at these paths, are redirected to these addresses. */
const targetsOf = (redirects: readonly (readonly [path: string, target: string])[]): readonly string[] => {
  const counter = new FindingCounter();
  for (const [path, target] of redirects)
    counter.add('redirected', sayRedirect(new URL(`${origin}${path}`), new URL(target)));
  return readRedirectTargets(counter.list());
};

it('the evidence of redirects tells the folders of one host apart, whatever the files are called there', () => {
  const [kept, other] = ['https://shared.example/good/r.txt', 'https://shared.example/bad/p.txt'];
  expect(
    targetsOf([
      ['/Release', kept],
      ['/Packages', other],
      ['/Packages.gz', `${kept}.gz`],
    ]),
  ).toEqual([kept, other]);
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

it('words in an address, with blanks or without, are none of the evidence of redirects', () => {
  const target = 'https://b.example/x to y and z?p to q and r';
  expect(targetsOf([['/Release and / to c', target]])).toEqual([new URL(target).href]);
});
