import { searchPage } from '../contract/search-page.ts';
import { fitsArchitecture } from './fits-architecture.ts';
import type { FoundPackage } from './found.ts';

/** The filters of results, as in the address of the page. */
export const facetNames = searchPage.facets;
export type FacetName = (typeof facetNames)[number];

/** The chosen values of some filters. */
export type Chosen = Readonly<Partial<Record<FacetName, string>>>;

/** How many packages have each value of each filter. */
export type FacetCounts = Readonly<Record<FacetName, ReadonlyMap<string, number>>>;

const valuesOf: Readonly<Record<FacetName, (found: FoundPackage) => readonly string[]>> = {
  section: ({ kinds }) => kinds,
  repository: ({ repositories }) => repositories,
  architecture: ({ architectures }) => architectures,
  price: ({ prices }) => prices,
  state: ({ states }) => states,
};

const fitsOne = (name: FacetName, value: string, found: FoundPackage): boolean =>
  name === 'architecture' ? fitsArchitecture(value, found) : valuesOf[name](found).includes(value);

/** Whether a package matches the chosen values. The filter `without` is ignored. */
export const fitsChosen = (chosen: Chosen, found: FoundPackage, without?: FacetName): boolean =>
  facetNames.every((name) => {
    const value = chosen[name];
    return value === undefined || name === without || fitsOne(name, value, found);
  });

/** How many of these packages each value would leave, together with the other chosen values. */
export const countFacets = (found: readonly FoundPackage[], chosen: Chosen): FacetCounts => {
  const countOf = (name: FacetName): ReadonlyMap<string, number> => {
    const others = found.filter((one) => fitsChosen(chosen, one, name));
    const values = new Set(others.flatMap(valuesOf[name]));
    return new Map([...values].map((value) => [value, others.filter((one) => fitsOne(name, value, one)).length]));
  };
  return Object.fromEntries(facetNames.map((name) => [name, countOf(name)])) as Record<
    FacetName,
    ReadonlyMap<string, number>
  >;
};
