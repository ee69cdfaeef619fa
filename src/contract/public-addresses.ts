import { encodeFileName } from './filenames.ts';
import { apiRoot, documentPath, fileAddress, operations } from './paths.ts';

// What packages and repositories can be asked for by, and the addresses of them that answers name.

/** The longest path segment that the API reads, in bytes once decoded (decisions, section 3). */
export const longestSegment = 255;
const utf8 = new TextEncoder();

/** What stands in the place of a name below a folder of addresses: words of the API, which win over what is called so (decisions, section 1). */
export const wordsBelow = (folder: string): ReadonlySet<string> =>
  new Set(
    Object.values(operations)
      .flatMap(({ address }) => address.split(folder)[1] ?? [])
      .filter((word) => !word.startsWith('{')),
  );
const packageWords = wordsBelow('/jailbreak/package/');

/** What a repository that is called so cannot be looked up by. */
export const repositoryWords = wordsBelow('/jailbreak/repository/');

/** What has no more UTF-16 code units is no longer in UTF-8. */
const surelyShort = Math.floor(longestSegment / 3);

/** Whether what is called so can be asked for where more follows behind it: no word and no document is called so there. */
export const isSegment = (name: string): boolean =>
  !/^\.{1,2}$/.test(name) && (name.length <= surelyShort || utf8.encode(name).length <= longestSegment);

/**
 * Whether what is called so can be asked for by that name, where these words are the API's. What every client would
 * resolve as a dot segment, however it is encoded, cannot; nor can a word, what is too long, or what is called like the
 * document of another: "foo.json" would be answered with the records of "foo". Their documents have names of their own.
 */
export const isAskable = (name: string, words: ReadonlySet<string>): boolean =>
  isSegment(name) && !name.endsWith('.json') && !words.has(name);

const packageSegment = (id: string): string =>
  isAskable(id, packageWords) ? encodeURIComponent(id) : `${encodeFileName(id)}.json`;

const repositorySegment = (slug: string): string =>
  isAskable(slug, repositoryWords) ? encodeURIComponent(slug) : `${encodeFileName(slug)}.json`;

/** How a publication is addressed. */
export interface Addressing {
  /** Public address without trailing slash; its path, where it has one, is that below which everything lies. */
  readonly base: string;
  /**
   * Whether `refs` and descriptions name files alone, which a host answers that knows nothing else (decisions, section 8).
   */
  readonly staticRefs?: boolean | undefined;
}

const fileAddresses = (base: string) => ({
  package: (id: string) => fileAddress(base, documentPath.package(id)),
  repository: (slug: string) => fileAddress(base, documentPath.repository(slug)),
  repositoryPackages: (slug: string) => fileAddress(base, documentPath.repositoryPackages(slug)),
});

const askedAddresses = (base: string) => ({
  package: (id: string) => `${base}/${apiRoot}/jailbreak/package/${packageSegment(id)}`,
  repository: (slug: string) => `${base}/${apiRoot}/jailbreak/repository/${repositorySegment(slug)}`,
  repositoryPackages: (slug: string) => `${base}/${apiRoot}/jailbreak/repository/${encodeURIComponent(slug)}/packages`,
});

/**
 * The absolute addresses that stand in `refs`. Path segments are percent-encoded once. Each of them answers: where an
 * identifier cannot be asked for, and wherever files alone are named, it is the address of the document.
 */
export const publicAddress = ({ base, staticRefs = false }: Addressing): ReturnType<typeof askedAddresses> =>
  staticRefs ? fileAddresses(base) : askedAddresses(base);
