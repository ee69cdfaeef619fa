import { encodeFolderName } from '../contract/filenames.ts';
import { site } from './context.ts';

/** What a page that leads on is told of the repository. */
export interface Moved {
  readonly slug: string;
  readonly name: string;
}

/**
 * The pages of the slugs that repositories had before, which lead to where they are now. Neither the sitemap nor the search
 * names them.
 */
export const formerPaths = () =>
  [...site().catalog.former].map(([former, { slug, name }]) => ({
    params: { former: encodeFolderName(former) },
    props: { slug, name } satisfies Moved,
    cacheKey: JSON.stringify([slug, name]),
  }));
