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

const utf8 = new TextDecoder();

// Each run of escapes by itself and what is not UTF-8 in it as U+FFFD, as forgiving servers do: what is no escape must
// not hide the others.
const decode = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    const bytes = Uint8Array.from({ length: escapes.length / 3 }, (_, index) =>
      Number.parseInt(escapes.slice(3 * index + 1, 3 * index + 3), 16),
    );
    return utf8.decode(bytes);
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

// Bringing combining marks into their canonical order takes time that grows with the square of their number, and no text
// of any language holds more than thirty of them in a row (Unicode, annex 15, stream-safe text).
const tooManyMarks = /[\p{M}\uff9e\uff9f]{31,}/gu;
const normalize = (text: string): string =>
  text
    .replace(tooManyMarks, (marks) => marks.slice(0, 30))
    .normalize('NFKC')
    .toLowerCase();

// The path as the most forgiving server would read it: decoded, "\" as "/", empty and dot segments resolved.
const pathSegments = (pathname: string): string[] => {
  const segments: string[] = [];
  for (const segment of normalize(decodeFully(pathname)).split(/[/\\]/)) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return segments;
};

/** The longest name of a host, in characters (RFC 1035, section 2.3.4, as text and without the last dot). */
const longestHost = 253;

// Where the host ends that an address begins with, and where it starts: after the last "@" of what precedes its path.
const hostBounds = (address: string): { start: number; end: number } => {
  const path = address.search(/[/\\?#]/);
  const end = path < 0 ? address.length : path;
  return { start: end === 0 ? 0 : address.lastIndexOf('@', end - 1) + 1, end };
};

// What reads names takes time that grows with the square of their length, so a text that is longer than any name is told
// from one before anything else is done with it.
const hasLongHost = (address: string): boolean => {
  const { start, end } = hostBounds(address);
  return end - start > longestHost + ':65535'.length + 1;
};

// WHATWG parsing of an https URL lower-cases the host, decodes its percent-encoding, maps Unicode names to their ASCII
// form and writes numeric addresses in one notation; that is why every scheme is read as https.
const parsePlace = (address: string): Place | undefined => {
  const bare = address.replace(/^[/\\]+/, '');
  if (hasLongHost(bare)) return undefined;
  const url = URL.parse(`https://${bare.slice(hostBounds(bare).start)}`);
  const host = url?.hostname.replace(/\.+$/, '');
  return url && host && host.length <= longestHost ? { host, path: pathSegments(url.pathname) } : undefined;
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
