import type { Wire } from './client.ts';
import { array, boolean, DecodingError, integer, object, optional, string, unsigned, url } from './decoding.ts';

// Sileo, iOS: Sileo/Backend/Canister Resolver. Swift's Codable refuses the whole answer for one field of another type.

const embeddedRepository = object({ uri: url, slug: string, tier: integer, suite: string, isBootstrap: boolean });

const packages = object({
  message: string,
  count: unsigned,
  data: array(
    object({
      package: string,
      version: string,
      repository: embeddedRepository,
      name: optional(string),
      description: optional(string),
      author: optional(string),
      maintainer: optional(string),
      section: optional(string),
      price: optional(string),
      icon_url: optional(url),
      header_url: optional(url),
      native_depiction: optional(url),
      tags: optional(array(string)),
    }),
  ),
});

/** What is typed into the search field goes out with every letter, and without a limit. */
export const search = async (wire: Wire, typed: string) => {
  const { status, body } = await wire.get(`/v2/jailbreak/package/search?q=${encodeURIComponent(typed)}`);
  if (status !== 200) throw new DecodingError(`search answers ${status}`);
  return packages(body, 'search');
};

/** A 404 for "none of them known" is a failure to it. */
export const multi = async (wire: Wire, ids: readonly string[]) => {
  const { status, body } = await wire.get(`/v2/jailbreak/package/multi?ids=${ids.join(',')}`);
  if (status !== 200) throw new DecodingError(`multi answers ${status}`);
  return packages(body, 'multi');
};

const verdicts = object({ data: array(object({ uri: string, safe: boolean })) });

/** The addresses are joined as they are; the ones that come back safe are added as sources, letter for letter. */
export const safety = async (wire: Wire, uris: readonly string[]) => {
  const { body } = await wire.get(`/v2/jailbreak/repository/safety?uris=${uris.join(',')}`);
  return verdicts(body, 'safety').data;
};

const landing = object({ data: object({ reference: object({ privacy_policy: url, privacy_updated: string }) }) });

/** Asked at every launch; a changed `privacy_updated` asks the user again. */
export const launch = async (wire: Wire) => landing((await wire.get('/v2/')).body, 'landing').data.reference;

const headers = {
  'Content-Type': 'application/json',
  'Sec-CH-UA': 'Sileo;v=2.4.4;t=client,dopamine;v=1.0.1;t=jailbreak,procursus;t=distribution',
  'Sec-CH-UA-Platform': 'iOS',
  'Sec-CH-UA-Platform-Version': '15.4.1',
  'Sec-CH-UA-Arch': 'arm64',
  'Sec-CH-UA-Bitness': '64',
  'Sec-CH-UA-Model': 'iPhone12,1',
};

/** Reports downloads; Swift writes a missing value as null. */
export const ingest = async (wire: Wire, downloads: readonly { id: string; version: string; uri: string }[]) => {
  const body = downloads.map(({ id, version, uri }) => ({
    package_id: id,
    package_version: version,
    package_author: null,
    package_maintainer: null,
    repository_uri: uri,
    repository_suite: './',
    repository_component: null,
  }));
  const { status } = await wire.post('/v2/jailbreak/download/ingest', headers, JSON.stringify(body));
  if (status !== 200) throw new DecodingError(`ingest answers ${status}`);
};
