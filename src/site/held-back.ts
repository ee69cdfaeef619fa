import type { Outcome } from './repository.ts';

/** What of its last visit was held back, and what follows for people, in words. */
export const heldSentence = ({ code, reason }: Pick<Outcome, 'code' | 'reason'>): string => {
  // The evidence of an index that shrank, as the crawl wrote it.
  const [, now, before] = /\bha(?:s|ve) (\d+) packages, and had (\d+)\b/.exec(reason ?? '') ?? [];
  if (before !== undefined)
    return `We hold its new index back: it has ${now} of ${before} packages. Those that are no longer there will not install.`;
  const what =
    code === 'release-older' ? 'its Release back, which is older than the one before' : 'what is new of it back';
  return `We hold ${what}. Packages that are no longer there will not install.`;
};
