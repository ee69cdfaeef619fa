import { z } from 'zod';
import { badgeSchema } from './badge.ts';
import { changeListSchema, generationSchema, keptChangeLists } from './generation.ts';
import { fillPlaceholders, parameterOf } from './parameters.ts';
import { type Operation, type OperationName, operations } from './paths.ts';

// Published files with addresses of their own besides the operations: every prebuilt document under its name
// (decisions, section 1), and the feeds of the site.

const nameOf = (operation: string): string => `${operation}Document`;

/** The operation whose answer is the document with this name in `documentOperations`. */
export const operationOfDocument = (name: string): OperationName => name.replace(/Document$/, '') as OperationName;

/**
 * Every prebuilt document under the name of its file, from the table of operations. The descriptions already have that
 * name.
 */
export const documentOperations: Readonly<Record<string, Operation>> = Object.fromEntries(
  Object.entries<Operation>(operations).flatMap(([name, { file, tag, summary, schema }]) => {
    if (file === undefined || schema === undefined) return [];
    const nameIn = (name: string, isFolder: boolean): string => {
      const { inFile, inFolder } = parameterOf(name);
      return `{${(isFolder ? inFolder : inFile)?.name ?? name}}`;
    };
    const address = `/${fillPlaceholders(file, nameIn)}`;
    if (address === operations[name as OperationName].address) return [];
    const operation: Operation = {
      method: 'GET',
      address,
      tag,
      summary: `${summary}, by file name`,
      schema,
      file,
      errors: address.includes('{') ? [404] : [],
    };
    return [[nameOf(name), operation]];
  }),
);

/** The operations whose address is the name of their file. */
export const fileOperations: Readonly<Record<string, Operation>> = Object.fromEntries(
  Object.entries<Operation>(operations).filter(([, { address, file }]) => address === `/${file}`),
);

/** The files about generations, for programs that follow the publication (decisions, section 8). */
export const publicationOperations = {
  generation: {
    method: 'GET',
    address: '/generation.json',
    tag: 'publication',
    summary: 'Which generation of the index is published',
    schema: generationSchema,
    file: 'generation.json',
  },
  generationChanges: {
    method: 'GET',
    address: '/changes/{generation}.json',
    tag: 'publication',
    summary: 'Packages added, updated and removed by a generation, and the files that it changed',
    description: `The last ${keptChangeLists} lists stay. To follow the index, read the generation from time to time, and the list of each number since. Where one is gone, or its \`previous\` is not the number before, read everything anew. A repository that came or went is told by its record in \`documents\` alone.`,
    schema: changeListSchema,
    file: 'changes/{generation}.json',
    errors: [404],
  },
} as const satisfies Readonly<Record<string, Operation>>;

/** A file of the site for programs. It is like an operation, but below the site rather than the API. */
export interface SiteFile extends Operation {
  readonly type: string;
}

const siteFile = (
  tag: 'feed' | 'badge',
  address: string,
  type: string,
  summary: string,
  schema?: z.ZodType,
): SiteFile => ({
  method: 'GET',
  address,
  tag,
  summary,
  file: address.slice(1),
  errors: address.includes('{') ? [404] : [],
  type,
  ...(schema ? { schema } : {}),
});

/** The part of JSON Feed, version 1.1, that the feeds here use. */
export const jsonFeedSchema = z.strictObject({
  version: z.literal('https://jsonfeed.org/version/1.1'),
  title: z.string(),
  home_page_url: z.url(),
  feed_url: z.url(),
  icon: z.url(),
  favicon: z.url(),
  items: z.array(
    z.strictObject({
      id: z.string(),
      url: z.url(),
      title: z.string(),
      content_text: z.string(),
      date_published: z.iso.datetime(),
      authors: z.array(z.strictObject({ name: z.string() })),
      tags: z.array(z.string()),
    }),
  ),
});

const atomFeed = (below: string, what: string): SiteFile =>
  siteFile('feed', `${below}/feed.atom`, 'application/atom+xml; charset=utf-8', `${what}, as an Atom feed`);
const jsonFeed = (below: string, what: string): SiteFile =>
  siteFile('feed', `${below}/feed.json`, 'application/json', `${what}, as a JSON Feed`, jsonFeedSchema);

/** The feeds that the site publishes, at addresses below the root of the host. */
const feedOperations: Readonly<Record<string, SiteFile>> = {
  atomFeed: atomFeed('', 'New and updated packages'),
  jsonFeed: jsonFeed('', 'New and updated packages'),
  divergenceFeed: atomFeed(
    '/divergence',
    'Versions whose bytes differ from those in another repository, or from before',
  ),
  repositoryAtomFeed: atomFeed('/repository/{repositoryFolder}', 'New and updated packages of a repository'),
  repositoryJsonFeed: jsonFeed('/repository/{repositoryFolder}', 'New and updated packages of a repository'),
  sectionAtomFeed: atomFeed('/section/{sectionKind}', 'New and updated packages of a kind of section'),
  authorAtomFeed: atomFeed('/author/{authorFolder}', 'New and updated packages of an author'),
  packageAtomFeed: atomFeed('/package/{packageFolder}', 'New versions of a package for devices with iOS'),
};

/** The badges that the site publishes for owners of repositories. */
const badgeOperations: Readonly<Record<string, SiteFile>> = {
  repositoryBadge: siteFile(
    'badge',
    '/badge/{repositoryFolder}.svg',
    'image/svg+xml; charset=utf-8',
    'The state of a repository, as an image for its README',
  ),
  repositoryShield: siteFile(
    'badge',
    '/badge/{repositoryFolder}.json',
    'application/json',
    'The state of a repository, for shields.io',
    badgeSchema,
  ),
};

/** Everything that the site publishes for programs, at addresses below the root of the host. */
export const siteOperations: Readonly<Record<string, SiteFile>> = { ...feedOperations, ...badgeOperations };

/** Whether operations with this tag are below the site rather than the API. */
export const isOfSite = (tag: Operation['tag']): boolean => tag === 'feed' || tag === 'badge';
