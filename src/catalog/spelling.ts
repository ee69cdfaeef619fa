import { foldHash, hashOf } from './buckets.ts';

// Corrects one typing mistake: a missing, added or replaced letter, or two transposed ones. Two words can be one
// mistake apart only if deleting at most one letter from each gives the same text, so an index of terms under their
// deletions finds every candidate with a handful of look-ups (the method of SymSpell, for distance 1).

// The shortest word in which a mistake is forgiven: the word that was meant or, if it has a letter too many, the one
// that was typed.
const shortestCorrected = 5;
const longestCorrected = 64;

/**
 * A row is read as a whole. The keys of one bucket are divided into this many groups, and terms are examined by group.
 */
const groups = 32;
// Between the digits and the lower-case letters, so that no term contains one of these characters.
const firstGroup = 0x40;
const beforeGroup = /(?=[@-_])/;

/** A deletion as a number: its bucket, and its group in that. */
export type DeletionKey = number;

const keyOf = (text: string): DeletionKey => {
  const hash = hashOf(text);
  return foldHash(hash) * groups + (hash % groups);
};

/** The bucket of a deletion. */
export const bucketOfKey = (key: DeletionKey): number => Math.floor(key / groups);

/**
 * The keys of a word and of all its variants with one letter deleted; none for words outside the length limits. Terms
 * that share a key are only candidates, because several texts have the same key.
 */
export const findDeletionKeys = (word: string): Set<DeletionKey> => {
  const found = new Set<DeletionKey>();
  // One of the two words may be a letter shorter.
  if (word.length < shortestCorrected - 1 || word.length > longestCorrected) return found;
  found.add(keyOf(word));
  for (let index = 0; index < word.length; index++) found.add(keyOf(word.slice(0, index) + word.slice(index + 1)));
  return found;
};

const groupCharacter = (key: DeletionKey): string => String.fromCharCode(firstGroup + (key % groups));

/** A term, and the key of one of its deletions. */
export type KeyedTerm = readonly [key: DeletionKey, term: string];

/**
 * Writes the terms of a bucket, in the order of their keys, as one text: for each group its character and its terms,
 * one on each line.
 */
export const composeBucket = (terms: readonly KeyedTerm[]): string => {
  let text = '';
  let last = -1;
  for (const [key, term] of terms) {
    text += (key === last ? '\n' : groupCharacter(key)) + term;
    last = key;
  }
  return text;
};

/** Whether a group, which begins with its character, contains a term. */
const hasLine = (group: string, term: string): boolean => {
  for (let at = group.indexOf(term, 1); at > 0; at = group.indexOf(term, at + 1)) {
    const end = at + term.length;
    if ((at === 1 || group[at - 1] === '\n') && (end === group.length || group[end] === '\n')) return true;
  }
  return false;
};

/**
 * Adds terms, in the order of their keys, to the text that composeBucket wrote for a bucket, after the existing ones.
 */
export const addToBucket = (text: string, terms: readonly KeyedTerm[]): string => {
  const byCharacter = new Map(text.split(beforeGroup).map((group) => [group.charAt(0), group]));
  for (const [key, term] of terms) {
    const character = groupCharacter(key);
    const group = byCharacter.get(character);
    if (group === undefined) byCharacter.set(character, character + term);
    // Every term follows a line end, or the character of its group.
    else if (!hasLine(group, term)) byCharacter.set(character, `${group}\n${term}`);
  }
  return [...byCharacter.values()].sort().join('');
};

/** Removes terms from the text that composeBucket wrote for a bucket. Empty if no other term is left. */
export const removeFromBucket = (text: string, terms: readonly KeyedTerm[]): string => {
  const gone = new Set(terms.map(([key, term]) => groupCharacter(key) + term));
  return text
    .split(beforeGroup)
    .map((group) => {
      const character = group.charAt(0);
      const kept = group
        .slice(1)
        .split('\n')
        .filter((term) => !gone.has(character + term));
      return kept.length === 0 ? '' : character + kept.join('\n');
    })
    .join('');
};

/** The terms of one key in the text that composeBucket wrote for its bucket. Does not parse any other terms. */
export const termsOfKey = (key: DeletionKey, text: string): string[] => {
  const start = text.indexOf(groupCharacter(key)) + 1;
  if (start === 0) return [];
  let end = start;
  while (end < text.length && !isGroup(text.charCodeAt(end))) end++;
  return text.slice(start, end).split('\n');
};

const isGroup = (code: number): boolean => code >= firstGroup && code < firstGroup + groups;

/** Whether two different words are one forgivable typing mistake apart. */
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
