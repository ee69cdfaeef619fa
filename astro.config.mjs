import { defineConfig } from 'astro/config';

// src/site/build.ts runs Astro and adds what differs from build to build: the public address and the folders.
export default defineConfig({
  output: 'static',
  publicDir: './src/public',
  trailingSlash: 'ignore',
  build: { concurrency: 8, format: 'directory', inlineStylesheets: 'never', assets: 'assets' },
  devToolbar: { enabled: false },
  experimental: { incrementalBuild: true },
  // What the last build left is reused; src/site/build.ts removes what no page owns any more.
  // Scripts in files of their own, however small: the pages' Content-Security-Policy runs no others.
  vite: { build: { emptyOutDir: false, assetsInlineLimit: 0, target: 'safari15', cssTarget: ['safari14'] } },
});
