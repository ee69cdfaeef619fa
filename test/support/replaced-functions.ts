import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll } from 'vitest';

/**
 * Replaces functions of a module of Node, given as its default export, also for what imports them by name, during the
 * tests of the file that calls this. To replace the module itself would take a process of its own, in which the test
 * runner loads everything anew.
 */
export const replaceFunctions = <T extends object>(module: T, functions: Partial<T>): void => {
  const before = Object.fromEntries(Object.keys(functions).map((name) => [name, module[name as keyof T]]));
  const put = (those: object): void => {
    Object.assign(module, those);
    syncBuiltinESMExports();
  };
  beforeAll(() => put(functions));
  afterAll(() => put(before));
};
