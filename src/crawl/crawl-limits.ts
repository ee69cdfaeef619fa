import { limits } from '../contract/limits.ts';

/** What one repository may cost a crawl, in bytes and milliseconds. The table of limits explains each. */
export type CrawlLimits = Pick<
  typeof limits,
  | 'releaseBytes'
  | 'indexBytes'
  | 'textBytes'
  | 'ratio'
  | 'repositoryMs'
  | 'placeMs'
  | 'visitsUnderWay'
  | 'repetitions'
  | 'retryPauseMs'
  | 'waitMs'
  | 'holdMs'
  | 'extrasMs'
  | 'depictionMs'
  | 'depictionRetryMs'
  | 'depictionBytes'
  | 'depictionsPerVisit'
  | 'depictionsPerRepository'
>;

export const usualLimits: CrawlLimits = limits;
