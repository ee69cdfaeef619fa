import type { Repository } from './repository.ts';

/**
 * What the pages of packages tell of a repository that has them. They are given no more: while it stays the same, as most
 * of what is known of a repository does not, its packages need not be looked at (package-inputs.ts).
 */
export const holderOf = ({ slug, name, addedAt, signing, doubt, record }: Repository) => {
  const { uri, suite, quality, bootstrap } = record;
  const sells = record.origin_supports_payment_v1 || record.origin_supports_payment_v2;
  return { slug, name, addedAt, signing, doubt, sells, record: { uri, suite, quality, bootstrap } };
};

/** A repository that has a package. */
export type Holder = ReturnType<typeof holderOf>;
