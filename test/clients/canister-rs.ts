import type { Wire } from './client.ts';
import { array, filled, object, optional, string, unsigned, url } from './decoding.ts';

// canister-rs: Rust, whose serde refuses a missing field that is no Option.

const page = object({
  message: string,
  date: filled,
  refs: object({ nextPage: optional(url), previousPage: optional(url) }),
  count: unsigned,
  data: array(object({ package: string, refs: object({ meta: url, repo: url }) })),
});

export const search = async (wire: Wire, typed: string) =>
  page((await wire.get(`/v2/jailbreak/package/search?q=${encodeURIComponent(typed)}`)).body, 'search');
