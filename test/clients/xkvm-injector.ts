import type { Wire } from './client.ts';
import { array, boolean, DecodingError, filled, integer, object, optional, string } from './decoding.ts';

// xKVM injector: Go, whose encoding/json refuses a fraction where it wants an int, and reads null as nothing.

const packages = object({
  data: array(
    object({
      repository_id: filled,
      version: filled,
      package_filename: filled,
      price: string,
      visible: boolean,
      latest_version: boolean,
      quality: integer,
      sha256_hash: optional(string),
    }),
  ),
});
const repository = object({ data: object({ id: filled, uri: filled }) });

/** It reads no more of a body than this, in bytes. */
const largestBody = 8 * 2 ** 20;

const ask = async (wire: Wire, target: string) => {
  const { status, body, size } = await wire.get(target);
  if (status !== 200) throw new DecodingError(`${target} answers ${status}`);
  if (size >= largestBody) throw new DecodingError(`${target} is too large: ${size} bytes`);
  return body;
};

/** The newest free version of a package and the address it lies below; undefined where there is none. */
export const resolve = async (wire: Wire, id: string) => {
  const { data } = packages(await ask(wire, `/v2/jailbreak/package/${encodeURIComponent(id)}`), id);
  const usable = data.filter(({ price, visible, latest_version }) => price === 'Free' && visible && latest_version);
  const [best] = usable.sort((a, b) => a.quality - b.quality);
  if (best === undefined) return undefined;
  const { data: origin } = repository(await ask(wire, `/v2/jailbreak/repository/${best.repository_id}`), 'repository');
  return { file: best.package_filename, base: origin.uri };
};
