import { generationPath } from '../../src/contract/generation.ts';
import { apiRoot } from '../../src/contract/paths.ts';
import { type Dependencies, type StoredDocument, Unavailable } from '../dependencies.ts';
import { chooseEncoding, type Encoding } from './accept-header.ts';
import { closedHeaders, openHeaders } from './answers.ts';
import { matchesEntityTag, notModifiedHeaders } from './conditional.ts';

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

const contentTypeOf = (path: string): string =>
  contentTypes[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? unknownType;

// Names that hold a digest of their content (the site generator's bundles, the chunks of its search index, catalogs), or a
// number that no other content ever has (change lists).
const lasting =
  /^assets\/|^pagefind\/(fragment|index|filter)\/|^pagefind\/[^/]*\.pf_meta$|^v2\/(catalog|inventory|changes)\//;
// What names the others must be of this moment.
const momentary: ReadonlySet<string> = new Set([generationPath.current, generationPath.signature]);

/**
 * Clients ask again after a minute, a CDN after ten, and may go on with what it has while it asks, for a day: a build
 * is seen soon, and an origin that is away is not noticed.
 */
const cacheControlOf = (path: string): string => {
  if (lasting.test(path)) return 'public, max-age=31536000, immutable';
  if (momentary.has(path)) return 'public, no-cache';
  return 'public, max-age=60, s-maxage=600, stale-while-revalidate=86400';
};

const documentHeaders = (
  path: string,
  document: StoredDocument,
  vary: readonly string[],
  cache: string | undefined,
): Record<string, string> => {
  const contentType = contentTypeOf(path);
  const varies = compressible.test(contentType) ? [...vary, 'Accept-Encoding'] : vary;
  return {
    'Content-Type': contentType,
    'Content-Length': String(document.size),
    ETag: document.etag,
    'Cache-Control': cache ?? cacheControlOf(path),
    ...(document.encoding === 'identity' ? {} : { 'Content-Encoding': document.encoding }),
    ...(varies.length > 0 ? { Vary: varies.join(', ') } : {}),
    ...(path.startsWith(`${apiRoot}/`) ? openHeaders : closedHeaders),
  };
};

interface DocumentOptions {
  readonly status?: number;
  /** What else than the coding the choice of this document depended on. */
  readonly vary?: readonly string[];
  /** Cache-Control, where not that of the path. */
  readonly cache?: string;
}

/**
 * The answer with a published file, for GET and HEAD: 200, or 304 where the client has it. Undefined where there is no
 * such file.
 */
export const documentAnswer = async (
  request: Request,
  { documents }: Pick<Dependencies, 'documents'>,
  path: string,
  { status = 200, vary = [], cache }: DocumentOptions = {},
): Promise<Response | undefined> => {
  const encoding: Encoding = compressible.test(contentTypeOf(path))
    ? chooseEncoding(request.headers.get('accept-encoding') ?? undefined)
    : 'identity';
  // A file may be replaced between being described and being opened; then it is described anew.
  for (let attempt = 0; attempt < 5; attempt++) {
    const document = await documents.read(path, encoding);
    if (document === undefined) return undefined;
    const headers = documentHeaders(path, document, vary, cache);
    if (status === 200 && matchesEntityTag(request.headers.get('if-none-match') ?? undefined, document.etag)) {
      return new Response(null, { status: 304, headers: notModifiedHeaders(headers) });
    }
    if (request.method === 'HEAD') return new Response(null, { status, headers });
    if (document.body !== undefined) return new Response(document.body as Uint8Array<ArrayBuffer>, { status, headers });
    const stream = await document.open();
    if (stream !== undefined) return new Response(stream, { status, headers });
  }
  throw new Unavailable(`${path} is being replaced too often`);
};
