import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { type IndexEntry, indexEntry, partFile } from '../../src/results/file-index.ts';
import { FileIndexSearch } from '../../src/results/file-index-search.ts';
import { listRecords } from './bench-records.ts';
import type { Built } from './builds.ts';
import { composeQuestions } from './questions.ts';
import { count, type Figure } from './report.ts';
import { median, percentile } from './statistics.ts';

const asked = 100;
/** The rows that the page of the search shows at first. */
const shown = 20;
// The most in the middle, in bytes: a second of a slow phone's connection.
const most = 100_000;

/** What a browser reads of the search index among the files of a site until it shows the first results of a query. */
export const measureFileReads = async ({ input, state }: Built, out: string): Promise<Figure> => {
  const sizes = new Map<string, number>();
  const content = (file: string) => readFileSync(path.join(out, file));
  const sizeOf = (file: string) => {
    const size = sizes.get(file) ?? gzipSync(content(file), { level: 6 }).length;
    sizes.set(file, size);
    return size;
  };
  const taken: number[] = [];
  for (const question of composeQuestions(listRecords(state)).slice(0, asked)) {
    const files = new Set([indexEntry]);
    const index = new FileIndexSearch(JSON.parse(content(indexEntry).toString()) as IndexEntry, async (kind, name) => {
      const file = partFile(kind, name);
      files.add(file);
      return JSON.parse(content(file).toString());
    });
    await index.rows((await index.find(question)).slice(0, shown));
    taken.push([...files].reduce((sum, file) => sum + sizeOf(file), 0));
  }
  const kilobytes = (bytes: number) => `${count(bytes / 1000)} kB`;
  return {
    figure: `read of the search index before the first results, of ${asked} queries, compressed`,
    input: input.name,
    measured: `median ${kilobytes(median(taken))}, p95 ${kilobytes(percentile(taken, 0.95))}`,
    target: `median ≤ ${kilobytes(most)}`,
    met: median(taken) <= most,
  };
};
