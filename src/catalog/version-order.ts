import { compareVersions } from '../apt/version.ts';

/** The order of versions (Debian Policy, section 5.6.12), for those who do not read APT's formats themselves. */
export const versionOrder: (a: string, b: string) => number = compareVersions;
