import type { Wire } from './client.ts';
import { array, boolean, DecodingError, object, string } from './decoding.ts';

// IAmLazy, a backup tool: it asks for every identifier that a device has installed, commas percent-encoded.

const installed = object({
  data: array(object({ package: string, repository: object({ isBootstrap: boolean }) })),
});

/** The packages that come from a bootstrap repository, of all that is installed. */
export const restore = async (wire: Wire, ids: readonly string[]) => {
  const list = encodeURIComponent(ids.join(','));
  const { status, body } = await wire.get(`/v2/jailbreak/package/multi?priority=bootstrap&ids=${list}`);
  if (status !== 200) throw new DecodingError(`multi answers ${status}`);
  return installed(body, 'multi').data;
};
