import type { DatabaseSync } from 'node:sqlite';
import { deletionBuckets, isOneMistakeApart, shortestCorrected } from '../catalog/spelling.ts';

/** Finds the known terms that are one typing mistake apart from a word. */
export const prepareCorrections = (database: DatabaseSync): ((word: string) => string[]) => {
  const select = database.prepare(
    'SELECT terms FROM json_each(?) AS wanted CROSS JOIN spelling ON spelling.bucket = wanted.value',
  );
  select.setReturnArrays(true);
  return (word) => {
    if (word.length < shortestCorrected) return [];
    const found = new Set<string>();
    const buckets = JSON.stringify([...deletionBuckets(word)]);
    for (const [terms] of select.all(buckets) as unknown as [string][]) {
      for (const term of terms.split('\n')) if (isOneMistakeApart(term, word)) found.add(term);
    }
    return [...found];
  };
};
