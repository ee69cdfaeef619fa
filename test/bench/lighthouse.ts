import { existsSync } from 'node:fs';
import path from 'node:path';

// Lighthouse brings seventy packages, a quarter of all installed files, and only this benchmark uses it. So it has a
// package of its own, which only needs to be installed to get these figures.

/** The folder where it is installed, by `npm ci --prefix`. */
export const lighthouseFolder: string = path.join(import.meta.dirname, '..', '..', 'tools', 'lighthouse');

/** The part of it that is used: the scores of a page by category, at most 1; none if it could not load the page. */
type Lighthouse = (
  url: string,
  flags: { readonly port: number; readonly logLevel: 'silent'; readonly onlyCategories: readonly string[] },
) => Promise<
  { readonly lhr: { readonly categories: Readonly<Record<string, { readonly score: number | null }>> } } | undefined
>;

/** Lighthouse; undefined if it is not installed. */
export const loadLighthouse = async (): Promise<Lighthouse | undefined> => {
  const entry = path.join(lighthouseFolder, 'node_modules', 'lighthouse', 'core', 'index.js');
  return existsSync(entry) ? ((await import(entry)).default as Lighthouse) : undefined;
};
