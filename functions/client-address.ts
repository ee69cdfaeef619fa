/**
 * The address of the client, for limits. Every proxy appends the address it was asked from to X-Forwarded-For, so with
 * `trustedProxies` of our own in front the entry that many from the end is the client's, and whatever stands before it
 * was written by the client. With none, or where the header is shorter, it is the peer of the connection.
 */
export const clientAddress = (peer: string, forwardedFor: string | undefined, trustedProxies: number): string => {
  if (trustedProxies === 0 || forwardedFor === undefined) return peer;
  const hops = forwardedFor.split(',').map((hop) => hop.trim());
  return hops[hops.length - trustedProxies] || peer;
};
