import type { SafetyEntry } from '../contract/safety.ts';
import { decodeFully } from './escapes.ts';
import { isPlainName, NoAddress, type Place, readPlaces } from './readings.ts';

/** Decides whether the address of a repository is safe to add. */
export interface SafetyList {
  /**
   * False if the text is no URI with a host, or if any reading of it reaches a listed host, or a listed host and path
   * (decisions, sections 4 and 7).
   */
  check(uri: string): boolean;
  /** A listed address; undefined if the list is empty. */
  readonly listed: string | undefined;
}

/** What is decided by, of an entry. */
export type SafetyPlace = Pick<SafetyEntry, 'host' | 'path'>;

/** The same, which also says why. */
export interface ExplainedSafetyList<Entry extends SafetyPlace> extends SafetyList {
  /** The entry for which `check` says false; undefined if there is none: the text is safe, or no URI with a host. */
  find(uri: string): Entry | undefined;
}

// Sorting combining marks into canonical order takes quadratic time, and no text in any language has more than thirty
// in a row (Unicode, annex 15, stream-safe text).
const tooManyMarks = /[\p{M}\uff9e\uff9f]{31,}/gu;
const normalize = (text: string): string =>
  text
    .replace(tooManyMarks, (marks) => marks.slice(0, 30))
    .normalize('NFKC')
    .toLowerCase();

// The path as the most tolerant server would read it: decoded, "\" as "/", empty and dot segments resolved, and without
// the parameters that some remove from a segment (RFC 3986, section 3.3).
const pathSegments = (pathname: string): string[] => {
  const segments: string[] = [];
  for (const written of normalize(decodeFully(pathname)).split(/[/\\]/)) {
    const [segment = ''] = written.split(';', 1);
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return segments;
};

/** Depending on the server, a longer path (in characters) could be any path of its host. */
const longestPath = 4096;

const isAddress = (host: string): boolean => host.startsWith('[') || /^\d+(\.\d+){3}$/.test(host);

// The host and its parent names, up to that many labels: a.x.example, x.example, example.
const namesAbove = (host: string, mostLabels: number): string[] => {
  if (isAddress(host)) return [host];
  const names: string[] = [];
  let dot = host.length;
  for (let labels = 0; labels < mostLabels && dot > 0; labels++) {
    dot = host.lastIndexOf('.', dot - 1);
    names.push(host.slice(dot + 1));
  }
  return names;
};

const placeOf = ({ host, path = '' }: SafetyPlace): Place => {
  // Nearly all are like this, and a server reads its list at each start.
  if (path === '' && isPlainName(host)) return { host, rest: '' };
  const slip = `Not a host name in the safety list: ${host}`;
  try {
    const [place] = readPlaces(`https://${host}${path}`);
    if (place !== undefined) return place;
  } catch (cause) {
    throw new TypeError(slip, { cause });
  }
  throw new TypeError(slip);
};

/**
 * A safety list with these entries. Throws a TypeError if an entry's host is invalid, so that a mistake in the list
 * cannot silently list nothing.
 */
export const createSafetyList = <Entry extends SafetyPlace>(entries: readonly Entry[]): ExplainedSafetyList<Entry> => {
  const placed = entries.map((entry) => {
    const { host, rest } = placeOf(entry);
    return { host, beginning: pathSegments(rest), entry };
  });
  const byHost = Map.groupBy(placed, ({ host }) => host);
  let mostLabels = 0;
  for (const host of byHost.keys()) mostLabels = Math.max(mostLabels, host.split('.').length);

  const entryOf = ({ host, rest }: Place): Entry | undefined => {
    const listed = namesAbove(host, mostLabels).flatMap((name) => byHost.get(name) ?? []);
    if (listed.length === 0) return undefined;
    const [pathname = ''] = rest.split(/[?#]/, 1);
    if (pathname.length > longestPath) return listed[0]?.entry;
    const path = pathSegments(pathname);
    return listed.find(({ beginning }) => beginning.every((segment, index) => segment === path[index]))?.entry;
  };

  /** The entry that any reading of it reaches, and whether it is an address at all. */
  const judge = (uri: string): { readonly isAddress: boolean; readonly entry: Entry | undefined } => {
    try {
      for (const place of readPlaces(uri)) {
        const entry = entryOf(place);
        if (entry !== undefined) return { isAddress: true, entry };
      }
      return { isAddress: true, entry: undefined };
    } catch (error) {
      if (error instanceof NoAddress) return { isAddress: false, entry: undefined };
      throw error;
    }
  };

  const [first] = entries;
  return {
    listed: first && `https://${first.host}${first.path ?? ''}`,
    check: (uri) => {
      const { isAddress, entry } = judge(uri);
      return isAddress && entry === undefined;
    },
    find: (uri) => judge(uri).entry,
  };
};
