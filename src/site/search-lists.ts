import { joinWords, nameTerms } from '../catalog/search-text.ts';
import { beginningLists } from '../results/beginning-lists.ts';
import { indexRoot } from '../results/file-index.ts';
import { statedByBuilds } from '../results/found.ts';
import { traitsFile } from '../results/index-traits.ts';
import { nameLists } from '../results/name-lists.ts';
import { statedLists } from '../results/stated-lists.ts';
import { composeBeginnings, composeFirstRows } from './beginnings.ts';
import type { SiteCatalog } from './site-catalog.ts';
import { joinStatements } from './stated.ts';
import { composeTraits } from './told-traits.ts';

/** A file of the search index. */
export interface IndexFile {
  /** Below its folder. */
  readonly path: string;
  readonly content: Uint8Array;
}

const jsonFile = (name: string, value: unknown): IndexFile => ({
  path: name.slice(indexRoot.length),
  content: Buffer.from(JSON.stringify(value)),
});

/** The names of packages with their words joined, and these words, by length and in order. */
const composeNames = ({ packages }: SiteCatalog): IndexFile[] => {
  const byLength = new Map<number, Set<string>>();
  for (const { name } of packages.values()) {
    for (const term of [joinWords(name), ...nameTerms(name).words]) {
      const { length } = term;
      if (length < nameLists.shortest || length > nameLists.longest) continue;
      const known = byLength.get(length);
      if (known === undefined) byLength.set(length, new Set([term]));
      else known.add(term);
    }
  }
  return [...byLength].map(([length, names]) => jsonFile(nameLists.file(length), [...names].sort()));
};

/**
 * What packages state about devices beyond the architecture of a record. Including packages with several builds, of
 * which a search narrowed by build finds only one.
 */
const composeStated = ({ packages, statedLists: count }: SiteCatalog): IndexFile[] => {
  if (count === 0) return [];
  const lists = new Map<number, Record<string, string>>();
  for (const { id, stated, architectures } of packages.values()) {
    const runs = joinStatements(stated.values());
    const builds = statedByBuilds(architectures);
    if (runs === builds && !builds.includes(';')) continue;
    const number = statedLists.of(id, count);
    const list = lists.get(number) ?? Object.create(null);
    list[id] = runs;
    lists.set(number, list);
  }
  return [...lists].map(([number, list]) => jsonFile(statedLists.file(number), list));
};

/** The first suggestions, by two letters and by one. */
const composeSuggestions = ({ packages, hasDevices }: SiteCatalog): IndexFile[] => {
  const lists = composeBeginnings(packages.values(), hasDevices);
  return [...lists, ...composeFirstRows(lists)].map(([beginning, rows]) =>
    jsonFile(beginningLists.file(beginning), rows),
  );
};

/**
 * The lists beside the search index, for what it does not do: names to correct mistypings, first suggestions, what
 * packages state about devices, and what is known of repositories. Rows that are made from the function's answers need
 * the last two.
 */
export const composeLists = (catalog: SiteCatalog): IndexFile[] => [
  ...composeNames(catalog),
  ...composeSuggestions(catalog),
  ...composeStated(catalog),
  jsonFile(traitsFile, composeTraits(catalog)),
];
