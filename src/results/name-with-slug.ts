import { cutText } from './markup.ts';

/** How much of a long name stands before a slug, which lists would cut off otherwise. */
const longest = 60;

/** What to call a repository where another is called the same. */
export const nameWithSlug = ({ slug, name }: { readonly slug: string; readonly name: string }): string =>
  `${cutText(name, longest)} (${slug})`;
