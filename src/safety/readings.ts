import { decodeFully } from './escapes.ts';

// The possible readings of a text that is given as the address of a repository. Clients, and the parsers that they use,
// differ in what they tolerate, so a text has several readings (decisions, section 7).

/** A host in canonical form, and the rest of the address as written. */
export interface Place {
  readonly host: string;
  /** Path, query and fragment. */
  readonly rest: string;
}

/** The longest host name, in characters (RFC 1035, section 2.3.4, as text and without the last dot). */
const longestHost = 253;
// With a final dot and a port.
const longestWritten = longestHost + '.:65535'.length;

/** Thrown if a text is no address with a host, or has more readings than an honest one. */
export class NoAddress extends Error {
  override name = 'NoAddress';
}

// An IPv4 address written as an IPv6 address leads to the same machine (RFC 4291, section 2.5.5), also through a
// translator in networks that have only IPv6, as phone networks often do (RFC 6052, section 2.1).
const asVersion4 = (host: string): string => {
  const [, high, low] = /^\[(?:::ffff:|::|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host) ?? [];
  if (high === undefined || low === undefined) return host;
  return [high, low].flatMap((half) => [Number.parseInt(half, 16) >> 8, Number.parseInt(half, 16) & 255]).join('.');
};

// Names that the parser would return unchanged. Most names are like this, and parsing costs more than all the rest.
const canonical = /^(?!.*xn--)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]+$/;

/** Whether this is the name of a host in canonical form, of which there is one reading. */
export const isPlainName = (host: string): boolean => host.length <= longestHost && canonical.test(host);

// WHATWG parsing of an https URL converts the host to lower case, decodes its percent-encoding, maps Unicode names to
// ASCII, and writes numeric addresses in one notation. That is why every scheme is parsed as https. It also accepts
// quotes, commas and semicolons in names. No host has such a name, and other parsers may take them for its end.
const parseHost = (written: string): string | undefined => {
  if (canonical.test(written)) return written;
  const host = URL.parse(`https://${written}/`)?.hostname.replace(/\.+$/, '');
  return host !== undefined && /^(?:[a-z0-9._-]*|\[[0-9a-f:.]+\])$/.test(host) ? host : undefined;
};

// The readings of a text mostly have the same host, and parsing a name costs more than all the rest.
let lastWritten = '';
let lastHost: string | undefined;
const canonicalHost = (written: string): string | undefined => {
  if (written !== lastWritten) [lastWritten, lastHost] = [written, parseHost(written)];
  return lastHost;
};

// The possible ends of an authority. Browsers take a backslash for a slash, others for a part of user information, and
// some programs look only for the first slash.
const authorityEnds = [/[/\\?#]/, /[/?#]/, /[/#]/, /\//] as const;

/**
 * The place whose authority is at the beginning of this address; undefined if it has no host. Throws NoAddress if the
 * host is too long, which is checked first because parsing a name takes quadratic time.
 */
const placeAt = (address: string, authorityEnd: RegExp = authorityEnds[0]): Place | undefined => {
  const found = address.search(authorityEnd);
  const end = found < 0 ? address.length : found;
  const start = end === 0 ? 0 : address.lastIndexOf('@', end - 1) + 1;
  if (end - start > longestWritten) throw new NoAddress('The host is longer than any');
  const host = start === end ? undefined : canonicalHost(address.slice(start, end));
  if (host === undefined || host === '') return undefined;
  if (host.length > longestHost) throw new NoAddress('The host is longer than any');
  return { host: asVersion4(host), rest: address.slice(end) };
};

// Schemes after which browsers accept any number of slashes (URL standard, "special" schemes with a host).
const web = /^(?:https?|ftp|wss?):[/\\]*/i;
const schemeAndAuthority = /^[a-z][a-z0-9+.-]*:[/\\]{2}(?![/\\])/i;
const scheme = /^[a-z][a-z0-9+.-]*:/i;
const hostAndPort = /^[^/\\?#@:]+:\d{1,5}(?:[/\\?#]|$)/;
const schemes = /^(?:[a-z][a-z0-9+.-]*:[/\\]*)+/i;

// The text from its authority on, as the URL standard reads it. Without a scheme it is read as https.
const fromAuthority = (text: string): string | undefined => {
  const beginning = [web, schemeAndAuthority, /^[/\\]{2,}/].find((pattern) => pattern.test(text));
  if (beginning !== undefined) return text.replace(beginning, '');
  return /^[/\\]/.test(text) || (scheme.test(text) && !hostAndPort.test(text)) ? undefined : text;
};

// A page of Cydia that makes it add a repository, with any text around that page's host.
const sharePage =
  /^(?:https?:)?[/\\]*(?:[^/\\?#]*@)?(?:www\.)?cydia\.saurik\.com\.?(?::\d*)?[/\\]+api[/\\]+share[^?#]*[?#](?:.*[?&#])?source=/is;

// What package managers open to add the repository whose address follows.
const callbacks = [
  /^sileo:[/\\]*source[/\\]/i,
  /^zbra:[/\\]*sources[/\\]+add[/\\]/i,
  /^installer:[/\\]*add[/\\](?:(?:repo|source)=)?/i,
  /^cydia:[/\\]*sources[/\\]+add[/\\]/i,
  /^cydia:[/\\]*url[/\\]/i,
  sharePage,
] as const;

/** Nobody nests more callbacks than this. */
const mostNested = 4;

// The text and, if it is a callback, the address that it wraps, and so on.
const unwrap = (text: string): string[] => {
  const texts = [text];
  for (let inner = text; ; ) {
    const callback = callbacks.find((pattern) => pattern.test(inner));
    if (callback === undefined) return texts;
    if (texts.length > mostNested) throw new NoAddress('Callbacks within callbacks');
    inner = inner.replace(callback, '');
    texts.push(inner);
  }
};

/** No honest callback of a package manager has more parts. */
const mostParts = 16;

// An application with any other scheme may use any part of the address as that of a repository, and the page above may
// name several.
const parts = (text: string): string[] => {
  const isWeb = !scheme.test(text) || web.test(text) || hostAndPort.test(text) || /^[a-z0-9.-]+\+https?:/i.test(text);
  if (isWeb && !sharePage.test(text)) return [];
  const found: string[] = [];
  for (const { index, 0: separators } of text.matchAll(/[/\\?#&=]+/g)) {
    if (found.length === mostParts) throw new NoAddress('More parts than a callback has');
    found.push(text.slice(index + separators.length));
  }
  return found;
};

/** Nobody lists more addresses in one text. */
const mostListed = 16;

// Somebody who pastes several addresses into a package manager adds each of them.
const listed = (text: string): string[] => {
  const addresses = text.split(/\s+/).filter((each) => /^[a-z][a-z0-9+.-]*:[/\\]/i.test(each));
  if (addresses.length > mostListed) throw new NoAddress('More addresses than anybody adds at once');
  return addresses.length > 1 ? addresses : [];
};

const isPlace = (place: Place | undefined): place is Place => place !== undefined;

// The first reading is that of the URL standard, undefined if it finds no host. The others are those of clients that
// put "https://" before anything, that tolerate missing and wrong slashes, and that look elsewhere for the end of the
// authority.
const readingsOf = (text: string): [Place | undefined, ...Place[]] => {
  const address = fromAuthority(text);
  const bare = text.replace(schemes, '');
  const others = new Set([text, bare].filter((other) => other !== address)).values().toArray();
  const readings = others.map((each) => placeAt(each));
  for (const each of new Set([address ?? bare, bare])) {
    if (!each.includes('@')) continue;
    for (const end of authorityEnds.slice(1)) readings.push(placeAt(each, end));
  }
  return [address === undefined ? undefined : placeAt(address), ...readings.filter(isPlace)];
};

/**
 * All places to which an application may go if it is given this text; at least one. Throws NoAddress if the text, or
 * the one that it wraps for a package manager, is no address with a host, if a host is longer than 253 characters, or
 * if it wraps more than an honest one does.
 */
export const readPlaces = (text: string): Place[] => {
  // The URL standard removes these characters anywhere.
  const plain = text.replace(/[\t\n\r]/g, '').trim();
  const decoded = decodeFully(plain);
  const [, ...wrapped] = unwrap(decoded);
  const addresses = [plain, ...wrapped].flatMap((address) => {
    const [place, ...others] = readingsOf(address);
    if (place === undefined) throw new NoAddress('It is no URI with a host');
    return [place, ...others];
  });
  const others = decoded === plain ? [] : [decoded, ...unwrap(plain).slice(1)].flatMap(readingsOf);
  const several = [...new Set([...listed(text), ...listed(decoded)])].flatMap((each) =>
    unwrap(each).flatMap(readingsOf),
  );
  return [...addresses, ...others, ...several, ...parts(decoded).map((part) => placeAt(part))].filter(isPlace);
};
