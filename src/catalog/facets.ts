import { endOfVersions, type VersionRanges } from '../compatibility/ios-versions.ts';
import { sectionKind } from '../contract/sections.ts';
import { stageOf } from '../contract/version-stage.ts';
import { foldText } from './search-text.ts';

// A search can be narrowed by facets, which are terms of the full-text index beside those of the texts. So the index
// skips what does not fit in the same pass that finds what does, however rare that is. Terms are as short as possible,
// because all their beginnings are indexed, too: a few characters of 20 bits each, from the planes of Unicode that are
// large enough. The tokenizer takes everything that is not ASCII for a letter.

const firstAstral = 0x10000;
const bits = 20;

const character = (number: number): string => String.fromCodePoint(firstAstral + number);

/**
 * 53 bits of a text, well mixed. Somebody who constructs two texts with the same digest gains nothing: their package is
 * found under another word that they chose themselves.
 */
const digest = (text: string): number => {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 2 ** 32 * (high & 0x1fffff) + (low >>> 0);
};

type Facet = 'architecture' | 'section' | 'kind' | 'stage' | 'repository' | 'price';

/**
 * The term of a value. Sections are compared without regard to case and accents, as texts are; other values exactly.
 */
export const facetTerm = (facet: Facet, value: string): string => {
  const number = digest(`${facet}\n${facet === 'section' ? foldText(value.trim()) : value}`);
  const low = number % 2 ** bits;
  const middle = Math.floor(number / 2 ** bits) % 2 ** bits;
  return character(low) + character(middle) + character(Math.floor(number / 2 ** (2 * bits)));
};

// Versions are the leaves of a binary tree. A range consists of a few whole branches, and a version lies on one branch
// of each size.
const depth = Math.log2(endOfVersions);

const branch = (size: number, version: number): string =>
  character(2 ** (depth - size) + Math.floor(version / 2 ** size));

/** The terms of a package that excludes these versions: at most two of each branch size for a range. */
export const excludingTerms = (ranges: VersionRanges): string[] =>
  ranges.flatMap(([from, end]) => {
    const terms: string[] = [];
    for (let at = from; at < end; ) {
      let size = 0;
      while (size < depth && at % 2 ** (size + 1) === 0 && at + 2 ** (size + 1) <= end) size++;
      terms.push(branch(size, at));
      at += 2 ** size;
    }
    return terms;
  });

/** The terms of all branches with this version. A package that excludes the version has one of them. */
export const excludedByTerms = (version: number): string[] =>
  Array.from({ length: depth + 1 }, (_, size) => branch(size, version));

/** The properties of a package by which a search can be narrowed. */
export interface Facets {
  readonly architecture: string;
  readonly section: string | null;
  readonly version: string;
  readonly repository: string;
  readonly price: string;
  /** The iOS versions on which the package says that it does not run. */
  readonly excluded: VersionRanges;
}

/** The term of packages with a pre-release version. */
export const unreleasedTerm = facetTerm('stage', 'pre-release');

/** All facet terms of a package, separated by blanks. */
export const facetText = ({ architecture, section, version, repository, price, excluded }: Facets): string =>
  [
    facetTerm('architecture', architecture),
    ...(section === null ? [] : [facetTerm('section', section)]),
    facetTerm('kind', sectionKind(section)),
    facetTerm('repository', repository),
    ...(stageOf(version) === undefined ? [] : [unreleasedTerm]),
    // Whatever is not paid is free.
    ...(price === 'Paid' ? [facetTerm('price', price)] : []),
    ...excludingTerms(excluded),
  ].join(' ');
