import { type Build, buildTitles, wordOf } from './builds.ts';
import {
  describeVersions,
  endOfVersions,
  holdsVersion,
  parseVersion,
  type VersionRanges,
  writeVersion,
} from './ios-versions.ts';

// Browsers also run this file and its imports, and load every byte before the first interaction, so fields of packages
// are read elsewhere.

/** The device of a visitor. */
export interface Device {
  /** Number of its iOS version; see parseVersion. */
  readonly ios: number;
  readonly build: Build;
}

/** What one build of a package states. */
export interface BuildStatement {
  readonly build: Build | 'all';
  /** For a build for all: the builds that its repository serves, if that is not all of them. */
  readonly served?: readonly Build[] | undefined;
  /** The iOS versions that its fields allow; undefined if they set no limit. */
  readonly firmware: VersionRanges | undefined;
  /** The versions that its tags list or its text names; undefined if they name none. */
  readonly named: VersionRanges | undefined;
  /**
   * What it requires of the device besides iOS, in words; undefined if nothing. It is unknown which devices satisfy
   * that.
   */
  readonly asks: string | undefined;
}

/** The verdicts on a package for a visitor's device, the best first. This is the only list of these words. */
const verdicts = ['runs', 'named', 'not-stated', 'others-named', 'not-on-ios', 'no-build'] as const;
type Verdict = (typeof verdicts)[number];

export interface Judgement {
  readonly verdict: Verdict;
  readonly words: string;
}

/** Whether this build is for such a device. A build for all is, if its repository serves that build. */
export const isFor = ({ build: made, served }: BuildStatement, build: Build): boolean =>
  made === build || (made === 'all' && (served?.includes(build) ?? true));

const verdictOf = (stated: BuildStatement, { ios, build }: Device): Verdict => {
  const { firmware, named, asks } = stated;
  if (!isFor(stated, build)) return 'no-build';
  if (firmware !== undefined) return !holdsVersion(firmware, ios) ? 'not-on-ios' : asks ? 'named' : 'runs';
  if (named === undefined) return 'not-stated';
  return holdsVersion(named, ios) ? 'named' : 'others-named';
};

/** For a package without a build for iOS devices. */
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
      return `Rules out iOS ${writeVersion(ios)}`;
    case 'no-build':
      return stated.served
        ? `For all builds, in a ${stated.served.map(wordOf).join(' and ')} repository`
        : `No ${wordOf(build)} build`;
  }
};

/**
 * The verdict of a package for a device: that of its best build. A build for another kind of jailbreak does not count,
 * although some can be converted, because that is not stated.
 */
export const judge = (stated: readonly BuildStatement[], device: Device): Judgement => {
  const [best] = stated
    .map((one) => {
      const verdict = verdictOf(one, device);
      const words = wordsOf(verdict, device, one);
      // A build for the kind of device is preferred to one for all of them.
      return { verdict, words, rank: `${verdicts.indexOf(verdict)}${Number(one.build === 'all')}${words}` };
    })
    .sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return best ?? { verdict: 'no-build', words: notForDevices };
};

/** Whether the package states that it does not run on the device. */
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
 * Encodes what the builds of a package state, for a page: builds separated by semicolons. Each begins with its name; a
 * build for all continues with `:` and the builds that its repository serves; then follow `=` and the allowed versions,
 * `~` and the named ones, `!` and other requirements: `rootful!gsc.ipad;rootless=14.0-~15.0-17.0`. An open end is left
 * out. Equal statements occur once.
 */
export const writeStatements = (stated: readonly BuildStatement[]): string => {
  const written = stated.map(
    ({ build, served, firmware, named, asks }) =>
      `${build}${served === undefined ? '' : `:${served.join(',')}`}${firmware === undefined ? '' : `=${writeRanges(firmware)}`}${named === undefined ? '' : `~${writeRanges(named)}`}${asks === undefined ? '' : `!${asks}`}`,
  );
  return [...new Set(written)].sort().join(';');
};

/** Decodes what `writeStatements` encoded. */
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
