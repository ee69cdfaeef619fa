import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Replaces functions of `node:fs`, also for modules that import them by name. Returns what puts them back. To replace the
 * module would take a process of its own, in which the test runner loads everything anew.
 */
export const replaceInFs = (functions: Partial<typeof fs>): (() => void) => {
  const before = Object.fromEntries(Object.keys(functions).map((name) => [name, fs[name as keyof typeof fs]]));
  const put = (those: object): void => {
    Object.assign(fs, those);
    syncBuiltinESMExports();
  };
  put(functions);
  return () => put(before);
};
