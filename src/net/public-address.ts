import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

// The IANA special-purpose address registries (RFC 6890 and its updates), less what is globally reachable.
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
// Below 2000::/3, the only range handed out for unicast: protocol assignments with Teredo and ORCHID, documentation
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
// Both carry an IPv4 address in their last 32 bits, and that is where the packets go (RFC 4291, RFC 6052).
const embedding = new BlockList();
embedding.addSubnet('::ffff:0:0', 96, 'ipv6');
embedding.addSubnet('64:ff9b::', 96, 'ipv6');

// Without the brackets of a URL and the zone of a link-local address.
const bare = (text: string): string => text.replace(/^\[|\]$/g, '').replace(/%.*$/, '');

const embeddedAddress = (address: string): string => {
  const dotted = /(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  if (dotted !== undefined) return dotted;
  // The URL parser writes the shortest form, from which the last two groups can be read off.
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::').at(-1)?.split(':') ?? [];
  const high = Number.parseInt(groups.at(-2) || '0', 16);
  const low = Number.parseInt(groups.at(-1) || '0', 16);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
};

/**
 * Whether an IP address, as a resolver or a URL writes it, is one of the public Internet: not loopback, private,
 * link-local, multicast or otherwise special. IPv4 addresses mapped or translated (NAT64) into IPv6 count as what
 * they embed. Anything that is no IP address is not public.
 */
export const isPublicAddress = (text: string): boolean => {
  const address = bare(text);
  if (isIPv4(address)) return !special.check(address, 'ipv4');
  if (!isIPv6(address)) return false;
  if (embedding.check(address, 'ipv6')) return isPublicAddress(embeddedAddress(address));
  return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
};

/** The addresses that connections may go to, and under which name of a host. */
export type AddressRule = (address: string, host: string) => boolean;

/**
 * What an operator allows: `false` for public addresses alone, `true` for all, a list for public ones and those in the
 * listed networks (`10.0.0.0/8`, `fd00::/8`, or single addresses), and a `host` wherever that is: see `createHostRule`.
 */
export type AllowedNetworks = boolean | readonly string[] | { readonly host: string };

const nameOf = (host: string): string => host.replace(/^\[|\]$|\.$/g, '').toLowerCase();

// RFC 6761, RFC 6762, RFC 8375 and the reservation of "internal": names that lead nowhere from outside.
const isPrivateName = (name: string): boolean =>
  isIP(name) === 0 ? /^[^.]+$|\.(?:local|localhost|internal|home\.arpa)$/.test(name) : !isPublicAddress(name);

/**
 * The rule for a host that an operator names. It may be anywhere; what it leads to from there is a stranger's choice, and has
 * to be public, unless its own name shows that it is one of the operator's network.
 */
const createHostRule = (named: string): AddressRule => {
  const own = nameOf(named);
  const isOfOwnNetwork = isPrivateName(own);
  return (address, host) => isOfOwnNetwork || nameOf(host) === own || isPublicAddress(address);
};

/** The rule for what an operator allows. Throws `RangeError` for a network that cannot be read. */
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
