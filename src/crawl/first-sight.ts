import { parseDate } from '../apt/date.ts';
import type { FoundRelease } from './fetch-release.ts';
import type { FoundIndex } from './index-file.ts';

/**
 * When something that is seen for the first time was made (decisions, "First sight"): the latest moment that the origin
 * names, in the Last-Modified of the index or the Date of the release. A moment in the future does not count; if there
 * is no other, it is now.
 */
export const computeFirstSight = (release: FoundRelease, index: FoundIndex, now: Date): Date => {
  const claims = [index.lastModified, release.content.date]
    .map((text) => (text === null ? null : parseDate(text)))
    .filter((moment) => moment !== null && moment <= now);
  return (
    claims.reduce<Date | null>((latest, claim) => (latest && claim && latest > claim ? latest : claim), null) ?? now
  );
};
