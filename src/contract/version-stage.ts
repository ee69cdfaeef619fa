/** What a version says about itself besides its number. */
export type VersionStage = 'Debug build' | 'Alpha' | 'Beta' | 'Release candidate' | 'Snapshot' | 'Pre-release';

// In the order in which they are tried. A tilde sorts before the release (Debian Policy, 5.6.12); Theos writes "+debug"
// for builds that are not for release.
const stages: readonly (readonly [RegExp, VersionStage])[] = [
  [/[+~.-]debug/i, 'Debug build'],
  [/alpha/i, 'Alpha'],
  [/beta|~b\d*(?!\w)/i, 'Beta'],
  // Not at the end of a word, such as "src". Browsers run this, too, and older ones have no lookbehind.
  [/(?:^|[^a-z])rc[.-]?\d*(?![a-z])/i, 'Release candidate'],
  [/[~+.-](?:git|svn|snapshot|nightly|20\d{6})/i, 'Snapshot'],
  // A build of released source for an older system.
  [/~(?!bpo|deb\d|ubuntu)|[+.-](?:pre|dev|test)(?![a-z])/i, 'Pre-release'],
];

/** The stage of a version; undefined if it looks released. */
export const stageOf = (version: string): VersionStage | undefined =>
  stages.find(([pattern]) => pattern.test(version))?.[1];
