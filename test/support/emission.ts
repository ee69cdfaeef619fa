import { readStatistics } from '../../src/catalog/reading.ts';
import type { CatalogBuild } from '../../src/catalog/state-catalog.ts';
import type { CatalogUpdate } from '../../src/catalog/update.ts';
import { Emission, type EmissionOptions } from '../../src/publication/emission.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { base } from './catalog.ts';
import { landingRecord } from './published.ts';

/**
 * The emission of this catalog into an output folder, with defaults for what tests do not care about; `others` are its
 * other options.
 */
export const emissionOf = (
  { catalog, update }: { readonly catalog: CatalogBuild; readonly update: CatalogUpdate },
  out: string,
  { now, address = base, ...others }: Partial<EmissionOptions> & Pick<EmissionOptions, 'now'> & { address?: string },
): Emission => {
  const landing = landingRecord(address);
  return new Emission(catalog, {
    output: new OutputFolder(out),
    now,
    ...update,
    failures: new Map(),
    landing: { ...landing, statistics: readStatistics(catalog.database, now) ?? landing.statistics },
    descriptions: async () => [],
    ...others,
  });
};
