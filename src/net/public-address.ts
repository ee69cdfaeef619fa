import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

// The IANA special-purpose address registries (RFC 6890 and its updates), except ranges that are globally reachable.
const special = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  special.addSubnet(network, prefix, 'ipv4');
}
// Special ranges in 2000::/3, the only range for unicast: protocol assignments with Teredo and ORCHID, documentation,
// and 6to4, which embeds an IPv4 address that nobody routes any more.
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  special.addSubnet(network, prefix, 'ipv6');
}
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');
// Both contain an IPv4 address in their last 32 bits, to which packets are sent (RFC 4291, RFC 6052).
const embedding = new BlockList();
embedding.addSubnet('::ffff:0:0', 96, 'ipv6');
embedding.addSubnet('64:ff9b::', 96, 'ipv6');

// Removes the brackets of a URL and the zone of a link-local address.
const bare = (text: string): string => text.replace(/^\[|\]$/g, '').replace(/%.*$/, '');

const embeddedAddress = (address: string): string => {
  const dotted = /(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  if (dotted !== undefined) return dotted;
  // The URL parser writes the shortest form, whose last two groups are the embedded address.
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::').at(-1)?.split(':') ?? [];
  const high = Number.parseInt(groups.at(-2) || '0', 16);
  const low = Number.parseInt(groups.at(-1) || '0', 16);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
};

/**
 * Whether an IP address, as written by a resolver or a URL, belongs to the public Internet: not loopback, private,
 * link-local, multicast or otherwise special. IPv4 addresses mapped or translated (NAT64) into IPv6 count as the
 * embedded address. A text that is no IP address is not public.
 */
export const isPublicAddress = (text: string): boolean => {
  const address = bare(text);
  if (isIPv4(address)) return !special.check(address, 'ipv4');
  if (!isIPv6(address)) return false;
  if (embedding.check(address, 'ipv6')) return isPublicAddress(embeddedAddress(address));
  return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
};

/** Whether connections to an address, under a host name, are allowed. */
export type AddressRule = (address: string, host: string) => boolean;

/**
 * What an operator allows: `false` for public addresses only, `true` for all, a list for public ones and those in these
 * networks (`10.0.0.0/8`, `fd00::/8`, or single addresses), or a `host` at any address: see `createHostRule`.
 */
export type AllowedNetworks = boolean | readonly string[] | { readonly host: string };

const nameOf = (host: string): string => host.replace(/^\[|\]$|\.$/g, '').toLowerCase();

// RFC 6761, RFC 6762, RFC 8375 and the reserved "internal": names that have no meaning on the Internet.
const isPrivateName = (name: string): boolean =>
  isIP(name) === 0 ? /^[^.]+$|\.(?:local|localhost|internal|home\.arpa)$/.test(name) : !isPublicAddress(name);

/** Whether a host, as in a URL, says by itself that it cannot be reached from the Internet. */
export const isPrivateHost = (host: string): boolean => isPrivateName(nameOf(host));

/**
 * The rule for a host that an operator names. It may be anywhere. Where it redirects to is a stranger's choice and has
 * to be public, unless the named host itself is clearly inside the operator's network.
 */
const createHostRule = (named: string): AddressRule => {
  const own = nameOf(named);
  const isOfOwnNetwork = isPrivateName(own);
  return (address, host) => isOfOwnNetwork || nameOf(host) === own || isPublicAddress(address);
};

/** The rule for what an operator allows. Throws `RangeError` for an invalid network. */
export const createAddressRule = (allowPrivateNetworks: AllowedNetworks): AddressRule => {
  if (allowPrivateNetworks === true) return () => true;
  if (allowPrivateNetworks === false) return isPublicAddress;
  if ('host' in allowPrivateNetworks) return createHostRule(allowPrivateNetworks.host);
  const allowed = new BlockList();
  for (const network of allowPrivateNetworks) {
    const [address = '', prefix] = network.split('/');
    const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined;
    const bits = prefix === undefined ? (family === 'ipv4' ? 32 : 128) : Number(prefix);
    if (family === undefined || !Number.isInteger(bits)) throw new RangeError(`${network} is no network`);
    allowed.addSubnet(address, bits, family);
  }
  return (text) => {
    const address = bare(text);
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    return isIP(address) !== 0 && (allowed.check(address, family) || isPublicAddress(address));
  };
};
