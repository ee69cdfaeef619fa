import { existsSync } from 'node:fs';
import path from 'node:path';

// Lighthouse brings seventy packages, a quarter of all files that would be installed, and only this benchmark uses it. So
// it has a package of its own, which nobody has to install who does not ask for its figures.

/** Where it is installed: `npm ci --prefix` and this folder. */
export const lighthouseFolder: string = path.join(import.meta.dirname, '..', '..', 'tools', 'lighthouse');

/** What is used of it: the scores of a page by category, of 1 at most; none where it could not look. */
type Lighthouse = (
  url: string,
  flags: { readonly port: number; readonly logLevel: 'silent'; readonly onlyCategories: readonly string[] },
) => Promise<
  { readonly lhr: { readonly categories: Readonly<Record<string, { readonly score: number | null }>> } } | undefined
>;

/** Lighthouse, where it is installed. */
export const loadLighthouse = async (): Promise<Lighthouse | undefined> => {
  const entry = path.join(lighthouseFolder, 'node_modules', 'lighthouse', 'core', 'index.js');
  return existsSync(entry) ? ((await import(entry)).default as Lighthouse) : undefined;
};
