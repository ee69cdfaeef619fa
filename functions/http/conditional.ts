/**
 * Whether an If-None-Match header names this entity tag: `*`, one tag or a list of them, compared weakly (RFC 9110,
 * section 13.1.2).
 */
export const matchesEntityTag = (header: string | undefined, etag: string): boolean => {
  if (header === undefined) return false;
  if (header === etag) return true;
  if (header.trim() === '*') return true;
  return [...header.matchAll(/(?:W\/)?("[^"]*")/g)].some(([, tag]) => tag === etag);
};

// Headers that a 304 answer repeats: those about the client's copy, and those that every answer has.
const validatorHeaders: ReadonlySet<string> = new Set([
  'etag',
  'cache-control',
  'vary',
  'access-control-allow-origin',
  'x-content-type-options',
]);

/** The headers of a 304 answer, from those of the 200 answer that it replaces (RFC 9110, section 15.4.5). */
export const notModifiedHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => validatorHeaders.has(name.toLowerCase())));
