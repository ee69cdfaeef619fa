import { encodeFileName } from './filenames.ts';
import { apiRoot, documentPath, fileAddress, operations } from './paths.ts';

// By which names packages and repositories can be requested, and their addresses in answers.

/** The longest path segment that the API accepts, in bytes after decoding (decisions, section 3). */
export const longestSegment = 255;
const utf8 = new TextEncoder();

/**
 * Words of the API in the place of a name below a folder of addresses. They win over a package or repository of that
 * name (decisions, section 1).
 */
export const wordsBelow = (folder: string): ReadonlySet<string> =>
  new Set(
    Object.values(operations)
      .flatMap(({ address }) => address.split(folder)[1] ?? [])
      .filter((word) => !word.startsWith('{')),
  );
const packageWords = wordsBelow('/jailbreak/package/');

/** Slugs by which no repository can be looked up. */
export const repositoryWords = wordsBelow('/jailbreak/repository/');

/** A text with at most this many UTF-16 code units is never too long in UTF-8. */
const surelyShort = Math.floor(longestSegment / 3);

/** Whether a name can be used in an address that continues after it, where there are no words and no documents. */
export const isSegment = (name: string): boolean =>
  !/^\.{1,2}$/.test(name) && (name.length <= surelyShort || utf8.encode(name).length <= longestSegment);

/**
 * Whether something can be requested by its name, where these words belong to the API. That is impossible for a name
 * that every client would resolve as a dot segment, however it is encoded, for a word, for a name that is too long, and
 * for one that is also the name of another document: "foo.json" would be answered with the records of "foo". Their
 * documents have other names.
 */
export const isAskable = (name: string, words: ReadonlySet<string>): boolean =>
  isSegment(name) && !name.endsWith('.json') && !words.has(name);

const packageSegment = (id: string): string =>
  isAskable(id, packageWords) ? encodeURIComponent(id) : `${encodeFileName(id)}.json`;

const repositorySegment = (slug: string): string =>
  isAskable(slug, repositoryWords) ? encodeURIComponent(slug) : `${encodeFileName(slug)}.json`;

/** How a publication is addressed. */
export interface Addressing {
  /** Public address without trailing slash. If it has a path, everything lies below that. */
  readonly base: string;
  /** Whether `refs` and descriptions name only files, for hosts that can answer nothing else (decisions, section 8). */
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
 * The absolute addresses in `refs`. Path segments are percent-encoded once. Each of them can be requested: if that is
 * impossible by the identifier, or if only files are named, it is the address of the document.
 */
export const publicAddress = ({ base, staticRefs = false }: Addressing): ReturnType<typeof askedAddresses> =>
  staticRefs ? fileAddresses(base) : askedAddresses(base);
