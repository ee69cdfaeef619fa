import type { CatalogDatabase, WritableDatabase } from './database.ts';
import { findRepository } from './record-range.ts';
import { readSources } from './repository-slugs.ts';
import { computeTerms } from './search-document.ts';
import { joinWords } from './search-text.ts';
import { type PackageWords, Vocabulary } from './vocabulary.ts';

type Named = [identifier: string, name: string | null];

/** The names of the packages in these repositories. */
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

/** The names of packages of a catalog that the next one does not have, or that have other names there. */
function* readGone(before: CatalogDatabase, now: CatalogDatabase): Generator<PackageWords> {
  const [former, present] = [readSources(before), readSources(now)];
  const slugs = [...new Set([...former.keys(), ...present.keys()])];
  const changed = slugs.filter((slug) => former.get(slug) !== present.get(slug));
  const names = new Set(readNames(now, changed).map(keyOf));
  for (const named of readNames(before, changed)) if (!names.has(keyOf(named))) yield wordsOf(named);
}

/**
 * Removes from a fully indexed catalog the words that only vanished packages of the catalog before it had. The search
 * considers a limited number of words for a mistyped word, and of words that contain a text; words that find nothing
 * would take the places of others.
 */
export const removeUnusedWords = (before: CatalogDatabase, now: WritableDatabase): void =>
  new Vocabulary(now).forget(readGone(before, now));
