import { decodeFully } from './escapes.ts';

// What a text that is given as the address of a repository may be taken for. Clients, and the parsers below them, differ
// in what they forgive, so a text has several readings (decisions, section 7).

/** A host in its canonical form, and what follows it in the address, as it stands there. */
export interface Place {
  readonly host: string;
  /** Path, query and fragment. */
  readonly rest: string;
}

/** The longest name of a host, in characters (RFC 1035, section 2.3.4, as text and without the last dot). */
const longestHost = 253;
// With a last dot and a port.
const longestWritten = longestHost + '.:65535'.length;

/** Thrown where a text cannot be read as an address with a host, or holds more readings than an honest one. */
export class NoAddress extends Error {
  override name = 'NoAddress';
}

// An address of IPv4 that is written as one of IPv6 leads to the same machine (RFC 4291, section 2.5.5), through a
// translator where the network has IPv6 alone, as those of phones often do (RFC 6052, section 2.1).
const asVersion4 = (host: string): string => {
  const [, high, low] = /^\[(?:::ffff:|::|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host) ?? [];
  if (high === undefined || low === undefined) return host;
  return [high, low].flatMap((half) => [Number.parseInt(half, 16) >> 8, Number.parseInt(half, 16) & 255]).join('.');
};

// Names that the parser would give back as they are: it costs more than all the rest, and most names are of this kind.
const canonical = /^(?!.*xn--)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]+$/;

// WHATWG parsing of an https URL lower-cases the host, decodes its percent-encoding, maps Unicode names to their ASCII
// form and writes numeric addresses in one notation; that is why every scheme is read as https.
// It also takes quotes, commas and semicolons for parts of a name. No host has such a name, and what others take for
// its end cannot be told.
const parseHost = (written: string): string | undefined => {
  if (canonical.test(written)) return written;
  const host = URL.parse(`https://${written}/`)?.hostname.replace(/\.+$/, '');
  return host !== undefined && /^(?:[a-z0-9._-]*|\[[0-9a-f:.]+\])$/.test(host) ? host : undefined;
};

// The readings of a text mostly have one host, and to parse a name costs more than all the rest.
let lastWritten = '';
let lastHost: string | undefined;
const canonicalHost = (written: string): string | undefined => {
  if (written !== lastWritten) [lastWritten, lastHost] = [written, parseHost(written)];
  return lastHost;
};

// Where an authority ends. A backslash is a slash to browsers and a part of user information to others; and there are
// those that look for the first slash alone.
const authorityEnds = [/[/\\?#]/, /[/?#]/, /[/#]/, /\//] as const;

/**
 * The place that begins at the authority of an address; undefined where no host can be had from it. Throws NoAddress
 * where the host is longer than any: what reads names takes time that grows with the square of their length, so that is
 * seen before anything else is done with it.
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

// Schemes whose addresses a browser reads whatever slashes follow them (URL standard, "special" schemes with a host).
const web = /^(?:https?|ftp|wss?):[/\\]*/i;
const schemeAndAuthority = /^[a-z][a-z0-9+.-]*:[/\\]{2}(?![/\\])/i;
const scheme = /^[a-z][a-z0-9+.-]*:/i;
const hostAndPort = /^[^/\\?#@:]+:\d{1,5}(?:[/\\?#]|$)/;
const schemes = /^(?:[a-z][a-z0-9+.-]*:[/\\]*)+/i;

// The text from its authority on, as the URL standard reads it; without a scheme it is read as https.
const fromAuthority = (text: string): string | undefined => {
  const beginning = [web, schemeAndAuthority, /^[/\\]{2,}/].find((pattern) => pattern.test(text));
  if (beginning !== undefined) return text.replace(beginning, '');
  return /^[/\\]/.test(text) || (scheme.test(text) && !hostAndPort.test(text)) ? undefined : text;
};

// A page of Cydia that has it add a repository, with whatever stands around the host of that page.
const sharePage =
  /^(?:https?:)?[/\\]*(?:[^/\\?#]*@)?(?:www\.)?cydia\.saurik\.com\.?(?::\d*)?[/\\]+api[/\\]+share[^?#]*[?#](?:.*[?&#])?source=/is;

// What package managers open to add a repository, whose address follows.
const callbacks = [
  /^sileo:[/\\]*source[/\\]/i,
  /^zbra:[/\\]*sources[/\\]+add[/\\]/i,
  /^installer:[/\\]*add[/\\](?:(?:repo|source)=)?/i,
  /^cydia:[/\\]*sources[/\\]+add[/\\]/i,
  /^cydia:[/\\]*url[/\\]/i,
  sharePage,
] as const;

/** Callbacks within callbacks beyond this many are nobody's. */
const mostNested = 4;

// The text and, where it is a callback, what it wraps, and so on.
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

/** No honest callback of a package manager is made of more parts. */
const mostParts = 16;

// An application of any other scheme may take any part of the address for that of a repository, and that page may name
// several.
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

/** Nobody means more addresses with one text. */
const mostListed = 16;

// Who pastes several addresses into a package manager adds each of them.
const listed = (text: string): string[] => {
  const addresses = text.split(/\s+/).filter((each) => /^[a-z][a-z0-9+.-]*:[/\\]/i.test(each));
  if (addresses.length > mostListed) throw new NoAddress('More addresses than anybody adds at once');
  return addresses.length > 1 ? addresses : [];
};

const isPlace = (place: Place | undefined): place is Place => place !== undefined;

// The first is the standard's, undefined where that finds no host; the others are those of clients that add "https://"
// in front of anything, that forgive missing and turned slashes, and that look for the end of the authority elsewhere.
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
 * Every place that an application may go to when it is given this text; one at least. Throws NoAddress where the text, or
 * the one that it wraps for a package manager, is no address with a host, where a host is longer than 253 characters, or
 * where it wraps more than an honest one does.
 */
export const readPlaces = (text: string): Place[] => {
  // The URL standard drops these wherever they stand.
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
