import path from 'node:path';
import { type DownloadTotal, listedDownloads } from '../../src/contract/records.ts';
import type { Dependencies } from '../dependencies.ts';
import { createRateLimiter } from '../http/rate-limiter.ts';
import { compressBytes, createCompressedFiles } from './compression.ts';
import { createDownloads, type DownloadsFile } from './download-counters.ts';
import { readDownloadTotals } from './downloads-store.ts';
import { watchSafetyList } from './safety-file.ts';
import type { Telling } from './telling.ts';
import { createTurns } from './turns.ts';

/** The most memory, in bytes, for published files. */
export const documentMemory = 64 * 2 ** 20;

/** The compressed copies of large files, which a server keeps in its state folder. */
export const openCompressedFiles = (state: string, { report }: Pick<Telling, 'report'>) =>
  createCompressedFiles(path.join(state, 'compressed'), report);

const downloadsFile = (state: string): string => path.join(state, 'downloads.sqlite');

/** The download counters in a state folder, or in a database if one is named (see scripts/downloads-option.ts). */
export const openDownloads = (
  { state, downloadsDatabase: url }: { readonly state: string; readonly downloadsDatabase?: string | undefined },
  { tell }: Pick<Telling, 'tell'>,
): DownloadsFile => {
  const now = () => new Date();
  if (url === undefined) return createDownloads(downloadsFile(state), now);
  const tellAway = (reason: string | undefined) =>
    tell({
      time: now().toISOString(),
      event: reason === undefined ? 'downloads-back' : 'downloads-away',
      ...(reason === undefined ? {} : { reason }),
    });
  return createDownloads(downloadsFile(state), now, {}, { url, tell: tellAway });
};

/**
 * How often packages were downloaded before today, by the counters of a state folder, or of a database if one is named.
 * Throws if they cannot be read.
 */
export const readDownloads = async (state: string, url: string | undefined, now: Date): Promise<DownloadTotal[]> => {
  const day = now.toISOString().slice(0, 10);
  if (url === undefined) return readDownloadTotals(downloadsFile(state), day, listedDownloads);
  const { readSharedTotals } = await import('./shared-downloads.ts');
  return readSharedTotals(url, day, listedDownloads);
};

/** The dependencies that are the same for every server, whatever it answers from. */
export const openComputed = (
  { rate, safetyList }: { readonly rate: number; readonly safetyList: URL },
  { report, tell }: Telling,
) => {
  const now = () => new Date();
  return {
    safety: watchSafetyList(safetyList, (reason) => tell({ time: now().toISOString(), event: 'safety-list', reason })),
    limiter: createRateLimiter({ rate, burst: 2 * rate, now }),
    turns: createTurns(),
    now,
    compress: (body, encoding) => compressBytes(body, encoding, 'computed'),
    report,
    tellUnhealthy: tell,
  } satisfies Partial<Dependencies>;
};
