import type { CatalogDatabase, WritableDatabase } from './database.ts';
import { findRepository } from './record-range.ts';
import { computeTerms } from './search-document.ts';
import { joinWords } from './search-text.ts';
import { type PackageWords, Vocabulary } from './vocabulary.ts';

type Named = [identifier: string, name: string | null];

const readSources = (database: CatalogDatabase): Map<string, string> =>
  new Map(database.prepare<[string, string]>('SELECT slug, source FROM repository').all());

/** What the packages of these repositories are called. */
function* readNames(database: CatalogDatabase, slugs: readonly string[]): Generator<Named> {
  const select = database.prepare<Named>(
    'SELECT package, name FROM record WHERE id >= ? AND id < ? AND latest = 1 ORDER BY id',
  );
  for (const slug of slugs) {
    const found = findRepository(database, slug);
    if (found !== undefined) yield* select.iterate(...found.range);
  }
}

const keyOf = (named: Named): string => JSON.stringify(named);

const wordsOf = ([identifier, name]: Named): PackageWords => ({
  key: joinWords(name ?? identifier),
  ...computeTerms({ identifier, name, author: null, maintainer: null, description: null }),
});

/** What packages of a catalog are called that the next one does not have, or calls otherwise. */
function* readGone(before: CatalogDatabase, now: CatalogDatabase): Generator<PackageWords> {
  const [former, present] = [readSources(before), readSources(now)];
  const slugs = [...new Set([...former.keys(), ...present.keys()])];
  const changed = slugs.filter((slug) => former.get(slug) !== present.get(slug));
  const names = new Set(readNames(now, changed).map(keyOf));
  for (const named of readNames(before, changed)) if (!names.has(keyOf(named))) yield wordsOf(named);
}

/**
 * Takes out of a catalog that is all indexed the words that only packages had which the catalog before it held: of what a
 * mistyped word may mean, and of what has it inside, so many are asked for, and what finds nothing would take their places.
 */
export const removeUnusedWords = (before: CatalogDatabase, now: WritableDatabase): void =>
  new Vocabulary(now).forget(readGone(before, now));
