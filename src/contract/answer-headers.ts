// Headers that every host sets on answers, besides those of files (file-headers.ts): our server, and others by their
// rules.

/** Headers of every answer of the read API, which scripts of any site may read. */
export const openHeaders = {
  'Access-Control-Allow-Origin': '*',
  'X-Content-Type-Options': 'nosniff',
} as const;

/**
 * How many records at the end of a page of results match all words but one. Without this header all match all words.
 */
export const inPartHeader = 'Records-In-Part';

/** Headers of every answer of the site. */
export const closedHeaders = { 'X-Content-Type-Options': 'nosniff' } as const;

// Long enough for a client that repeats its request.
const briefly = 'public, max-age=30, s-maxage=60';

/** How long a computed answer may be reused. */
export const cacheControl = {
  /** A question has the same answer until the next build. */
  shared: briefly,
  /** For an answer that reveals what somebody has installed, or holds only at this moment. */
  none: 'no-store',
  /** An unknown name may exist after the next build. */
  missing: briefly,
  /** A redirect to the address with a trailing slash. */
  moved: 'public, max-age=60',
} as const;

/** The methods of an address that can only be read, as in `Allow`. */
export const readMethods = 'GET, HEAD, OPTIONS';

/** The methods of pages, which scripts of other sites may not read, and of all other files of the site. */
export const pageMethods = 'GET, HEAD';

/** Headers of the answer (204) to OPTIONS, which browsers send before a script of another site may make a request. */
export const preflightHeaders = (methods: string): Record<string, string> => ({
  Allow: methods,
  'Access-Control-Allow-Methods': methods,
  'Access-Control-Allow-Headers': 'Content-Type, If-None-Match',
  'Access-Control-Max-Age': '86400',
  'Cache-Control': 'public, max-age=3600',
  ...openHeaders,
});
