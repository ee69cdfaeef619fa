import type { VersionRanges } from '../compatibility/ios-versions.ts';
import { readExcluded, type StatingFields } from '../compatibility/statements.ts';
import type { PackageRecord } from '../contract/records.ts';
import { facetText } from './facets.ts';
import { describedBy } from './placeholder.ts';
import { parseRecord } from './record-list.ts';
import { computeTerms, wholeTerm } from './search-document.ts';
import { descriptionText, joinWords } from './search-text.ts';

/** The columns of the full-text index, in the order of `SearchRow.texts`; see searchTables. */
const searchColumns = ['key', 'identifier', 'name', 'segment', 'author', 'description', 'facet'] as const;

/** The row of a record in the full-text index. */
export interface SearchRow {
  readonly identifier: string;
  /** The name that is shown. */
  readonly shown: string;
  /** The name with its words joined together. */
  readonly key: string;
  /**
   * Words of the name, and terms of the identifier. Mistyped words are corrected to these, and parts of words are found
   * inside them.
   */
  readonly words: ReadonlySet<string>;
  readonly segment: readonly string[];
  /** The terms of each column, separated by blanks. */
  readonly texts: readonly string[];
}

// Few packages say anything about iOS, so for the others nothing more is read.
const excludedVersions = (
  { architecture, tags }: Pick<PackageRecord, 'architecture' | 'tags'>,
  details: string | null,
): VersionRanges =>
  details?.includes('firmware') || tags?.some((tag) => /^compatible/i.test(tag))
    ? readExcluded({ ...(JSON.parse(details ?? '{}') as Partial<StatingFields>), architecture, tags })
    : [];

/** The full-text row of a record, from its ready text and its details as the catalog stores them. */
export const composeSearchRow = (json: string, details: string | null): SearchRow => {
  const { package_id: identifier, name, author, maintainer, description: written, ...rest } = parseRecord(json);
  const description = describedBy(written);
  const shown = name ?? identifier;
  const key = joinWords(shown);
  const terms = computeTerms({ identifier, name, author, maintainer, description });
  return {
    identifier,
    shown,
    key,
    words: terms.words,
    segment: terms.segment,
    texts: [
      wholeTerm(key),
      wholeTerm(joinWords(identifier)),
      terms.name.join(' '),
      [...terms.segment, wholeTerm(joinWords(identifier.slice(identifier.lastIndexOf('.') + 1)))].join(' '),
      terms.author.join(' '),
      description === null ? '' : descriptionText(description),
      facetText({ ...rest, repository: rest.repository_id, excluded: excludedVersions(rest, details) }),
    ],
  };
};

/** Inserts a row into the full-text index under the number of its document. */
export const insertSearchRow = `INSERT INTO search (rowid, ${searchColumns.join(', ')}) VALUES (?${', ?'.repeat(searchColumns.length)})`;
