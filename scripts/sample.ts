import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ManifestEntry, manifestEntrySchema } from '../src/contract/manifest.ts';
import type { Fetcher } from '../src/net/fetcher.ts';
import { createFileFetcher } from './sample/sample-fetcher.ts';
import { composeRepository } from './sample/sample-repository.ts';
import { readSample } from './sample/source.ts';
import { writeTree } from './sample/tree.ts';

const sources = fileURLToPath(new URL('../data/sample/', import.meta.url));

/**
 * Publishes the bundled sample: writes its repositories below `<out>/sample/<slug>/`, to be served at
 * `<base>/sample/<slug>` (`base` is the public address). Returns their manifest entries, and a fetcher that answers
 * these addresses from the files, so that they can be crawled without a network. The same arguments give the same
 * bytes; what did not change is not written again. Throws where the sources are malformed or the files cannot be
 * written.
 */
export const publishSample = async (
  out: string,
  base: string,
): Promise<{ entries: ManifestEntry[]; fetcher: Fetcher }> => {
  const folder = join(out, 'sample');
  const address = `${base.replace(/\/+$/, '')}/sample/`;
  const entries: ManifestEntry[] = [];
  const files = new Map<string, Uint8Array>();
  for (const source of await readSample(sources)) {
    const entry = manifestEntrySchema.parse({ ...source.entry, slug: source.slug, uri: `${address}${source.slug}` });
    entries.push(entry);
    for (const [path, content] of await composeRepository(source, entry)) files.set(`${source.slug}/${path}`, content);
  }
  await writeTree(folder, files);
  return { entries, fetcher: createFileFetcher(address, folder, files.keys()) };
};

/** Removes a published sample, which belongs to no build but its own. */
export const removeSample = (out: string): void => rmSync(join(out, 'sample'), { recursive: true, force: true });
