import type { SafetyEntry } from '../../src/contract/safety.ts';

/** What the bundle holds besides programs: `npm run bundle -- cloudflare` writes it in the place of this. */
export const builtWith: { readonly safety: readonly SafetyEntry[] } = { safety: [] };
