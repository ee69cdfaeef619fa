import { NetworkError } from './network-error.ts';

const usualPorts = new Set(['', '80', '443', '8080', '8443']);

/**
 * The target of a redirect: `location` resolved against the address that answered. Throws a `NetworkError` if no
 * repository would redirect there: another scheme than http(s), from https to http, a port that is neither usual for
 * the web nor that of the first request (`firstPort`, as URL.port writes it), or with credentials.
 */
export const readRedirect = (from: URL, location: string | undefined, firstPort: string): URL => {
  const to = location === undefined ? null : URL.parse(location, from.href);
  if (to === null) {
    const where = location === undefined ? 'without saying where' : `to "${location}"`;
    throw new NetworkError('redirect-unreadable', `${from} redirects ${where}`);
  }
  if (to.protocol !== 'https:' && to.protocol !== 'http:') {
    throw new NetworkError('scheme-refused', `${from} redirects to ${to.protocol}, not to http or https`);
  }
  if (from.protocol === 'https:' && to.protocol === 'http:') {
    throw new NetworkError('redirect-insecure', `${from} redirects from https to http (${to.host})`);
  }
  if (!usualPorts.has(to.port) && to.port !== firstPort) {
    throw new NetworkError('port-refused', `${from} redirects to port ${to.port}`);
  }
  if (to.username !== '' || to.password !== '') {
    throw new NetworkError('redirect-unreadable', `${from} redirects to an address with a user name in it`);
  }
  to.hash = '';
  return to;
};
