import { defineConfig } from 'astro/config';

// The oldest Safari of which scripts and styles are: that of iOS 14, since many who install tweaks stay where their jailbreak
// works. As iOS and not as Safari, because phones need prefixes that computers do not.
const oldest = 'ios14';

// What every page loads before anything is done with it, and what is loaded later shares: one file is smaller than the five
// or six that the bundler makes of it, and there sooner.
const shared = {
  name: 'shared',
  test: /\/client\/(?:address|index-presence|stated|visitor-device)\.ts$|\/contract\/search-page\.ts$|preload-helper/,
};

// Astro has its own word on these for what browsers load, over that of `vite.build`.
const forBrowsers = {
  name: 'for-browsers',
  configEnvironment: (name) =>
    name !== 'client'
      ? undefined
      : {
          build: {
            target: oldest,
            // Scripts that are loaded later are asked for by their place beside the others, wherever the site lies, and not ahead.
            modulePreload: false,
            rolldownOptions: { output: { codeSplitting: { groups: [shared] } } },
          },
        },
};

// src/site/bundle.ts runs Astro and adds the folders. It keeps the bundle, and src/site/render.ts renders with it the pages whose cacheKey has changed.
export default defineConfig({
  output: 'static',
  publicDir: './src/public',
  trailingSlash: 'ignore',
  build: { format: 'directory', inlineStylesheets: 'never', assets: 'assets' },
  devToolbar: { enabled: false },
  // Scripts in files of their own, however small: the pages' Content-Security-Policy runs no others.
  vite: { plugins: [forBrowsers], build: { assetsInlineLimit: 0, cssTarget: oldest } },
});
