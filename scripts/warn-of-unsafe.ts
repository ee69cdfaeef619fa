import type { ManifestEntry } from '../src/contract/manifest.ts';
import { readRedirectTargets } from '../src/contract/redirected.ts';
import type { SafetyEntry } from '../src/contract/safety.ts';
import type { Log } from '../src/log/log.ts';
import { findUnsafe } from '../src/safety/find-unsafe.ts';
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

/**
 * Warns if repositories that the safety list does not name redirect to one that it names: what is published under their
 * addresses comes from there. The API calls their own addresses safe.
 */
export const warnOfUnsafeTargets = (
  repositories: readonly {
    readonly slug: string;
    readonly uri: string;
    readonly findings: Parameters<typeof readRedirectTargets>[0];
  }[],
  unsafe: readonly SafetyEntry[],
  log: Pick<Log, 'warn'>,
): void => {
  const safety = createSafetyList(unsafe);
  const found = repositories.flatMap(({ slug, uri, findings }) => {
    const target = findUnsafe(safety, uri, readRedirectTargets(findings))?.target;
    return target === undefined ? [] : `${slug} to ${target}`;
  });
  if (found.length === 0) return;
  log.warn(
    'unsafe-redirect',
    `These of the manifest redirect to what the safety list names, and pages warn of it: ${found.join(', ')}. Take them out of the manifest, or add them to the list, so that the API calls them unsafe too.`,
  );
};
