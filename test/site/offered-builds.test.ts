import { expect, it } from 'vitest';
import { offeredBuilds } from '../../src/site/package-summary.ts';

it('lists offer the builds that safe repositories have, and all where each is unsafe', () => {
  const summary = {
    architectures: ['iphoneos-arm', 'iphoneos-arm64', 'iphoneos-arm64e'],
    // A repository that has all of them is left out.
    builtFor: new Map([
      ['old', ['iphoneos-arm']],
      ['new', ['iphoneos-arm64']],
    ]),
    stated: new Map([
      ['old', 'rootful:..14'],
      ['new', 'rootless'],
      ['bad', 'rootful;rootless;roothide'],
    ]),
    repositories: ['old', 'new', 'bad'],
  };
  expect(offeredBuilds({ ...summary, unsafeIn: new Set(['bad']) })).toEqual({
    architectures: ['iphoneos-arm', 'iphoneos-arm64'],
    runs: 'rootful:..14;rootless',
  });
  // Where all have the same one, none is told of.
  const [one = ''] = summary.architectures;
  const alike = { ...summary, architectures: [one], builtFor: new Map(), unsafeIn: new Set(['bad']) };
  expect(offeredBuilds(alike)).toMatchObject({ architectures: [one] });
  expect(offeredBuilds({ ...summary, unsafeIn: new Set() })).toMatchObject({ architectures: summary.architectures });
});
