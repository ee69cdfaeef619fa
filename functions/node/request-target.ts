import { basePathOf } from '../../src/contract/paths.ts';

/**
 * A target in which a "#" is escaped: some clients send addresses of repositories without percent-encoding, and it has
 * no meaning in a request, but would end the address for all that read it as a URL.
 */
export const escapeTarget = (target: string): string => target.replaceAll('#', '%23');

/**
 * What is asked for, as seen from the place where everything lies: without the path of the public address, where the
 * target (RFC 9112, section 3.2: a path, or all of an address) brings it.
 */
export const targetBelow = (basePath: string, target: string): string => {
  if (basePath === '') return target;
  const [host = ''] = target.startsWith('/') ? [] : (/^https?:\/\/[^/?#]*/i.exec(target) ?? []);
  const rest = target.slice(host.length);
  if (!rest.startsWith(basePath)) return target;
  const below = rest.slice(basePath.length);
  if (below.startsWith('/')) return host + below;
  return below === '' || below.startsWith('?') ? `${host}/${below}` : target;
};

/** The path of a public address, asked with each request; it is another only where a build or a generation named another address. */
export const followPath = (publicAddress: () => string): (() => string) => {
  let of = '';
  let path = '';
  return () => {
    const address = publicAddress();
    if (address !== of) {
      path = basePathOf(address);
      of = address;
    }
    return path;
  };
};
