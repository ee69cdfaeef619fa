import type { SafetyEntry } from '../contract/safety.ts';

/** Says of a repository address whether it is safe to add. */
export interface SafetyList {
  /**
   * False where the text is no URI, or where its host, or its host and the beginning of its path, is listed
   * (decisions, section 4).
   */
  check(uri: string): boolean;
}

interface Place {
  readonly host: string;
  readonly path: readonly string[];
}

// Each run of escapes by itself, as forgiving servers do: what is no escape elsewhere must not hide the others.
const decode = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });

/** Nobody encodes an address more often than this, and a server that decodes it is not known. */
const mostDecodings = 8;

// "%2572epo" is "repo" to a server that decodes twice. A percent sign that was encoded any number of times is one.
const decodeFully = (text: string): string => {
  let decoded = text;
  for (let pass = 0; pass < mostDecodings && decoded.includes('%'); pass++) {
    decoded = decode(decoded.replace(/%(?:25)+(?=[0-9a-f]{2})/gi, '%'));
  }
  return decoded;
};

// The path as the most forgiving server would read it: decoded, "\" as "/", empty and dot segments resolved.
const pathSegments = (pathname: string): string[] => {
  const segments: string[] = [];
  for (const segment of decodeFully(pathname).normalize('NFKC').toLowerCase().split(/[/\\]/)) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return segments;
};

// WHATWG parsing of an https URL lower-cases the host, decodes its percent-encoding, maps Unicode names to their ASCII
// form and writes numeric addresses in one notation; that is why every scheme is read as https.
const parsePlace = (address: string): Place | undefined => {
  const url = URL.parse(`https://${address}`);
  const host = url?.hostname.replace(/\.+$/, '');
  return url && host ? { host, path: pathSegments(url.pathname) } : undefined;
};

const schemes = /^(?:[a-z][a-z0-9+.-]*:[/\\]*)+/i;
const schemeAndSlashes = /^[a-z][a-z0-9+.-]*:[/\\]{2,}/i;

// What a client may take the text for. The first reading is ours and decides whether it is a URI at all; the others are
// those of clients that add "https://" in front of anything, or that forgive missing and turned slashes.
const readings = (text: string): Array<Place | undefined> => {
  // The URL standard drops these wherever they stand.
  const trimmed = text.replace(/[\t\n\r]/g, '').trim();
  const ours = schemeAndSlashes.test(trimmed) ? trimmed.replace(schemeAndSlashes, '') : trimmed;
  return [ours, trimmed, trimmed.replace(schemes, '')].map(parsePlace);
};

const isAddress = (host: string): boolean => host.startsWith('[') || /^\d+(\.\d+){3}$/.test(host);

// The host and every name above it: a.x.example, x.example, example.
const namesAbove = (host: string): string[] => {
  if (isAddress(host)) return [host];
  const labels = host.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
};

/**
 * A safety list of these entries. Throws a TypeError where the host of an entry is none, so that a slip in the list
 * cannot silently list nothing.
 */
export const createSafetyList = (entries: readonly SafetyEntry[]): SafetyList => {
  const paths = new Map<string, string[][]>();
  for (const entry of entries) {
    const place = parsePlace(entry.host + (entry.path ?? ''));
    if (!place) throw new TypeError(`Not a host name in the safety list: ${entry.host}`);
    paths.set(place.host, [...(paths.get(place.host) ?? []), [...place.path]]);
  }

  const isListed = ({ host, path }: Place): boolean =>
    namesAbove(host).some((name) =>
      paths.get(name)?.some((listed) => listed.every((segment, index) => segment === path[index])),
    );

  return {
    check: (uri) => {
      const [ours, ...others] = readings(uri);
      return ours !== undefined && ![ours, ...others].some((place) => place !== undefined && isListed(place));
    },
  };
};
