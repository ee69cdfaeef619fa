import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { NetworkError } from './network-error.ts';
import type { AddressRule } from './public-address.ts';

/** Resolves a host name to all its addresses, as `dns.lookup` with `all` does. */
export type ResolveHost = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const refusal = (host: string, addresses: readonly string[]) =>
  new NetworkError(
    'address-refused',
    `${host} is not an address of the public Internet${addresses.length > 0 ? ` (${addresses.join(', ')})` : ''}`,
  );

// The addresses that a socket may be opened to are decided inside the lookup that the socket itself makes, so there is
// no second resolution for a name server to answer differently.
const guardLookup =
  (resolve: ResolveHost, isAllowed: AddressRule): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const allowed = addresses.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (first === undefined) {
        const refused = addresses.map(({ address }) => address);
        callback(refusal(hostname, refused), '', 0);
      } else if (options.all) {
        callback(null, allowed);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };

/**
 * The connector of every outgoing connection. It opens no socket to an address that `isAllowed` refuses, whether the
 * URL names the address itself or a name that resolves to it; the error is then a `NetworkError` `address-refused`.
 * `timeout` is in milliseconds and covers resolving, connecting and TLS.
 */
export const createGuardedConnector = (options: {
  isAllowed: AddressRule;
  timeout: number;
  resolve?: ResolveHost | undefined;
  ca?: string | undefined;
}): buildConnector.connector => {
  const { isAllowed, timeout, resolve = systemLookup, ca } = options;
  const connect = buildConnector({
    allowH2: false,
    timeout,
    lookup: guardLookup(resolve, isAllowed),
    ...(ca === undefined ? {} : { ca }),
  });
  return (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    // A socket to a literal address makes no lookup.
    if (isIP(host) !== 0 && !isAllowed(host)) {
      queueMicrotask(() => callback(refusal(target.hostname, []), null));
      return;
    }
    connect(target, callback);
  };
};
