import { bucketOf } from './buckets.ts';

// One typing mistake: a letter missing, doubled, replaced, or two transposed. Two words are one mistake apart only if
// deleting at most one letter from each gives the same text, so an index of terms under their deletions finds every
// candidate with a handful of look-ups (the method of SymSpell, for distance 1).

// The shortest word in which a mistake is forgiven: the one meant, or with a letter too many the one typed.
const shortestCorrected = 5;
const longestCorrected = 64;

/**
 * The buckets of a word and of all that is left when one letter is deleted; none for words outside the bounds. What
 * shares a bucket is a candidate and no more: several texts fall into one.
 */
export const deletionBuckets = (word: string): Set<number> => {
  const found = new Set<number>();
  // One of the two may be a letter shorter.
  if (word.length < shortestCorrected - 1 || word.length > longestCorrected) return found;
  found.add(bucketOf(word));
  for (let index = 0; index < word.length; index++) found.add(bucketOf(word.slice(0, index) + word.slice(index + 1)));
  return found;
};

/** Whether two different words are one typing mistake apart that is forgiven. */
export const isOneMistakeApart = (a: string, b: string): boolean => {
  if (a === b || Math.abs(a.length - b.length) > 1) return false;
  if (Math.max(a.length, b.length) < shortestCorrected) return false;
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA--;
    endB--;
  }
  const left = endA - start;
  const right = endB - start;
  if (left <= 1 && right <= 1) return true;
  return left === 2 && right === 2 && a[start] === b[start + 1] && a[start + 1] === b[start];
};
