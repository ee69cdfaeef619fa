import { stageOf } from './version-stage.ts';

/** The availability of a package, by which results are narrowed. Each package has one of these states. */
export const packageStates = ['current', 'pre-release', 'stale'] as const;
export type PackageState = (typeof packageStates)[number];

/** The state of a package, by its version and whether its repository was last read without failure. */
export const stateOf = (version: string, isStale: boolean): PackageState =>
  isStale ? 'stale' : stageOf(version) === undefined ? 'current' : 'pre-release';
