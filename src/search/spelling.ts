import type { DatabaseSync } from 'node:sqlite';
import { deletionBuckets, isOneMistakeApart } from '../catalog/spelling.ts';

/** Finds the known terms that are one typing mistake apart from a word. */
export const prepareCorrections = (database: DatabaseSync): ((word: string) => string[]) => {
  const select = database.prepare(
    'SELECT terms FROM json_each(?) AS wanted CROSS JOIN spelling ON spelling.bucket = wanted.value',
  );
  select.setReturnArrays(true);
  return (word) => {
    const buckets = [...deletionBuckets(word)];
    if (buckets.length === 0) return [];
    const found = new Set<string>();
    for (const [terms] of select.all(JSON.stringify(buckets)) as unknown as [string][]) {
      for (const term of terms.split('\n')) if (isOneMistakeApart(term, word)) found.add(term);
    }
    return [...found];
  };
};
