/** What a version says of itself besides its number. */
export type VersionStage = 'Debug build' | 'Alpha' | 'Beta' | 'Release candidate' | 'Snapshot' | 'Pre-release';

// In the order in which they are asked. Tilde sorts before the release (Debian Policy, 5.6.12); Theos writes "+debug"
// for what is not built for release.
const stages: readonly (readonly [RegExp, VersionStage])[] = [
  [/[+~.-]debug/i, 'Debug build'],
  [/alpha/i, 'Alpha'],
  [/beta|~b\d*(?!\w)/i, 'Beta'],
  // Not that at the end of a word, such as "src". Browsers read this too, of which older ones cannot look behind.
  [/(?:^|[^a-z])rc[.-]?\d*(?![a-z])/i, 'Release candidate'],
  [/[~+.-](?:git|svn|snapshot|nightly|20\d{6})/i, 'Snapshot'],
  // Built from the released source for an older system.
  [/~(?!bpo|deb\d|ubuntu)|[+.-](?:pre|dev|test)(?![a-z])/i, 'Pre-release'],
];

/** The stage of a version; undefined of one that looks released. */
export const stageOf = (version: string): VersionStage | undefined =>
  stages.find(([pattern]) => pattern.test(version))?.[1];
