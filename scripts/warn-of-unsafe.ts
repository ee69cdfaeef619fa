import type { ManifestEntry } from '../src/contract/manifest.ts';
import type { SafetyEntry } from '../src/contract/safety.ts';
import type { Log } from '../src/log/log.ts';
import { createSafetyList } from '../src/safety/safety-list.ts';

/**
 * Warns if the safety list names repositories of the manifest. Their pages warn of them as well, and offer nothing that
 * adds them.
 */
export const warnOfUnsafe = (
  entries: readonly Pick<ManifestEntry, 'slug' | 'uri'>[],
  unsafe: readonly SafetyEntry[],
  log: Pick<Log, 'warn'>,
): void => {
  const { check } = createSafetyList(unsafe);
  const slugs = entries.filter(({ uri }) => !check(uri)).map(({ slug }) => slug);
  if (slugs.length === 0) return;
  log.warn(
    'unsafe-repository',
    `The safety list names what the manifest has, and pages warn of it: ${slugs.join(', ')}. Take it out of the manifest, or out of the list.`,
  );
};
