/// <reference types="astro/client" />
// The entry of the bundle of pages. Astro bundles it with every page; see bundle.ts, which loads what comes out.

import { StaticPaths } from 'astro:static-paths';
import { createApp } from 'astro/app/entrypoint';

/** The pages, as an Astro app that renders one per request. */
export const app = createApp({ streaming: false });

export { readKey } from './page-keys.ts';

/** Every page there is in the catalog at hand, and what its content depends on where it says so. */
export const listPages = () => new StaticPaths(app).getAll();
