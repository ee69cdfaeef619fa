/** The longest chain of causes that is described. */
const longest = 8;

/** A provider's error code (RFC 6749, sections 4.1.2.1 and 5.2). No token has these characters and length. */
const isRefusal = (text: unknown) => typeof text === 'string' && /^[a-z_]{1,32}$/.test(text);

/**
 * Describes why something failed by names and codes alone, the first cause last. The message of a database driver may
 * quote a row, and that of a provider the credentials that it was sent; names and codes contain neither. Of SQLite every
 * failure has one code: what tells a full disk from a damaged file is its own fixed text for the result (sqlite3_errstr).
 */
export const describeSilently = (error: unknown): string => {
  const told: string[] = [];
  for (let each = error; each instanceof Error && told.length < longest; each = each.cause) {
    const { code, errstr, error: refusal } = each as { code?: unknown; errstr?: unknown; error?: unknown };
    const codes = [
      typeof code === 'string' || typeof code === 'number' ? code : [],
      typeof errstr === 'string' ? `(${errstr})` : [],
      isRefusal(refusal) ? refusal : [],
    ];
    told.push([each.name, ...codes.flat()].join(' '));
  }
  return told.length === 0 ? 'unknown' : told.join(', because of ');
};
