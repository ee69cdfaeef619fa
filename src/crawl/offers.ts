import { splitClearSigned } from '../apt/clearsigned.ts';
import { parseRelease, type ReleaseFile } from '../apt/release.ts';
import { limits } from '../contract/limits.ts';
import { type ManifestEntry, manifestEntrySchema } from '../contract/manifest.ts';
import type { Fetcher } from '../net/fetcher.ts';
import { NetworkError } from '../net/network-error.ts';
import { collect, looksLikeHtml } from './content.ts';
import { releaseFolder } from './fetch-release.ts';

/** An index that an origin has, in the form of a manifest entry. */
export type Offer = Pick<ManifestEntry, 'uri' | 'suite' | 'component' | 'binary'>;

/** Where to look, and for how long. */
interface LookOptions {
  readonly fetcher: Pick<Fetcher, 'fetch'>;
  readonly signal: AbortSignal;
  /** What the origin wants to be told, as its entry has it: nothing else is asked. */
  readonly headers?: ManifestEntry['headers'];
  /** Called with where something was found to which the origin redirects. */
  readonly onRedirect?: (reached: URL) => void;
}

// The usual suites of this community's repositories. A server cannot be asked for everything it has.
const usualSuites = [
  'stable',
  'ios',
  '1800',
  '1900',
  '2000',
  'iphoneos-arm64/1700',
  'iphoneos-arm64/1800',
  'iphoneos-arm64/1900',
  'iphoneos-arm64/2000',
];
const mostListed = 12;
const listingBytes = 262_144;
/** How many pairs of component and architecture are listed for one suite. A Release may name thousands. */
const mostOffers = 40;

const read = async (
  address: string,
  maxBytes: number,
  { fetcher, signal, headers, onRedirect }: LookOptions,
): Promise<Uint8Array | null> => {
  const url = new URL(address);
  try {
    const result = await fetcher.fetch(url, { maxBytes, signal, headers });
    if (result.status === 200 && result.url.href !== url.href) onRedirect?.(result.url);
    const bytes = result.status === 200 ? await collect(result.body) : null;
    await result.discard();
    return bytes;
  } catch (error) {
    if (error instanceof NetworkError || signal.aborted) return null;
    throw error;
  }
};

const readRelease = async (uri: string, suite: string, options: LookOptions): Promise<ReleaseFile | null> => {
  for (const name of ['Release', 'InRelease']) {
    const bytes = await read(`${uri + releaseFolder(suite)}/${name}`, limits.releaseBytes, options);
    if (bytes === null || bytes.length === 0 || looksLikeHtml(bytes)) continue;
    const split = splitClearSigned(bytes);
    if (split.kind !== 'refused') return parseRelease(split.kind === 'signed' ? split.content : bytes);
  }
  return null;
};

/** The folders that a web server lists below `dists/`, if it lists any. */
const listSuites = async (uri: string, options: LookOptions): Promise<string[]> => {
  const page = await read(`${uri}/dists/`, listingBytes, options);
  if (page === null || !looksLikeHtml(page)) return [];
  const links = Buffer.from(page)
    .toString('latin1')
    .matchAll(/href="(?:\.\/)?([A-Za-z0-9][\w.~+-]{0,63})\/"/g);
  return [...new Set([...links].map(([, name]) => name ?? ''))].slice(0, mostListed);
};

// An index, by its path in Release. (The index of debian-installer is not meant for people.)
const indexPath = /^(.+)\/binary-([^/]+)\/Packages(?:\.[a-z0-9]+)?$/;

const listPairs = ({ files, components, architectures }: ReleaseFile): [component: string, binary: string][] => {
  const pairs = new Map<string, [string, string]>();
  for (const path of files.keys()) {
    const [, component = '', binary = ''] = indexPath.exec(path) ?? [];
    if (component !== '' && !component.endsWith('/debian-installer'))
      pairs.set(`${component} ${binary}`, [component, binary]);
  }
  if (pairs.size > 0 || files.size > 0) return [...pairs.values()];
  const binaries = architectures.filter((name) => name !== 'all' && name !== 'source').slice(0, mostOffers);
  return components
    .slice(0, mostOffers)
    .flatMap((component) => binaries.map((binary): [string, string] => [component, binary]));
};

const isFlat = ({ files }: ReleaseFile): boolean =>
  files.size === 0 || [...files.keys()].some((path) => /^Packages(?:\.[a-z0-9]+)?$/.test(path));

/** The offers in a Release, limited to what a manifest can name. The rest is a stranger's text and useless here. */
const composeOffers = (uri: string, suite: string, release: ReleaseFile): Offer[] => {
  const named: Partial<Offer>[] =
    suite === './'
      ? isFlat(release)
        ? [{}]
        : []
      : listPairs(release).map(([component, binary]) => ({ component, binary }));
  return named.slice(0, mostOffers).flatMap((fields) => {
    const entry = manifestEntrySchema.safeParse({ slug: 'offer', ranking: 3, uri, suite, ...fields });
    return entry.success ? [{ uri: entry.data.uri, suite, ...fields }] : [];
  });
};

/**
 * The addresses and suites that an entry may have meant: its own first, then those of an address that leads into
 * `dists/`.
 */
const listPlaces = (entry: Offer): { uri: string; suite: string }[] => {
  const uri = entry.uri.replace(/\/+$/, '');
  const at = uri.lastIndexOf('/dists/');
  const inside = at === -1 ? [] : [{ uri: uri.slice(0, at), suite: uri.slice(at + '/dists/'.length) }];
  return [{ uri, suite: entry.suite }, ...inside];
};

const isSame = (a: Offer, b: Offer): boolean =>
  a.uri.replace(/\/+$/, '') === b.uri.replace(/\/+$/, '') &&
  a.suite === b.suite &&
  a.component === b.component &&
  a.binary === b.binary;

/**
 * Finds what else an origin offers besides `entry`: the other indexes of the same suite and, with `widely`, if there
 * are none, those of the suites that the server lists or that are usual. Requests thirty small files at most. Never
 * throws because of what the origin does.
 */
export const findOffers = async (entry: Offer, widely: boolean, options: LookOptions): Promise<Offer[]> => {
  const places = listPlaces(entry);
  const offers: Offer[] = [];
  const look = async (uri: string, suite: string): Promise<void> => {
    if (options.signal.aborted) return;
    const release = await readRelease(uri, suite, options);
    const found = release === null ? [] : composeOffers(`${uri}/`, suite, release);
    offers.push(...found.filter((offer) => !isSame(offer, entry)));
  };
  for (const { uri, suite } of places) await look(uri, suite);
  if (offers.length > 0 || !widely) return offers;
  const { uri } = places.at(-1) ?? entry;
  const known = new Set(places.map(({ suite }) => suite));
  const listed = await listSuites(uri, options);
  for (const suite of new Set(['./', ...(listed.length > 0 ? listed : usualSuites)])) {
    if (!known.has(suite)) await look(uri, suite);
  }
  return offers;
};
