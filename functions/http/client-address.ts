/**
 * The canonical form of an IP address (RFC 5952 for IPv6; an IPv4 address in IPv6 notation becomes the IPv4 address).
 * Removes what proxies add: a port, brackets, quotes, a zone. Undefined if the text is no address.
 */
export const canonicalAddress = (text: string): string | undefined => {
  const written = text.trim().replace(/^"(.*)"$/, '$1');
  const dotted = /^(\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?$/.exec(written)?.[1];
  if (dotted !== undefined) {
    const octets = dotted.split('.').map(Number);
    return octets.every((octet) => octet < 256) ? octets.join('.') : undefined;
  }
  const inner = (/^\[([^\]]*)\](?::\d{1,5})?$/.exec(written)?.[1] ?? written).split('%')[0] ?? '';
  // The longest notation has 45 characters, so anything longer need not be parsed.
  if (!/^[\da-f:.]{2,45}$/i.test(inner) || !URL.canParse(`http://[${inner}]`)) return undefined;
  const address = new URL(`http://[${inner}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(address);
  if (mapped === null) return address;
  const [high = 0, low = 0] = mapped.slice(1).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
};

/**
 * The address of the client, for limits, in canonical form. Every proxy appends the address that it was asked from to
 * X-Forwarded-For, so with `trustedProxies` of our own in front, that many entries from the end is the client's; the
 * client may have written whatever precedes it. Without proxies, or if the header is shorter or that entry is no
 * address, it is the peer of the connection: clients that cannot be told apart count as one.
 */
export const clientAddress = (peer: string, forwardedFor: string | undefined, trustedProxies: number): string => {
  const hop = trustedProxies === 0 ? undefined : forwardedFor?.split(',').at(-trustedProxies);
  return (hop === undefined ? undefined : canonicalAddress(hop)) ?? canonicalAddress(peer) ?? peer;
};

/**
 * What counts as one client: an IPv4 address, or a network of IPv6 addresses, because one subscriber usually has a
 * whole /64, often a /56, and sometimes a /48 (RFC 6177). `client` is an address in any form, or a /64 as this function
 * returns it. Any other text is returned as it is.
 */
export const clientNetwork = (client: string, prefix: 64 | 56 | 48 = 64): string => {
  const address = canonicalAddress(client) ?? client;
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const first = head.split(':').filter(Boolean);
  const last = tail === undefined ? [] : tail.split(':').filter(Boolean);
  const middle = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  const groups = [...first, ...middle, ...last];
  if (prefix === 64) return groups.slice(0, 4).join(':');
  const site = groups.slice(0, 3).join(':');
  if (prefix === 48) return `${site}::/48`;
  return `${site}:${(Number.parseInt(groups[3] ?? '0', 16) >> 8).toString(16)}00::/56`;
};

/**
 * The networks that may belong to one client, the narrowest first: only the address for IPv4, its /64, /56 and /48 for
 * IPv6.
 */
export const clientNetworks = (client: string): readonly [subscriber: string, home?: string, site?: string] =>
  client.includes(':') ? [clientNetwork(client), clientNetwork(client, 56), clientNetwork(client, 48)] : [client];
