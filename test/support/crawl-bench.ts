import { afterEach, beforeEach } from 'vitest';
import { CrawlBench } from './crawling.ts';

/** The bench of the running test. */
export let bench: CrawlBench;

/** Gives each test of a file a new bench. */
export const useCrawlBench = (): void => {
  beforeEach(async () => {
    bench = await CrawlBench.start();
  });
  afterEach(() => bench.stop());
};
