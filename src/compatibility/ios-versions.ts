// iOS versions as numbers, to be compared, stored and written: "16.7.2" is one of 128 × 64 × 64. Every version that
// Apple has released is on this grid, in order.

const minors = 64;
const patches = 64;
const majors = 128;

/** One more than the number of the greatest possible version. */
export const endOfVersions = majors * minors * patches;

/**
 * Versions from the first number up to, but not including, the second. Ranges are in order and do not touch each other.
 * No ranges mean no version.
 */
export type VersionRanges = readonly (readonly [from: number, end: number])[];

/** The number of a version such as `16`, `16.7` or `16.7.2`; undefined if the text is none. `16` means `16.0`. */
export const parseVersion = (text: string): number | undefined => {
  const match = /^(\d{1,3})(?:\.(\d{1,2}))?(?:\.(\d{1,2}))?$/.exec(text);
  if (match === null) return undefined;
  const [major = 0, minor = 0, patch = 0] = match.slice(1).map((part) => Number(part ?? 0));
  return major < majors && minor < minors && patch < patches ? (major * minors + minor) * patches + patch : undefined;
};

/** Writes a number as devices spell their version: `16.0`, `16.7.2`. */
export const writeVersion = (version: number): string => {
  const patch = version % patches;
  const minor = Math.floor(version / patches) % minors;
  return `${Math.floor(version / patches / minors)}.${minor}${patch === 0 ? '' : `.${patch}`}`;
};

/** The number after all versions that begin with these parts: `17.0` for `16`, `16.8` for `16.7`. */
export const endOfParts = (version: number, parts: number): number =>
  Math.min(endOfVersions, version + (parts === 1 ? minors * patches : parts === 2 ? patches : 1));

/** Sorts ranges and merges them into as few as possible, in n log n. */
export const uniteRanges = (ranges: VersionRanges): VersionRanges => {
  const united: [number, number][] = [];
  for (const [from, end] of ranges.filter(([from, end]) => from < end).sort((a, b) => a[0] - b[0])) {
    const last = united[united.length - 1];
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], end);
    else united.push([from, end]);
  }
  return united;
};

/** All other versions. */
export const complementOf = (ranges: VersionRanges): VersionRanges => {
  const rest: [number, number][] = [];
  let from = 0;
  for (const [start, end] of uniteRanges(ranges)) {
    if (from < start) rest.push([from, start]);
    from = end;
  }
  if (from < endOfVersions) rest.push([from, endOfVersions]);
  return rest;
};

/** Whether a version is in these ranges. */
export const holdsVersion = (ranges: VersionRanges, version: number): boolean =>
  ranges.some(([from, end]) => from <= version && version < end);

const short = (version: number): string => writeVersion(version).replace(/\.0$/, '');

/** The greatest version before a number, with as few parts as possible: `13` before `14.0`, `9.3.3` before `9.3.4`. */
const lastBefore = (end: number): string => {
  if (end % patches > 0) return writeVersion(end - 1);
  const [major = '', minor = ''] = writeVersion(end - 1).split('.');
  return end % (minors * patches) > 0 ? `${major}.${minor}` : major;
};

const describeRange = ([from, end]: VersionRanges[number]): string => {
  if (end === endOfVersions) return from === 0 ? 'any' : `${short(from)} or newer`;
  const last = lastBefore(end);
  if (from === 0) return `${last} or older`;
  return short(from) === last || writeVersion(from) === last ? last : `${short(from)} to ${last}`;
};

/** In words: `iOS 14 or newer`, `iOS 9 to 9.3.3`, `iOS 11, 13 to 14`, `no iOS`. */
export const describeVersions = (ranges: VersionRanges): string =>
  ranges.length === 0 ? 'no iOS' : `iOS ${ranges.map(describeRange).join(', ')}`;
