import { defineConfig } from 'astro/config';

// src/site/bundle.ts runs Astro and adds the folders. It keeps the bundle, and src/site/render.ts renders with it the pages whose cacheKey has changed.
export default defineConfig({
  output: 'static',
  publicDir: './src/public',
  trailingSlash: 'ignore',
  build: { format: 'directory', inlineStylesheets: 'never', assets: 'assets' },
  devToolbar: { enabled: false },
  // Scripts in files of their own, however small: the pages' Content-Security-Policy runs no others.
  // Scripts that are loaded later are asked for by their place beside the others, wherever the site lies, and not ahead.
  vite: { build: { assetsInlineLimit: 0, modulePreload: false, target: 'safari15', cssTarget: ['safari14'] } },
});
