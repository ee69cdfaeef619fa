import type { SearchReading } from '../catalog/search-reading.ts';
import { findDeletionKeys, isOneMistakeApart } from '../catalog/spelling.ts';

/** The known terms that are one typing mistake apart from a word. */
export const findCorrections = (reading: SearchReading, word: string): string[] => {
  const deletions = findDeletionKeys(word);
  if (deletions.size === 0) return [];
  return [...new Set(reading.termsOf(deletions))].filter((term) => isOneMistakeApart(term, word));
};
