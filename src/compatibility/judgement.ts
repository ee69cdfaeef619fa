import { type Build, buildTitles, wordOf } from './builds.ts';
import {
  describeVersions,
  endOfVersions,
  holdsVersion,
  parseVersion,
  type VersionRanges,
  writeVersion,
} from './ios-versions.ts';

// This file and what it imports run in browsers too, where every byte is loaded before the first interaction: what
// is read from fields is read elsewhere.

/** The device of a visitor. */
export interface Device {
  /** Number of its iOS version; see parseVersion. */
  readonly ios: number;
  readonly build: Build;
}

/** What one build of a package states. */
export interface BuildStatement {
  readonly build: Build | 'all';
  /** Of what is for all, the builds that its repository serves, where those are not all of them. */
  readonly served?: readonly Build[] | undefined;
  /** The versions of iOS that its fields allow; undefined where they bound none. */
  readonly firmware: VersionRanges | undefined;
  /** The versions that its tags list or its words name; undefined where they name none. */
  readonly named: VersionRanges | undefined;
  /** What they ask of the device besides its iOS, in words; undefined where nothing. Which devices have it is not known. */
  readonly asks: string | undefined;
}

/** What is said of a package to the visitor with a device, the best first. The only list of these words. */
const verdicts = ['runs', 'named', 'not-stated', 'others-named', 'not-on-ios', 'no-build'] as const;
type Verdict = (typeof verdicts)[number];

export interface Judgement {
  readonly verdict: Verdict;
  readonly words: string;
}

/** Whether this is a build for such a device: what is for all is one where its repository serves that build. */
export const isFor = ({ build: made, served }: BuildStatement, build: Build): boolean =>
  made === build || (made === 'all' && (served?.includes(build) ?? true));

const verdictOf = (stated: BuildStatement, { ios, build }: Device): Verdict => {
  const { firmware, named, asks } = stated;
  if (!isFor(stated, build)) return 'no-build';
  if (firmware !== undefined) return !holdsVersion(firmware, ios) ? 'not-on-ios' : asks ? 'named' : 'runs';
  if (named === undefined) return 'not-stated';
  return holdsVersion(named, ios) ? 'named' : 'others-named';
};

/** Of what states nothing, since none of its builds is for a device with iOS. */
export const notForDevices = 'Not for iPhones';

const wordsOf = (verdict: Verdict, { ios, build }: Device, stated: BuildStatement): string => {
  const title = buildTitles[stated.build];
  const named = describeVersions(stated.named ?? []);
  switch (verdict) {
    case 'runs':
      return 'Runs here';
    case 'named':
      return `${title}, ${stated.asks ? `asks for ${stated.asks}` : `names ${named}`}`;
    case 'not-stated':
      return `${title}, iOS not stated`;
    case 'others-named':
      return `${title}, but names ${named}`;
    case 'not-on-ios':
      return `Says not on iOS ${writeVersion(ios)}`;
    case 'no-build':
      return stated.served
        ? `For all builds, in a ${stated.served.map(wordOf).join(' and ')} repository`
        : `No ${wordOf(build)} build`;
  }
};

/**
 * What a package states of a device: the best of its builds for it. One for another kind of jailbreak is none, though
 * some can be converted: that is not stated.
 */
export const judge = (stated: readonly BuildStatement[], device: Device): Judgement => {
  const [best] = stated
    .map((one) => {
      const verdict = verdictOf(one, device);
      const words = wordsOf(verdict, device, one);
      // What is made for one kind of device before what is for all of them.
      return { verdict, words, rank: `${verdicts.indexOf(verdict)}${Number(one.build === 'all')}${words}` };
    })
    .sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return best ?? { verdict: 'no-build', words: notForDevices };
};

/** Whether by what it states it does not run there. */
export const isRefusal = ({ verdict }: Judgement): boolean =>
  verdicts.indexOf(verdict) > verdicts.indexOf('not-stated');

const writeRanges = (ranges: VersionRanges): string =>
  ranges.map(([from, end]) => `${writeVersion(from)}-${end === endOfVersions ? '' : writeVersion(end)}`).join(',');

const readRanges = (text: string): VersionRanges =>
  text
    .split(',')
    .filter((range) => range !== '')
    .map((range) => {
      const [from = '', end = ''] = range.split('-');
      return [parseVersion(from) ?? 0, parseVersion(end) ?? endOfVersions];
    });

/**
 * What the builds of a package state, as a page carries it: builds with semicolons between, of each what it is for, of what
 * is for all then `:` and the builds that its repository serves, then `=` and the versions that it allows, then `~` and those that it names, then `!` and what else it asks for:
 * `rootful!gsc.ipad;rootless=14.0-~15.0-17.0`. An end that is left out is open. Equal statements stand once.
 */
export const writeStatements = (stated: readonly BuildStatement[]): string => {
  const written = stated.map(
    ({ build, served, firmware, named, asks }) =>
      `${build}${served === undefined ? '' : `:${served.join(',')}`}${firmware === undefined ? '' : `=${writeRanges(firmware)}`}${named === undefined ? '' : `~${writeRanges(named)}`}${asks === undefined ? '' : `!${asks}`}`,
  );
  return [...new Set(written)].sort().join(';');
};

/** What `writeStatements` wrote. */
export const readStatements = (text: string): BuildStatement[] =>
  text
    .split(';')
    .filter((one) => one !== '')
    .map((one) => {
      const [versions = '', asks] = one.split('!');
      const [front = '', named] = versions.split('~');
      const [made = '', firmware] = front.split('=');
      const [build, served] = made.split(':');
      return {
        build: build as Build | 'all',
        served: served?.split(',') as Build[] | undefined,
        firmware: firmware === undefined ? undefined : readRanges(firmware),
        named: named === undefined ? undefined : readRanges(named),
        asks,
      };
    });
