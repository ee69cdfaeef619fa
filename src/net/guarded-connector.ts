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

// The socket gets the checked addresses and asks nobody again, so a name server has no second chance to answer
// differently.
const handOver =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (hostname, options, callback) => {
    const [first] = addresses;
    if (first === undefined) callback(refusal(hostname, []), '', 0);
    else if (options.all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };

// Enough for one retransmission, and an answer from the other side of the world.
const attemptMs = 2500;

/**
 * How long each of several addresses of a host is tried before the next one, as an option of a connector; `timeout` is
 * for all of them, in milliseconds. Node's default of 250 ms for all but the last address is too short for distant
 * hosts, and if the last address is IPv6 and this machine has none, the host could not be reached at all.
 */
export const patience = (timeout: number, addresses = 1): { readonly autoSelectFamilyAttemptTimeout: number } => ({
  autoSelectFamilyAttemptTimeout: Math.min(attemptMs, Math.floor(timeout / addresses)),
});

/**
 * The connector for all outgoing connections. It opens no socket to an address that `isAllowed` refuses, whether the
 * URL contains the address itself or a name that resolves to it; then the error is a `NetworkError` `address-refused`.
 * `find` resolves a name to all its addresses, with a timeout of its own; `timeout` is in milliseconds and covers
 * connecting and TLS.
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
        const options = {
          allowH2: false,
          timeout,
          lookup: handOver(addresses),
          ...patience(timeout, addresses.length),
        };
        const connect = buildConnector({ ...options, ...(ca === undefined ? {} : { ca }) });
        connect(target, callback);
      },
      (error: unknown) => callback(toNetworkError(error, false, target.hostname), null),
    );
  };
};
