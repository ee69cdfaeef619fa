import { versionOrder } from '../catalog/version-order.ts';

/** The one with the newest version, the first among equals; undefined if there is none. */
export const newestBy = <One>(all: readonly One[], versionOf: (one: One) => string): One | undefined =>
  all.reduce<One | undefined>(
    (best, one) => (best === undefined || versionOrder(versionOf(one), versionOf(best)) > 0 ? one : best),
    undefined,
  );
