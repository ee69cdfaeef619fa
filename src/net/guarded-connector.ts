import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { NetworkError, toNetworkError } from './network-error.ts';
import type { AddressRule } from './public-address.ts';

const refusal = (host: string, addresses: readonly string[]) =>
  new NetworkError(
    'address-refused',
    `${host} is not an address of the public Internet${addresses.length > 0 ? ` (${addresses.join(', ')})` : ''}`,
  );

// The socket gets the addresses that were checked and asks nobody again, so there is no second resolution for a name
// server to answer differently.
const handOver =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (hostname, options, callback) => {
    const [first] = addresses;
    if (first === undefined) callback(refusal(hostname, []), '', 0);
    else if (options.all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };

/**
 * The connector of every outgoing connection. It opens no socket to an address that `isAllowed` refuses, whether the
 * URL names the address itself or a name that resolves to it; the error is then a `NetworkError` `address-refused`.
 * `find` resolves a name to all its addresses, by a clock of its own; `timeout` is in milliseconds and covers connecting
 * and TLS.
 */
export const createGuardedConnector = (options: {
  isAllowed: AddressRule;
  timeout: number;
  find: (hostname: string) => Promise<LookupAddress[]>;
  ca?: string | undefined;
}): buildConnector.connector => {
  const { isAllowed, timeout, find, ca } = options;
  const findAllowed = async (target: string): Promise<LookupAddress[]> => {
    const host = target.replace(/^\[|\]$/g, '');
    const family = isIP(host);
    const addresses = family === 0 ? await find(host) : [{ address: host, family }];
    const allowed = addresses.filter(({ address }) => isAllowed(address, host));
    if (allowed.length > 0) return allowed;
    throw refusal(target, family === 0 ? addresses.map(({ address }) => address) : []);
  };
  return (target, callback) => {
    findAllowed(target.hostname).then(
      (addresses) => {
        const lookup = handOver(addresses);
        buildConnector({ allowH2: false, timeout, lookup, ...(ca === undefined ? {} : { ca }) })(target, callback);
      },
      (error: unknown) => callback(toNetworkError(error, false, target.hostname), null),
    );
  };
};
