import type { Wire } from './client.ts';
import { DecodingError, filled, object, url } from './decoding.ts';

// Zebra 1, iOS: Objective-C, whose NSURL is as strict as Swift's URL.

const landing = object({ data: object({ reference: object({ privacy_policy: url, privacy_updated: filled }) }) });

/** Asked at every launch. */
export const launch = async (wire: Wire) => landing((await wire.get('/v2/')).body, 'landing').data.reference;

/** Reports downloads; what it does not know it leaves out. */
export const ingest = async (wire: Wire, downloads: readonly { id: string; version: string; uri: string }[]) => {
  const body = downloads.map(({ id, version, uri }) => ({
    package_id: id,
    package_version: version,
    repository_uri: uri,
  }));
  const headers = { 'Content-Type': 'application/json; charset=utf-8' };
  const { status } = await wire.post('/v2/jailbreak/download/ingest', headers, JSON.stringify(body));
  if (status !== 200) throw new DecodingError(`ingest answers ${status}`);
};
