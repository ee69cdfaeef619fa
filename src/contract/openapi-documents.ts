import { z } from 'zod';
import { fillPlaceholders, parameterOf } from './parameters.ts';
import { type Operation, type OperationName, operations } from './paths.ts';

// What is published as files and has an address of its own besides the documented ones: each prebuilt document under
// its name (decisions, section 1), and the feeds of the site.

const nameOf = (operation: string): string => `${operation}Document`;

/** The operation whose answer is the document that `documentOperations` calls so. */
export const operationOfDocument = (name: string): OperationName => name.replace(/Document$/, '') as OperationName;

/** Each prebuilt document under the name of its file, from the table of operations; the descriptions have that name. */
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
      summary: `${summary}, by the name of its file`,
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

/** A feed: like an operation, below the site and not below the API. */
export interface Feed extends Operation {
  readonly type: string;
}

const feed = (address: string, type: string, summary: string, schema?: z.ZodType): Feed => ({
  method: 'GET',
  address,
  tag: 'feed',
  summary,
  file: address.slice(1),
  errors: address.includes('{') ? [404] : [],
  type,
  ...(schema ? { schema } : {}),
});

/** JSON Feed, version 1.1, as far as the feeds here use it. */
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

/** The feeds that the site publishes, at addresses below the root of the host. */
export const feedOperations: Readonly<Record<string, Feed>> = {
  atomFeed: feed('/feed.atom', 'application/atom+xml; charset=utf-8', 'New and updated packages, as an Atom feed'),
  jsonFeed: feed('/feed.json', 'application/json', 'New and updated packages, as a JSON Feed', jsonFeedSchema),
  repositoryAtomFeed: feed(
    '/repository/{repositoryFolder}/feed.atom',
    'application/atom+xml; charset=utf-8',
    'New and updated packages of a repository, as an Atom feed',
  ),
  repositoryJsonFeed: feed(
    '/repository/{repositoryFolder}/feed.json',
    'application/json',
    'New and updated packages of a repository, as a JSON Feed',
    jsonFeedSchema,
  ),
};
