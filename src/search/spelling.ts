import type { SearchReading } from '../catalog/search-reading.ts';
import { deletionBuckets, isOneMistakeApart } from '../catalog/spelling.ts';

/** The known terms that are one typing mistake apart from a word. */
export const findCorrections = (reading: SearchReading, word: string): string[] => {
  const buckets = deletionBuckets(word);
  if (buckets.size === 0) return [];
  return [...new Set(reading.termsIn(buckets))].filter((term) => isOneMistakeApart(term, word));
};
