import { generationPath } from './generation.ts';

// What every host says of a published file: our server, an object store, the rules of a static host.

const contentTypes: Readonly<Record<string, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
  atom: 'application/atom+xml; charset=utf-8',
  deb: 'application/vnd.debian.binary-package',
  txt: 'text/plain; charset=utf-8',
  webmanifest: 'application/manifest+json; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  wasm: 'application/wasm',
  ico: 'image/x-icon',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  avif: 'image/avif',
  gif: 'image/gif',
  woff2: 'font/woff2',
  woff: 'font/woff',
  // RFC 7515, section 9.2.1; RFC 8878, section 7.1.
  jws: 'application/jose',
  zst: 'application/zstd',
};
const unknownType = 'application/octet-stream';
const compressible = /^text\/|json|xml|yaml|javascript|wasm/;

/** Whether bodies of a content type are worth compressing. */
export const isCompressible = (contentType: string): boolean => compressible.test(contentType);

/** The content type of a published file, by its path below the output folder. */
export const contentTypeOf = (path: string): string =>
  contentTypes[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? unknownType;

// Names that hold a digest of their content (the site generator's bundles, the chunks of its search index, catalogs), or a
// number that no other content ever has (change lists).
const lasting =
  /^assets\/|^pagefind\/(fragment|index|filter)\/|^pagefind\/[^/]*\.pf_meta$|^v2\/(catalog|inventory|changes)\//;
// What names the others must be of this moment.
const momentary: ReadonlySet<string> = new Set([generationPath.current, generationPath.signature]);

/**
 * The Cache-Control of a published file, by its path below the output folder.
 *
 * Clients ask again after a minute, a CDN after ten, and may go on with what it has while it asks, for a day: a build
 * is seen soon, and an origin that is away is not noticed.
 */
export const cacheControlOf = (path: string): string => {
  if (lasting.test(path)) return 'public, max-age=31536000, immutable';
  if (momentary.has(path)) return 'public, no-cache';
  return 'public, max-age=60, s-maxage=600, stale-while-revalidate=86400';
};
