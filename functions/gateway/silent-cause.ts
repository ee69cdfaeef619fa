/** The longest chain that is told. */
const longest = 8;

/** What a provider calls its refusal (RFC 6749, sections 4.1.2.1 and 5.2); no token has that alphabet and length. */
const isRefusal = (text: unknown) => typeof text === 'string' && /^[a-z_]{1,32}$/.test(text);

/**
 * Why something failed, in names and codes alone, the first cause last: a driver's message can quote the row it choked
 * on, and a provider's the credentials that it was sent; neither stands in a code.
 */
export const describeSilently = (error: unknown): string => {
  const told: string[] = [];
  for (let each = error; each instanceof Error && told.length < longest; each = each.cause) {
    const { code, error: refusal } = each as { code?: unknown; error?: unknown };
    const codes = [typeof code === 'string' || typeof code === 'number' ? code : [], isRefusal(refusal) ? refusal : []];
    told.push([each.name, ...codes.flat()].join(' '));
  }
  return told.length === 0 ? 'unknown' : told.join(', because of ');
};
