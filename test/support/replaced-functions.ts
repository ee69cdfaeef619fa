import { syncBuiltinESMExports } from 'node:module';

/**
 * Replaces functions of a module of Node, given as its default export, also for what imports them by name. Returns what
 * puts them back. To replace the module itself would take a process of its own, in which the test runner loads everything
 * anew.
 */
export const replaceFunctions = <T extends object>(module: T, functions: Partial<T>): (() => void) => {
  const before = Object.fromEntries(Object.keys(functions).map((name) => [name, module[name as keyof T]]));
  const put = (those: object): void => {
    Object.assign(module, those);
    syncBuiltinESMExports();
  };
  put(functions);
  return () => put(before);
};
