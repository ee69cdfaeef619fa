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

/**
 * What counts as one client: an IPv4 address, or a network of IPv6 ones, because one subscriber usually has a whole /64
 * (RFC 6177).
 */
export const clientNetwork = (client: string): string => {
  if (!client.includes(':')) return client;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(client)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = client.split('::');
  const first = head.split(':').filter(Boolean);
  const last = tail === undefined ? [] : tail.split(':').filter(Boolean);
  const middle = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return [...first, ...middle, ...last].slice(0, 4).join(':');
};
