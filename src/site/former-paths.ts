import { encodeFolderName } from '../contract/filenames.ts';
import { site } from './context.ts';

/** The repository to which a page leads on. */
export interface Moved {
  readonly slug: string;
  readonly name: string;
}

/** The pages of former slugs, which lead to the present ones. Neither the sitemap nor the search contains them. */
export const formerPaths = () =>
  [...site().catalog.former].map(([former, { slug, name }]) => ({
    params: { former: encodeFolderName(former) },
    props: { slug, name } satisfies Moved,
    cacheKey: JSON.stringify([slug, name]),
  }));
