import type { Repository } from './repository.ts';

/**
 * What the pages of packages show of a repository that has them. They get nothing else, so that while this stays the
 * same, which most of what is known of a repository does not, its packages need not be examined (package-inputs.ts).
 */
export const holderOf = ({ slug, name, addedAt, signing, doubt, record }: Repository) => {
  const { uri, suite, quality, bootstrap } = record;
  const sells = record.origin_supports_payment_v1 || record.origin_supports_payment_v2;
  return { slug, name, addedAt, signing, doubt, sells, record: { uri, suite, quality, bootstrap } };
};

/** A repository that has a package. */
export type Holder = ReturnType<typeof holderOf>;
