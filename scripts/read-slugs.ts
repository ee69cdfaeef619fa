import { UsageError } from './options.ts';

/** Parses the slugs in a flag, separated by commas. Each must be in `known`. Throws a UsageError. */
export const readSlugs = (flag: string, text: string, known: ReadonlySet<string>): string[] => {
  const slugs = text
    .split(',')
    .map((slug) => slug.trim())
    .filter((slug) => slug !== '');
  if (slugs.length === 0) throw new UsageError(`--${flag} must name a repository, not "${text}"`);
  const unknown = slugs.filter((slug) => !known.has(slug));
  if (unknown.length > 0) throw new UsageError(`--${flag}: the manifest has no ${unknown.join(', ')}`);
  return slugs;
};
