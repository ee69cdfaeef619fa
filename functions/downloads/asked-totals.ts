import { z } from 'zod';
import { parseJson } from '../../src/contract/json-text.ts';
import { type DownloadTotal, downloadTotalSchema, listedDownloads } from '../../src/contract/records.ts';
import { readResponseText } from '../http/response-text.ts';
import { downloadTotalsPath } from './totals-path.ts';

/** The most bytes of an answer: 20,000 packages with the longest possible identifiers. */
const largestAnswer = 16 * 2 ** 20;
/** Milliseconds. */
const patience = 30_000;

const answerSchema = z.object({
  day: z.iso.date(),
  totals: z.array(downloadTotalSchema).max(listedDownloads),
});

/**
 * Asks the Worker at an address, with its operator's key, how often packages were downloaded by the end of the previous
 * day (UTC), the most downloaded first. Throws with the Worker's message if it does not answer that.
 */
export const askTotals = async (address: string, operatorKey: string): Promise<DownloadTotal[]> => {
  const asked = `${address.replace(/\/+$/, '')}${downloadTotalsPath}`;
  const response = await fetch(asked, {
    headers: { Accept: 'application/json', Authorization: `Bearer ${operatorKey}` },
    redirect: 'error',
    signal: AbortSignal.timeout(patience),
  });
  // A body that is not JSON is reported by its status.
  const answer = parseJson(await readResponseText(response, largestAnswer));
  if (!response.ok) {
    const { error = 'no reason' } = (answer ?? {}) as { error?: string };
    throw new Error(`${asked} answered ${response.status}: ${error}`);
  }
  const read = answerSchema.safeParse(answer);
  if (!read.success) throw new Error(`${asked} answered something else than download totals`);
  return read.data.totals;
};
