/// <reference types="astro/client" />
// The entry of the bundle of pages. Astro bundles it with every page; see bundle.ts, which loads what comes out.

import { StaticPaths } from 'astro:static-paths';
import { createApp } from 'astro/app/entrypoint';
import { decodeFileName } from '../contract/filenames.ts';
import PackagePage from '../pages/package/[...folder].astro';
import { AlikePages } from './alike-pages.ts';
import { packageAtomText } from './feed-pages.ts';

/** The pages, as an Astro app that renders one per request. */
export const app = createApp({ streaming: false });

export { readKey } from './page-keys.ts';

/** Every page there is in the catalog at hand, and what its content depends on where it says so. */
export const listPages = () => new StaticPaths(app).getAll();

const packages = new AlikePages(PackagePage);
const below = '/package/';
const feedEnding = '/feed.atom';

/**
 * A page of which there are very many alike, rendered without a request where that comes to the same; else `byAstro`
 * renders it. Undefined where there are no others like it.
 *
 * @param pathname of a page, as Astro lists it
 */
export const renderAlike = (pathname: string, byAstro: () => Promise<string>): Promise<string> | undefined => {
  if (!pathname.startsWith(below)) return undefined;
  // A few identifiers are written otherwise in folders than in files.
  const id = decodeFileName(pathname.slice(below.length));
  return id === undefined ? undefined : packages.render({ id }, byAstro);
};

/** The same of files that are no pages: the feeds of packages, of which Astro would hand on what is answered as it is. */
export const answerAlike = (pathname: string): string | undefined => {
  if (!pathname.startsWith(below) || !pathname.endsWith(feedEnding)) return undefined;
  const id = decodeFileName(pathname.slice(below.length, -feedEnding.length));
  try {
    return id === undefined ? undefined : packageAtomText(id);
  } catch {
    // Asked of Astro, it fails with the name of the page.
    return undefined;
  }
};
