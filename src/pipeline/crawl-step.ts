import { readKnownSlugs } from '../catalog/known-history.ts';
import { type CrawlOutcome, crawlAll } from '../crawl/crawl.ts';
import { readPublishedSource } from '../publication/owner.ts';
import { adoptFormerSlugs } from '../snapshots/former-slugs.ts';
import { openStore } from '../snapshots/store.ts';
import type { BuildInput, PreparedInput } from './build-input.ts';
import { assertNotDepleted } from './planned-removals.ts';

/** Opens the store and resolves the former slugs of the entries. @throws RemovalsHeld */
export const prepareCrawl = async (input: BuildInput): Promise<PreparedInput> => {
  const { state, out, entries } = input;
  // A manifest may replace the whole sample.
  if (readPublishedSource(out) !== 'sample') assertNotDepleted(state, entries);
  const store = openStore(state);
  return { ...input, store, entries: await adoptFormerSlugs(store, entries, () => readKnownSlugs(state)) };
};

/** From so many repositories on, none of which could be asked for want of a network, that is told at once. */
const manyUnreached = 3;

/** The first step: from origins to snapshots. Returns the outcome of each visit. */
export const crawl = async (input: PreparedInput): Promise<CrawlOutcome[]> => {
  const { entries, fetcher, store, now, progress, only } = input;
  let unreached = 0;
  let hasNetwork = false;
  // Of a long list the last is given up a minute later, and until then nobody would know what is waited for. One host
  // alone may be out of reach, such as one with IPv6 only.
  const tellOffline = ({ outcome, code, detail }: CrawlOutcome) => {
    if (outcome === 'fresh' || outcome === 'unchanged') hasNetwork = true;
    if (code !== 'no-network') return;
    unreached += 1;
    if (unreached !== manyUnreached || hasNetwork) return;
    progress.note(
      'no-network',
      `The network cannot be reached: ${detail}. The other repositories are tried all the same.`,
    );
  };
  return progress.step('crawl', () =>
    crawlAll(only === undefined ? entries : entries.filter(({ slug }) => only.has(slug)), {
      store,
      fetcher,
      now,
      stop: input.stop,
      retryNow: input.retryNow,
      depictions: input.service.native_depictions === true,
      ...(input.concurrency === undefined ? {} : { concurrency: input.concurrency }),
      onOutcome: (outcome, done, total) => {
        tellOffline(outcome);
        progress.update(done, total, 'repositories');
      },
    }),
  );
};
