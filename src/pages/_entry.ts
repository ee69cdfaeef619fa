/// <reference types="astro/client" />
// The entry of the bundle of pages. Astro bundles it with every page; see src/site/bundle.ts, which loads what comes out.

import { StaticPaths } from 'astro:static-paths';
import { createApp } from 'astro/app/entrypoint';
import { decodeFileName } from '../contract/filenames.ts';
import { AlikePages } from '../site/alike-pages.ts';
import type { Pages } from '../site/bundle.ts';
import { packageAtomText } from '../site/feed-pages.ts';
import { readKey } from '../site/page-keys.ts';
import PackagePage from './package/[...folder].astro';

const app = createApp({ streaming: false });
const packages = new AlikePages(PackagePage);
const below = '/package/';
const feedEnding = '/feed.atom';

const renderAlike: Pages['renderAlike'] = (pathname, byAstro) => {
  if (!pathname.startsWith(below)) return undefined;
  // A few identifiers are written otherwise in folders than in files.
  const id = decodeFileName(pathname.slice(below.length));
  return id === undefined ? undefined : packages.render({ id }, byAstro);
};

const answerAlike: Pages['answerAlike'] = (pathname) => {
  if (!pathname.startsWith(below) || !pathname.endsWith(feedEnding)) return undefined;
  const id = decodeFileName(pathname.slice(below.length, -feedEnding.length));
  try {
    return id === undefined ? undefined : packageAtomText(id);
  } catch {
    // Asked of Astro, it fails with the name of the page.
    return undefined;
  }
};

export const pages: Pages = { app, readKey, listPages: () => new StaticPaths(app).getAll(), renderAlike, answerAlike };
