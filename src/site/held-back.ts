import { isTrust } from '../catalog/last-build.ts';
import type { Outcome, Repository } from './repository.ts';

/** Whether something new of a repository waits for the operator's decision, and whether its signature does. */
export const waitingOf = ({ outcome }: Pick<Repository, 'outcome'>): { isHeld: boolean; isToConfirm: boolean } => {
  const waiting = outcome?.heldBack ?? [];
  return { isHeld: waiting.some((one) => !isTrust(one)), isToConfirm: waiting.some(isTrust) };
};

/** What was held back at its last visit, and what that means for people, in words. */
export const heldSentence = ({ code, reason }: Pick<Outcome, 'code' | 'reason'>): string => {
  // The evidence of a shrunken index in the words of the crawl, which counts stanzas. Pages call these versions.
  const [, before, now] = /\bhad (\d+) stanzas?, and now ha(?:s|ve) (\d+)\b/.exec(reason ?? '') ?? [];
  if (before !== undefined)
    return `We hold back its new index, which has ${now} of ${before} versions. Those that are no longer there will not install.`;
  const what = code === 'release-older' ? 'its new Release, which is older than the one before' : 'its new data';
  return `We hold back ${what}. Packages that are no longer there will not install.`;
};
