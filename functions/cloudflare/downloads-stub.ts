import type { DownloadCount, DownloadTotal } from '../../src/contract/records.ts';
import type { Report } from '../downloads/download-marks.ts';

/** What the object that counts downloads may be asked. Each call rejects if nothing can be kept or read. */
export interface DownloadsStub {
  /** Counts a report; resolves to how many of its downloads were counted, once they are kept. */
  add(report: Report): Promise<number>;
  read(id: string): Promise<DownloadCount>;
  /** Whether a report could be kept. */
  probe(): Promise<boolean>;
  /** How often packages were downloaded by the end of the previous day (UTC), the most downloaded first. */
  totals(): Promise<{ readonly day: string; readonly totals: readonly DownloadTotal[] }>;
}

/** The name of the one object that counts, for all of the world. */
export const downloadsName = 'downloads';
