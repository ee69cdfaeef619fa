/** The longest chain that is told. */
const longest = 8;

/**
 * Why something failed, in names and codes alone, the first cause last: a driver's message can quote the row it choked
 * on, and a provider's the credentials that it was sent; neither stands in a code.
 */
export const describeSilently = (error: unknown): string => {
  const told: string[] = [];
  for (let each = error; each instanceof Error && told.length < longest; each = each.cause) {
    const { code } = each as { code?: unknown };
    told.push(typeof code === 'string' || typeof code === 'number' ? `${each.name} ${code}` : each.name);
  }
  return told.length === 0 ? 'unknown' : told.join(', because of ');
};
