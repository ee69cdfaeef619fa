import { compareVersions } from '../apt/version.ts';

/** The order of versions (Debian Policy, section 5.6.12), for rooms that may not import src/apt. */
export const versionOrder: (a: string, b: string) => number = compareVersions;
