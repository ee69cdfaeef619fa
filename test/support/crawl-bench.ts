import { afterEach, beforeEach } from 'vitest';
import { CrawlBench } from './crawling.ts';

/** That of the test that runs. */
export let bench: CrawlBench;

/** Gives each test of a file a bench of its own. */
export const useCrawlBench = (): void => {
  beforeEach(async () => {
    bench = await CrawlBench.start();
  });
  afterEach(() => bench.stop());
};
