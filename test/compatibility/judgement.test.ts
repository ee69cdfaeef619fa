import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  describeVersions,
  endOfVersions,
  parseVersion,
  uniteRanges,
  writeVersion,
} from '../../src/compatibility/ios-versions.ts';
import { type BuildStatement, judge, readStatements, writeStatements } from '../../src/compatibility/judgement.ts';
import { buildStatement, readStated } from '../../src/compatibility/statements.ts';

const stated = (...builds: readonly Parameters<typeof readStated>[0][]): BuildStatement[] =>
  builds.flatMap((fields) => buildStatement(readStated(fields)) ?? []);
const device = (ios: string, build: Parameters<typeof judge>[1]['build']) => ({ ios: parseVersion(ios) ?? 0, build });

const rootful = { architecture: 'iphoneos-arm', depends: 'firmware (>= 8.0)' };
const rootless = { architecture: 'iphoneos-arm64', depends: 'firmware (>= 15.0), firmware (<< 17)' };

describe('C14: what is said to a visitor', () => {
  it.each([
    [[rootful, rootless], '16.7', 'rootless', 'Runs here'],
    [[rootful, rootless], '17.0', 'rootless', 'Rules out iOS 17.0'],
    [[rootful, rootless], '14.3', 'rootful', 'Runs here'],
    [[rootful], '16.7', 'rootless', 'No rootless build'],
    [[rootless], '16.7', 'rootful', 'No rootful build'],
    // That some can be converted is not stated.
    [[rootful, rootless], '16.7', 'roothide', 'No RootHide build'],
    [[{ architecture: 'iphoneos-arm64' }], '16.7', 'rootless', 'Rootless, iOS not stated'],
    [[{ architecture: 'iphoneos-arm64e' }], '16.7', 'roothide', 'RootHide, iOS not stated'],
    [[{ architecture: 'all' }], '16.7', 'roothide', 'Any build, iOS not stated'],
    [[{ architecture: 'all', depends: 'firmware (>= 15.0)' }], '16.7', 'roothide', 'Runs here'],
    [[{ architecture: 'amd64' }, { architecture: 'IPHONEOS-ARM64' }], '16.7', 'rootless', 'Not for iPhones'],
    [[], '16.7', 'rootless', 'Not for iPhones'],
    [[{ architecture: 'iphoneos-arm64', name: 'X (iOS 13 - 16)' }], '16.7', 'rootless', 'Rootless, names iOS 13 to 16'],
    [[{ architecture: 'iphoneos-arm64', name: 'X (iOS 11)' }], '16.7', 'rootless', 'Rootless, but names iOS 11'],
    // What its fields say counts, and not its words.
    [[{ ...rootless, name: 'X (iOS 11)' }], '16.7', 'rootless', 'Runs here'],
    [[{ ...rootless, name: 'X for iOS 17' }], '17.0', 'rootless', 'Rules out iOS 17.0'],
    [[{ architecture: 'all' }, { architecture: 'iphoneos-arm64' }], '17.0', 'rootless', 'Rootless, iOS not stated'],
    // What it asks of the device besides iOS, nobody knows of this one.
    [[{ ...rootless, preDepends: 'gsc.ipad' }], '16.7', 'rootless', 'Rootless, asks for gsc.ipad'],
    [
      [{ ...rootless, depends: 'firmware (>= 15.0), cy+cpu.arm64 (>= 1), x' }],
      '16.7',
      'rootless',
      'Rootless, asks for cy+cpu.arm64',
    ],
    [
      [{ ...rootless, depends: 'gsc.a | gsc.b, cy+os.ios:any, gsc.c, firmware (>= 15.0)' }],
      '16.7',
      'rootless',
      'Rootless, asks for gsc.a or gsc.b and cy+os.ios',
    ],
    [[{ ...rootless, depends: 'firmware (>= 17), gsc.ipad' }], '16.7', 'rootless', 'Rules out iOS 16.7'],
    [[{ architecture: 'iphoneos-arm64', depends: 'gsc.ipad' }], '16.7', 'rootless', 'Rootless, iOS not stated'],
    [[rootless, { ...rootless, depends: 'gsc.ipad, firmware (>= 15)' }], '16.7', 'rootless', 'Runs here'],
    // What another package does as well is not asked of the device, and what is no such name says nothing of it.
    [[{ ...rootless, depends: 'firmware (>= 15), gsc.ipad | com.ex.substitute' }], '16.7', 'rootless', 'Runs here'],
    [[{ ...rootless, depends: 'firmware (>= 15), gsc.<b>;!~=' }], '16.7', 'rootless', 'Runs here'],
    [[{ ...rootless, depends: 'firmware (>= 15), legsc.ipad, xcy+cpu.arm64' }], '16.7', 'rootless', 'Runs here'],
    // The best of several copies.
    [[rootless, { architecture: 'iphoneos-arm64' }], '17.0', 'rootless', 'Rootless, iOS not stated'],
    [[rootless, { architecture: 'iphoneos-arm64', tags: ['compatible_max::ios18'] }], '17.0', 'rootless', 'Runs here'],
  ] as const)('%j on iOS %s, %s: %s', (builds, ios, build, words) => {
    const list = stated(...builds);
    expect(judge(list, device(ios, build)).words).toBe(words);
    expect(judge(readStatements(writeStatements(list)), device(ios, build)).words).toBe(words);
  });
});

describe('C14: what is for all builds', () => {
  const all: BuildStatement = { build: 'all', firmware: undefined, named: undefined, asks: undefined };
  const inRootful: BuildStatement = { ...all, served: ['rootful'] };

  it.each([
    [[inRootful], 'rootful', 'Any build, iOS not stated'],
    [[inRootful], 'rootless', 'For all builds, in a rootful repository'],
    [[{ ...all, served: ['rootful', 'roothide'] }], 'rootless', 'For all builds, in a rootful and RootHide repository'],
    // Another repository serves it.
    [[inRootful, { ...all, served: ['rootful', 'rootless'] }], 'rootless', 'Any build, iOS not stated'],
    [[inRootful, ...stated(rootless)], 'rootless', 'Runs here'],
  ] as const)('is for those that its repository serves: %j, %s: %s', (builds, build, words) => {
    expect(judge(builds, device('16.7', build)).words).toBe(words);
    expect(judge(readStatements(writeStatements(builds)), device('16.7', build)).words).toBe(words);
  });
});

const range = fc
  .tuple(fc.nat(endOfVersions - 1), fc.nat(endOfVersions))
  .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
const ranges = fc.array(range, { maxLength: 4 }).map(uniteRanges);
const statement = fc.record({
  build: fc.constantFrom('rootful', 'rootless', 'roothide', 'all' as const),
  served: fc.option(fc.subarray(['rootful', 'rootless', 'roothide'] as const, { minLength: 1 }), { nil: undefined }),
  firmware: fc.option(ranges, { nil: undefined }),
  named: fc.option(
    ranges.filter((some) => some.length > 0),
    { nil: undefined },
  ),
  asks: fc.constantFrom(undefined, 'gsc.ipad', 'cy+cpu.arm64 or cy+os.ios and gsc.a'),
});

it('C14: a page carries what is judged by, and nothing is lost on the way', () => {
  fc.assert(
    fc.property(fc.array(statement), fc.nat(endOfVersions - 1), (list, ios) => {
      const read = readStatements(writeStatements(list));
      expect(new Set(read.map((one) => JSON.stringify(one)))).toEqual(new Set(list.map((one) => JSON.stringify(one))));
      for (const build of ['rootful', 'rootless', 'roothide'] as const) {
        expect(judge(read, { ios, build })).toEqual(judge(list, { ios, build }));
      }
    }),
  );
});

describe('C14: versions of iOS', () => {
  it.each(['16', '16.0', '16.7', '16.7.10', '127.63.63', '1.0'])('%s is one', (text) => {
    const number = parseVersion(text) ?? Number.NaN;
    expect(parseVersion(writeVersion(number))).toBe(number);
  });

  it.each(['', ' 16', '16.', '.7', '16.7.1.2', '128', '16.64', '16.7.64', 'iOS 16', '١٦', '16x', '-1', '1e1', '0x10'])(
    '%j is none',
    (text) => expect(parseVersion(text)).toBeUndefined(),
  );

  it.each([
    ['14.0', '', 'iOS 14 or newer'],
    ['12.9.9', '', 'iOS 12.9.9 or newer'],
    ['0.0', '14.0', 'iOS 13 or older'],
    ['0.0', '9.3.4', 'iOS 9.3.3 or older'],
    ['9.0', '9.3.4', 'iOS 9 to 9.3.3'],
    ['13.0', '14.0', 'iOS 13'],
    ['13.0', '15.0', 'iOS 13 to 14'],
    ['13.4', '13.5', 'iOS 13.4'],
    ['13.4.1', '13.4.2', 'iOS 13.4.1'],
    ['0.0', '', 'iOS any'],
  ])('from %s, before %s: %s', (from, end, words) => {
    expect(describeVersions([[parseVersion(from) ?? 0, parseVersion(end) ?? endOfVersions]])).toBe(words);
  });

  it('none are none', () => expect(describeVersions([])).toBe('no iOS'));
});
