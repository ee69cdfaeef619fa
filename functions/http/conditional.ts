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
