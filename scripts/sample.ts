import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ManifestEntry, manifestEntrySchema } from '../src/contract/manifest.ts';
import type { Fetcher } from '../src/net/fetcher.ts';
import { publishFiles } from '../src/publication/assets.ts';
import { OutputFolder } from '../src/publication/output-folder.ts';
import { readSample } from './sample/read-sample.ts';
import { createFileFetcher } from './sample/sample-fetcher.ts';
import { composeRepository } from './sample/sample-repository.ts';

// The folder of the sample, below the output folder.
const name = 'sample';
const sources = fileURLToPath(new URL('../data/sample/', import.meta.url));

/**
 * Publishes the bundled sample: writes its repositories below `<out>/sample/<slug>/`, to be served at
 * `<base>/sample/<slug>` (`base` is the public address). Returns their manifest entries, and a fetcher that answers
 * these addresses from the files, so that they can be crawled without a network. The same arguments give the same
 * bytes, and unchanged files are not written again. Throws if the sources are malformed or the files cannot be written.
 */
export const publishSample = async (
  out: string,
  base: string,
): Promise<{ entries: ManifestEntry[]; fetcher: Fetcher }> => {
  const output = new OutputFolder(out);
  const address = `${base.replace(/\/+$/, '')}/${name}/`;
  const entries: ManifestEntry[] = [];
  const files = new Map<string, Uint8Array>();
  for (const source of await readSample(sources)) {
    const entry = manifestEntrySchema.parse({ ...source.entry, slug: source.slug, uri: `${address}${source.slug}` });
    entries.push(entry);
    for (const [path, content] of await composeRepository(source, entry))
      files.set(`${name}/${source.slug}/${path}`, content);
  }
  try {
    publishFiles(output, files);
    output.prune(name, (file) => files.has(file));
  } finally {
    output.sweep();
  }
  const paths = [...files.keys()].map((file) => file.slice(name.length + 1));
  return { entries, fetcher: createFileFetcher(address, join(out, name), paths) };
};

/** Removes a published sample, because other builds do not publish it. */
export const removeSample = (out: string): void => {
  new OutputFolder(out).prune(name);
};
