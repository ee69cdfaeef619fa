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
export const openCompressedFiles = (state: string) => createCompressedFiles(path.join(state, 'compressed'));

const downloadsFile = (state: string): string => path.join(state, 'downloads.sqlite');

/** The file of the download counters in a state folder. */
export const openDownloads = (state: string): DownloadsFile => createDownloads(downloadsFile(state), () => new Date());

/** What the counters of a state folder say of the days before this moment. Throws where they cannot be read. */
export const readDownloads = (state: string, now: Date): DownloadTotal[] =>
  readDownloadTotals(downloadsFile(state), now.toISOString().slice(0, 10), listedDownloads);

/** What a server computes, whatever it answers from. */
export const openComputed = (
  { rate, safetyList }: { readonly rate: number; readonly safetyList: URL },
  { report, tell }: Telling,
) => {
  const now = () => new Date();
  return {
    safety: watchSafetyList(safetyList, report),
    limiter: createRateLimiter({ rate, burst: 2 * rate, now }),
    turns: createTurns(),
    now,
    compress: (body, encoding) => compressBytes(body, encoding, 'computed'),
    report,
    tellUnhealthy: tell,
  } satisfies Partial<Dependencies>;
};
