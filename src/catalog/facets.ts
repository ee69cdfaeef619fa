import { endOfVersions, type VersionRanges } from '../compatibility/ios-versions.ts';
import { sectionKind } from '../contract/sections.ts';
import { stageOf } from '../contract/version-stage.ts';
import { foldText } from './search-text.ts';

// By what a search can be narrowed, as terms of the full-text index beside those of the texts: the index then passes over
// what does not fit in the same walk that finds what does, however rare it is. A term is as short as can be, since every
// beginning of it is indexed too: a few characters, each of which stands for 20 bits, from the planes of Unicode that hold
// that many. Their tokenizer takes whatever is not ASCII for a letter.

const firstAstral = 0x10000;
const bits = 20;

const character = (number: number): string => String.fromCodePoint(firstAstral + number);

/** 53 bits of a text, mixed well. Who seeks two texts alike finds them, and is found under a word of their own choice. */
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

/** The term of a value; sections are compared without regard to case and accents, as texts are, the rest as written. */
export const facetTerm = (facet: Facet, value: string): string => {
  const number = digest(`${facet}\n${facet === 'section' ? foldText(value.trim()) : value}`);
  const low = number % 2 ** bits;
  const middle = Math.floor(number / 2 ** bits) % 2 ** bits;
  return character(low) + character(middle) + character(Math.floor(number / 2 ** (2 * bits)));
};

// Versions as the leaves of a binary tree: a range is few whole branches, and a version lies on one branch of each size.
const depth = Math.log2(endOfVersions);

const branch = (size: number, version: number): string =>
  character(2 ** (depth - size) + Math.floor(version / 2 ** size));

/** The terms of a package that excludes these versions: of a range at most two for each size of a branch. */
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

/** All terms of which a package has one that excludes this version. */
export const excludedByTerms = (version: number): string[] =>
  Array.from({ length: depth + 1 }, (_, size) => branch(size, version));

/** What a search can be narrowed by, of a package. */
export interface Facets {
  readonly architecture: string;
  readonly section: string | null;
  readonly version: string;
  readonly repository: string;
  readonly price: string;
  /** The versions of iOS on which it says that it does not run. */
  readonly excluded: VersionRanges;
}

/** The term of packages whose version comes before a release. */
export const unreleasedTerm = facetTerm('stage', 'pre-release');

/** The terms of a package by which a search is narrowed, with blanks between. */
export const facetText = ({ architecture, section, version, repository, price, excluded }: Facets): string =>
  [
    facetTerm('architecture', architecture),
    ...(section === null ? [] : [facetTerm('section', section)]),
    facetTerm('kind', sectionKind(section)),
    facetTerm('repository', repository),
    ...(stageOf(version) === undefined ? [] : [unreleasedTerm]),
    // What is not paid is free.
    ...(price === 'Paid' ? [facetTerm('price', price)] : []),
    ...excludingTerms(excluded),
  ].join(' ');
