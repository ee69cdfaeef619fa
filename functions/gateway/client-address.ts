import { isIP } from 'node:net';

/**
 * The client's address as the outermost trusted proxy saw it. `X-Forwarded-For` is believed for the last `proxies`
 * entries alone, since only those were written by proxies of ours; with 0 it is ignored. What is no IP address there
 * falls back to the address of the connection. IPv4 in IPv6 notation is given as IPv4.
 */
export const computeClientAddress = (connection: string, forwardedFor: string | undefined, proxies: number): string => {
  const hops = proxies === 0 ? [] : (forwardedFor?.split(',') ?? []).map((hop) => hop.trim());
  const seen = [...hops, connection];
  const address = seen[Math.max(0, seen.length - 1 - proxies)] ?? connection;
  return (isIP(address) > 0 ? address : connection).replace(/^::ffff:(?=\d+\.)/i, '').toLowerCase();
};
