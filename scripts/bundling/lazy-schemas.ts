import path from 'node:path';
import type { Plugin } from 'rolldown';

const lazyZod = path.join(import.meta.dirname, 'lazy-zod.ts');
const contract = path.join(import.meta.dirname, '..', '..', 'src', 'contract', path.sep);

/** Makes the contract's schemas when they are first used. What only serves uses a few of them. */
export const lazySchemas: Plugin = {
  name: 'lazy schemas',
  resolveId: (name, from) => (name === 'zod' && from?.startsWith(contract) ? lazyZod : undefined),
};
