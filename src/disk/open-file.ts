import { closeSync, openSync } from 'node:fs';

/** Opens a file, as `openSync` does, which `using` closes at the end of its block. */
export const openFile = (...asked: Parameters<typeof openSync>): Disposable & { readonly descriptor: number } => {
  const descriptor = openSync(...asked);
  return { descriptor, [Symbol.dispose]: () => closeSync(descriptor) };
};
