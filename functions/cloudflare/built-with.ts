import type { SafetyPlace } from '../../src/safety/safety-list.ts';

/** The data that a bundle holds besides code. `npm run bundle -- cloudflare` writes it in place of this module. */
export const builtWith: { readonly safety: readonly SafetyPlace[] } = { safety: [] };
