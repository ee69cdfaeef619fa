import { compareVersions, isValidVersion } from '../apt/version.ts';
import { complementOf, endOfVersions, type VersionRanges, writeVersion } from './ios-versions.ts';

// Every jailbreak reports a package `firmware` as installed, with the iOS version as its version. Relations to it mean
// what dpkg makes of them (Debian Policy, section 7.1).

/** A relation to `firmware` as written, and the versions that do not satisfy it. */
export interface FirmwareRelation {
  /** Such as `firmware (>= 14.0)`, or alternatives separated by bars. */
  readonly written: string;
  readonly excluded: VersionRanges;
}

const longestWritten = 120;

// No honest package has more relations to firmware, and each takes some forty comparisons, so no more is read of a
// stranger's field.
const mostRelations = 32;
const longestVersion = 64;
const blanks = /\s+/g;

// `<` and `>` are old spellings of `<=` and `>=` (deb-control(5) and dpkg's parsedep).
const operators = ['<<', '<=', '>=', '>>', '=', '<', '>'] as const;

/**
 * The first version on the grid for which a test holds, if it then holds for all later ones. Tests some twenty
 * versions.
 */
const firstWhere = (holds: (version: string) => boolean): number => {
  let low = 0;
  let high = endOfVersions;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(writeVersion(middle))) high = middle;
    else low = middle + 1;
  }
  return low;
};

const computeRanges = (operator: (typeof operators)[number], version: string): VersionRanges => {
  const from = () => firstWhere((one) => compareVersions(one, version) >= 0);
  const behind = () => firstWhere((one) => compareVersions(one, version) > 0);
  switch (operator) {
    case '<<':
      return [[0, from()]];
    case '<=':
    case '<':
      return [[0, behind()]];
    case '=':
      return [[from(), behind()]];
    case '>=':
    case '>':
      return [[from(), endOfVersions]];
    case '>>':
      return [[behind(), endOfVersions]];
  }
};

// A whole index has some hundred different ones, and strangers may write any number.
const known = new Map<string, VersionRanges>();
const mostKnown = 1000;

const rangesOf = (operator: (typeof operators)[number], version: string): VersionRanges => {
  const key = `${operator} ${version}`;
  const found = known.get(key) ?? computeRanges(operator, version);
  if (known.size >= mostKnown) known.clear();
  known.set(key, found);
  return found;
};

/**
 * The versions that one alternative allows; undefined if it is no relation to `firmware`, names no version, or cannot
 * be read by dpkg.
 */
const readAlternative = (text: string): VersionRanges | undefined => {
  if (!text.startsWith('firmware')) return undefined;
  const rest = text
    .slice('firmware'.length)
    .replace(/^:any\b/, '')
    .trimStart();
  if (!rest.startsWith('(') || !rest.endsWith(')')) return undefined;
  const restriction = rest.slice(1, -1).trim();
  const operator = operators.find((one) => restriction.startsWith(one));
  const version = restriction.slice(operator?.length ?? 0).trim();
  return version.length <= longestVersion && isValidVersion(version) ? rangesOf(operator ?? '=', version) : undefined;
};

const relations = (field: string | null | undefined): string[] =>
  field?.includes('firmware')
    ? field
        .split(',')
        .filter((group) => group.includes('firmware'))
        .slice(0, mostRelations)
    : [];

const write = (group: string): string => group.trim().slice(0, longestWritten).replace(blanks, ' ');

/**
 * What a Depends or Pre-Depends says of firmware. A relation that another package can satisfy says nothing. Never
 * throws; linear in the field.
 */
export const readRequired = (field: string | null | undefined): FirmwareRelation[] =>
  relations(field).flatMap((group) => {
    const alternatives = group.split('|', mostRelations + 1);
    if (alternatives.length > mostRelations) return [];
    const allowed = alternatives.map((text) => readAlternative(text.trim()));
    if (allowed.includes(undefined)) return [];
    return [{ written: write(group), excluded: complementOf(allowed.flatMap((ranges) => ranges ?? [])) }];
  });

/** What a Conflicts or Breaks says of firmware: the versions with which the package cannot be installed. */
export const readRefused = (field: string | null | undefined): FirmwareRelation[] =>
  relations(field).flatMap((group) => {
    const excluded = readAlternative(group.trim());
    return excluded === undefined ? [] : [{ written: write(group), excluded }];
  });
