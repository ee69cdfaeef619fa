import { stageOf } from './version-stage.ts';

/** How a package is to be had, of which results are narrowed: one of them for each. */
export const packageStates = ['current', 'pre-release', 'stale'] as const;
export type PackageState = (typeof packageStates)[number];

/** The state of a package, by its version and whether its repository was last read without fail. */
export const stateOf = (version: string, isStale: boolean): PackageState =>
  isStale ? 'stale' : stageOf(version) === undefined ? 'current' : 'pre-release';
