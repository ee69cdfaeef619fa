import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { addressKey, type ManifestEntry } from '../src/contract/manifest.ts';
import { composeYaml } from '../src/contract/yaml.ts';
import type { Offer } from '../src/crawl/offers.ts';
import { ManifestError, readManifest } from '../src/crawl/read-manifest.ts';

/** Proposes a slug from the host of an address. */
const proposeSlug = (uri: string): string =>
  new URL(uri).hostname
    .replace(/^www\./, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replace(/^-+|-+$/g, '') || 'repository';

/** The entries of a manifest that have no mistake, and the mistakes of the others, a line each; undefined without any. */
interface Listed {
  readonly entries: readonly ManifestEntry[];
  readonly mistakes?: string;
}

/** Reads a manifest that may have mistakes. One that is yet to be written has neither entries nor mistakes. */
export const readListed = async (manifest: string): Promise<Listed> => {
  if (!existsSync(manifest)) return { entries: [] };
  try {
    return { entries: await readManifest(manifest) };
  } catch (error) {
    if (!(error instanceof ManifestError)) return { entries: [], mistakes: (error as Error).message };
    return error.isEmpty ? { entries: [] } : { entries: error.entries, mistakes: error.message };
  }
};

/**
 * What the manifest says about how to ask an address: the key of this index, and the request headers of this index or
 * else of another one at that address. Some origins answer nothing without the headers.
 */
export const findAsked = (listed: readonly ManifestEntry[], offer: Offer): Pick<ManifestEntry, 'headers' | 'key'> => {
  const placeOf = ({ uri }: Pick<Offer, 'uri'>) => addressKey({ uri, suite: './' });
  const entries = listed.filter((entry) => placeOf(entry) === placeOf(offer));
  const own = entries.find((entry) => addressKey(entry) === addressKey(offer));
  const { headers } = own ?? entries[0] ?? {};
  return { ...(headers === undefined ? {} : { headers }), ...(own?.key === undefined ? {} : { key: own.key }) };
};

/** The file in a folder of entries that already has this address; undefined if none has. */
export const findListed = (entries: readonly ManifestEntry[], folder: string, offer: Offer): string | undefined => {
  const listed = entries.find((entry) => addressKey(entry) === addressKey(offer));
  if (listed === undefined) return undefined;
  return readdirSync(folder)
    .filter((name) => path.parse(name).name === listed.slug)
    .map((name) => path.join(folder, name))[0];
};

/** The manifest entry for an index, as the text of a file in a folder of entries. */
export const composeEntry = (
  { uri, suite, component, binary, key }: Offer & Pick<ManifestEntry, 'key'>,
  folder: string,
): string => {
  const slug = proposeSlug(uri);
  const place = suite === './' ? {} : { suite, component, binary };
  const fields = composeYaml({ slug, uri, ...place, ranking: 3, ...(key === undefined ? {} : { key }) });
  return `Write into the manifest, as ${path.join(folder, `${slug}.yaml`)} (ranking: 1 is best, 5 is last):\n\n${fields}`;
};

/** Lists the offers by suite and component, a line each. */
export const listOffers = (offers: readonly Offer[]): string => {
  const lines = new Map<string, string[]>();
  for (const { uri, suite, component, binary } of offers) {
    const place =
      suite === './' ? `${uri} is a flat repository: no suite` : `${uri} suite ${suite}, component ${component}`;
    lines.set(place, [...(lines.get(place) ?? []), ...(binary === undefined ? [] : [binary])]);
  }
  return [...lines]
    .map(([place, binaries]) => `  ${[place, binaries.join(', ')].filter(Boolean).join(': ')}\n`)
    .join('');
};

// The architectures of this community's devices, the preferred one first. The offers of other origins are taken as they
// come.
const usualBinaries = ['iphoneos-arm64', 'iphoneos-arm'];

/** The offer that is closest to what was asked for. */
export const chooseNearest = (asked: Offer, offers: readonly Offer[]): Offer | undefined => {
  const rank = ({ suite, component, binary }: Offer): number => {
    const usual = usualBinaries.indexOf(binary ?? '');
    return (
      (suite === asked.suite ? 0 : 100) +
      (component === asked.component ? 0 : 50) +
      (binary === asked.binary ? 0 : 10 + (usual === -1 ? usualBinaries.length : usual))
    );
  };
  return offers.reduce<Offer | undefined>(
    (best, offer) => (best === undefined || rank(offer) < rank(best) ? offer : best),
    undefined,
  );
};
