// What every host says of an answer besides what it says of a file (file-headers.ts): our server, and the rules of others.

/** Headers of every answer of the read API; scripts of any site may read it. */
export const openHeaders = {
  'Access-Control-Allow-Origin': '*',
  'X-Content-Type-Options': 'nosniff',
} as const;

/** How many records of a page of results, which are its last, all words but one fit; without it all words fit all. */
export const inPartHeader = 'Records-In-Part';

/** Headers of every answer of the site. */
export const closedHeaders = { 'X-Content-Type-Options': 'nosniff' } as const;

// Long enough for a client that repeats itself.
const briefly = 'public, max-age=30, s-maxage=60';

/** How long a computed answer may be reused. */
export const cacheControl = {
  /** The same question gives the same answer until the next build. */
  shared: briefly,
  /** It tells what someone has installed, or is a fact of this moment. */
  none: 'no-store',
  /** An unknown name may be known after the next build. */
  missing: briefly,
  /** A redirect to the address with a slash at its end. */
  moved: 'public, max-age=60',
} as const;

/** The methods of an address that is read, as `Allow` lists them. */
export const readMethods = 'GET, HEAD, OPTIONS';

/** Those of a page, which scripts of other sites may not read, and of any other file of the site. */
export const pageMethods = 'GET, HEAD';

/** Headers of the answer (204) to what a browser asks before a script of another site may go ahead, and to any OPTIONS. */
export const preflightHeaders = (methods: string): Record<string, string> => ({
  Allow: methods,
  'Access-Control-Allow-Methods': methods,
  'Access-Control-Allow-Headers': 'Content-Type, If-None-Match',
  'Access-Control-Max-Age': '86400',
  'Cache-Control': 'public, max-age=3600',
  ...openHeaders,
});
