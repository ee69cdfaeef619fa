import path from 'node:path';
import type { Dependencies } from '../dependencies.ts';
import { createRateLimiter } from '../http/rate-limiter.ts';
import { compressBytes, createCompressedFiles } from './compression.ts';
import { createDownloads, type DownloadsFile } from './download-counters.ts';
import { watchSafetyList } from './safety-file.ts';
import type { Telling } from './telling.ts';
import { createTurns } from './turns.ts';

/** The most memory, in bytes, for published files. */
export const documentMemory = 64 * 2 ** 20;

/** The compressed copies of large files, which a server keeps in its state folder. */
export const openCompressedFiles = (state: string) => createCompressedFiles(path.join(state, 'compressed'));

/** The file of the download counters in a state folder. */
export const openDownloads = (state: string): DownloadsFile =>
  createDownloads(path.join(state, 'downloads.sqlite'), () => new Date());

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
