import type { DownloadCounters } from '../dependencies.ts';
import { HttpError } from './answers.ts';

/** Counters that count nothing, of a host that there are several of: each would count a part. */
export const uncountedDownloads: DownloadCounters = {
  add: async () => 0,
  read: async () => {
    throw new HttpError(404, 'Downloads are not counted here');
  },
  probe: async () => true,
};
