import type { DownloadCounters } from '../dependencies.ts';
import { HttpError } from './answers.ts';

/** Counters that count nothing, for a host of which several run: each would count only a part. */
export const uncountedDownloads: DownloadCounters = {
  add: async () => 0,
  read: async () => {
    throw new HttpError(404, 'Downloads are not counted here');
  },
  probe: async () => true,
};
