/** Former slugs with the present ones, as the search page keeps them: "former=present". No slug contains "=" or a blank. */
export const writeFormer = (slugs: Iterable<readonly [former: string, present: string]>): string =>
  [...slugs].map((pair) => pair.join('=')).join(' ');

/** The present slug of a repository, if `slug` is a former one in such a text, or else `slug` itself. */
export const presentSlug = (written: string, slug: string): string => {
  const pair = written.split(' ').find((one) => one.startsWith(`${slug}=`));
  return pair?.slice(slug.length + 1) ?? slug;
};
