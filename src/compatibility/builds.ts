// Builds for jailbroken devices, by the package's architecture: rootful if files may be written anywhere, rootless if
// only below one folder, and RootHide hides that folder.

/** The kinds of builds, by Architecture. */
const architectures = {
  rootful: 'iphoneos-arm',
  rootless: 'iphoneos-arm64',
  roothide: 'iphoneos-arm64e',
} as const;

/** How a device is jailbroken. */
export type Build = keyof typeof architectures;

export const builds = Object.keys(architectures) as readonly Build[];

/** The Architecture that a build states. */
export const architectureOf = (build: Build): string => architectures[build];

/** Names for people. */
export const buildTitles: Readonly<Record<Build | 'all', string>> = {
  rootful: 'Rootful',
  rootless: 'Rootless',
  roothide: 'RootHide',
  all: 'Any build',
};

/** The same within a sentence. */
export const wordOf = (build: Build): string =>
  build === 'roothide' ? buildTitles[build] : buildTitles[build].toLowerCase();

/** Whether an Architecture belongs to jailbroken iOS devices, known here or not. */
export const isDeviceArchitecture = (architecture: string): boolean => architecture.startsWith('iphoneos-');

/** The build that a package's Architecture stands for; undefined if it is not for these devices. */
export const buildOf = (architecture: string): Build | 'all' | undefined =>
  architecture === 'all' ? 'all' : builds.find((build) => architectures[build] === architecture);
