import { basePathOf } from '../../src/contract/paths.ts';

/**
 * Escapes a "#" in a target. Some clients send addresses of repositories without percent-encoding. A "#" has no meaning
 * in a request, but would end the address for everything that reads it as a URL.
 */
export const escapeTarget = (target: string): string => target.replaceAll('#', '%23');

/**
 * Removes the path of the public address from a target (RFC 9112, section 3.2: a path, or a whole address), if it has
 * that.
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

/** A target as an absolute URL, for what reads only its path. */
export const absolute = (target: string): string => (target.startsWith('/') ? `http://localhost${target}` : target);

/**
 * The path of a public address, for each request. It is computed again only after a build or a generation changed the
 * address.
 */
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
