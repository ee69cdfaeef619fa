// Builds for jailbroken devices, by the architecture that the package says: where a file system may be written anywhere
// it is rootful, below a folder of its own rootless, and RootHide hides that folder.

/** What a build is made for, by its Architecture. */
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

/** As a person reads it. */
export const buildTitles: Readonly<Record<Build | 'all', string>> = {
  rootful: 'Rootful',
  rootless: 'Rootless',
  roothide: 'RootHide',
  all: 'Any build',
};

/** The same within a sentence. */
export const wordOf = (build: Build): string =>
  build === 'roothide' ? buildTitles[build] : buildTitles[build].toLowerCase();

/** Whether an Architecture is one of jailbroken devices with iOS, known here or not. */
export const isDeviceArchitecture = (architecture: string): boolean => architecture.startsWith('iphoneos-');

/** What the Architecture of a package is for; undefined for any that is not of these devices. */
export const buildOf = (architecture: string): Build | 'all' | undefined =>
  architecture === 'all' ? 'all' : builds.find((build) => architectures[build] === architecture);
