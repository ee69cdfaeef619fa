import { generationPath, signaturesFolder } from './generation.ts';
import { olderFiles } from './older-addresses/operations.ts';
import { apiRoot } from './paths.ts';

// Headers that every host sets on published files: our server, an object store, a static host by its rules.

/** The content type of any other file. */
export const unknownType = 'application/octet-stream';

/** Content types by the ending of a file's name: every ending that a build publishes below the root of the API is here. */
export const contentTypes: Readonly<Record<string, string>> = {
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
  // The catalog as rows.
  portion: unknownType,
};
const compressible = /^text\/|json|xml|yaml|javascript|wasm/;

/** Whether bodies of a content type are worth compressing. */
export const isCompressible = (contentType: string): boolean => compressible.test(contentType);

/** The content type of a published file, by its path below the output folder. */
export const contentTypeOf = (path: string): string =>
  contentTypes[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? unknownType;

/**
 * The files that scripts of any site may read, as patterns of paths below the output folder: those of the API and of
 * older addresses, and what the site has for programs, which may run in browsers: feeds and badges.
 */
export const openFiles: readonly string[] = [
  `${apiRoot}/*`,
  ...[...olderFiles].filter((file) => !file.startsWith(`${apiRoot}/`)),
  ...['feed.atom', 'feed.json'].flatMap((feed) => [feed, `*/${feed}`]),
  'badge/*',
];

/**
 * Files with a Cache-Control of their own, as patterns of paths below the output folder. `*` stands for any characters.
 */
interface CacheRule {
  readonly files: readonly string[];
  readonly cache: string;
}

/** The first matching rule says how long a file may be reused. The last rule matches all files. */
export const cacheRules: readonly CacheRule[] = [
  {
    // Names that contain a digest of their content (the bundles of the pages, the chunks of the search index,
    // catalogs), or a number that is never reused (change lists).
    files: [
      'assets/*',
      ...['words', 'heads', 'rows', 'values'].map((kind) => `search-index/${kind}/*`),
      'v2/catalog/*',
      'v2/inventory/*',
      'v2/changes/*',
      'v2/portions/*',
    ],
    cache: 'public, max-age=31536000, immutable',
  },
  // A file that names others has to be current, and a signature may be replaced by one with another key.
  {
    files: [generationPath.current, generationPath.signature, `${signaturesFolder}/*`, 'search-index/index.json'],
    cache: 'public, no-cache',
  },
  // Clients ask again after a minute, a CDN after ten, and it may serve its copy for a day while it asks. So a build is
  // seen soon, and nobody notices when the origin is down.
  { files: ['*'], cache: 'public, max-age=60, s-maxage=600, stale-while-revalidate=86400' },
];

/** The pattern of a cache rule as the source of a regular expression, without anchors. */
export const patternSource = (pattern: string): string =>
  pattern.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('*', '.*');

const compiled = cacheRules.map(({ files, cache }) => ({
  pattern: new RegExp(`^(?:${files.map(patternSource).join('|')})$`),
  cache,
}));

/** The Cache-Control of a published file, by its path below the output folder. */
export const cacheControlOf = (path: string): string => compiled.find(({ pattern }) => pattern.test(path))?.cache ?? '';

const open = new RegExp(`^(?:${openFiles.map(patternSource).join('|')})$`);

/** Whether scripts of any site may read a published file, by its path below the output folder. */
export const isOpenFile = (path: string): boolean => open.test(path);
