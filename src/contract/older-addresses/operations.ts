import type { z } from 'zod';
import { apiRoot } from '../paths.ts';
import type { OlderQueryName } from './parameters.ts';
import * as records from './records.ts';

/**
 * One operation at an address from before /v2, which programs still call. Everything about older addresses (routes,
 * their description, the rules of hosts, the names in metrics) derives from this table. Addresses begin at the root of
 * the host.
 */
export interface OlderOperation {
  readonly address: string;
  readonly summary: string;
  /** The address that replaces it today, below the API's root. */
  readonly instead: string;
  /** The parameters of its query, in the order in which they are checked. */
  readonly query?: readonly OlderQueryName[];
  readonly schema?: z.ZodType;
  /** The published file that answers it, below the output folder. Without one the answer is computed. */
  readonly file?: string;
  readonly errors?: readonly number[];
  /** Whether it may answer with a redirect. */
  readonly redirects?: true;
}

/** The first segment of the addresses that came before /v2. */
export const olderRoot = 'v1';

export const olderOperations = {
  landing: {
    address: `/${olderRoot}/`,
    summary: 'What this service is',
    instead: '/',
    schema: records.olderLandingSchema,
  },
  description: {
    address: `/${olderRoot}/openapi.json`,
    summary: 'This description',
    instead: '/openapi.json',
    file: `${olderRoot}/openapi.json`,
  },
  packageLookup: {
    address: `/${olderRoot}/community/packages`,
    summary: 'The latest version of a package, or a redirect to its icon',
    instead: '/jailbreak/package/{packageId}',
    query: ['id', 'content', 'redirect', 'responseFields'],
    schema: records.olderPackageAnswerSchema,
    errors: [404],
    redirects: true,
  },
  packageSearch: {
    address: `/${olderRoot}/community/packages/search`,
    summary: 'Search packages by text',
    instead: '/jailbreak/package/search',
    query: ['search', 'limit', 'page', 'responseFields'],
    schema: records.olderPackagesAnswerSchema,
  },
  packagesLookup: {
    address: `/${olderRoot}/community/packages/lookup`,
    summary: 'The latest version of each of several packages',
    instead: '/jailbreak/package/multi',
    query: ['packages', 'responseFields'],
    schema: records.olderLookupAnswerSchema,
  },
  repositorySearch: {
    address: `/${olderRoot}/community/repositories/search`,
    summary: 'Search repositories by text, or list those of rankings',
    instead: '/jailbreak/repository/search',
    query: ['searchUnlessRanking', 'ranking', 'limit', 'page', 'responseFields'],
    schema: records.olderRepositoriesAnswerSchema,
  },
  repositorySafety: {
    address: `/${olderRoot}/community/repositories/safety`,
    summary: 'Whether repository addresses are safe: a word for one, a list for several',
    instead: '/jailbreak/repository/safety',
    query: ['uris', 'uri'],
    schema: records.olderSafetyAnswerSchema,
  },
  repositoryCheck: {
    address: `/${olderRoot}/community/repositories/check`,
    summary: 'Whether repository addresses are safe: a record for one, a list for several',
    instead: '/jailbreak/repository/safety',
    query: ['uris', 'uri'],
    schema: records.olderCheckAnswerSchema,
  },
  indexRepositories: {
    address: '/index-repositories.json',
    summary: 'The repositories of the manifest',
    instead: '/jailbreak/repository/ranking?rank=*',
    schema: records.indexRepositoriesSchema,
    file: 'index-repositories.json',
  },
  unsafeHosts: {
    address: '/piracy-repositories.json',
    summary: 'The hosts that are listed as unsafe',
    instead: '/jailbreak/repository/safety',
    schema: records.unsafeHostsSchema,
    file: 'piracy-repositories.json',
  },
} as const satisfies Record<string, OlderOperation>;
export type OlderOperationName = keyof typeof olderOperations;

/** Every operation of the table. */
export const olderTable: readonly (readonly [OlderOperationName, OlderOperation])[] = Object.entries(
  olderOperations,
) as [OlderOperationName, OlderOperation][];

/** The published files among them, by path below the output folder. */
export const olderFiles: ReadonlySet<string> = new Set(olderTable.flatMap(([, { file }]) => file ?? []));

/**
 * The last redirect target of the API's folder `jailbreak`. Below it the answers have the same bytes as below the API's
 * root.
 */
export const laterRoot = ['v4', 'canister-services'] as const;
const moved = 'jailbreak';
const laterPath = `/${[...laterRoot, moved].join('/')}/`;

/** The present path for a path below that folder. Any other path stays the same. */
export const presentPath = (path: string): string =>
  path.startsWith(laterPath) ? `/${apiRoot}/${moved}/${path.slice(laterPath.length)}` : path;

/** Whether these are the segments of such a path. */
export const isLaterPath = (segments: readonly string[]): boolean =>
  segments.length > laterRoot.length + 1 && [...laterRoot, moved].every((word, index) => segments[index] === word);
