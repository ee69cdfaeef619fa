import type { ExampleSubject } from './example-subject.ts';
import { encodeFileName, encodeFolderName } from './filenames.ts';
import { iosVersionPattern } from './ios-version.ts';
import { slugPattern } from './manifest.ts';
import { packageStates } from './package-states.ts';
import {
  choice,
  filter,
  givenList,
  type InFile,
  integer,
  oneOf,
  type Parameter,
  type QueryParameter,
  type Refuse,
  required,
} from './parameter-kinds.ts';
import { searchLength } from './search-length.ts';
import { mostWords } from './search-words.ts';
import { sectionKinds } from './sections.ts';

// The parameters of the read API, each once: its meaning, how it is read, the message if it is wrong (decisions,
// section 3), and its value in examples. The description, the reference and the reading of queries derive from this
// table.

/** The most bytes of records in one computed answer. Any page of a search fits, and any honest multi lookup. */
export const answerMaximum = 20 * 2 ** 20;

/** The most records in a page of a list. Longer lists are also published in pages of this size. */
export const listPageMaximum = 1000;
/** The most identifiers in one multi lookup. */
const multiMaximum = 2000;
/** The most addresses in one safety check. */
export const safetyMaximum = 250;

/** The most repositories that a visitor may have configured: more than any manifest has. */
const repositoriesMaximum = 1000;
/** The most characters of an architecture. */
const architectureMaximum = 64;

const firmwareForm = {
  pattern: iosVersionPattern,
  complaint: 'must be a version of iOS such as 16.7 or 15.8.3',
  examples: ['16.7', '15.8.3'],
} as const;

/** The values of `rank`; `*` lists every ranking. */
export const ranks = ['1', '2', '3', '4', '5', '*'] as const;
export type Rank = (typeof ranks)[number];
const rankInFile = (rank: string): string => (rank === '*' ? 'all' : rank);

const priorities = ['default', 'bootstrap'] as const;

/** The values of `price`, as in records. */
export const prices = ['Free', 'Paid'] as const;
/** The orders of a package search besides relevance. */
export const packageOrders = ['newest', 'downloads', 'name'] as const;
/** The most characters of a section in a query. */
const sectionMaximum = 256;

/** Parameters that are a segment of an address. */
const pathParameters = {
  packageId: {
    description: 'Package identifier, percent-encoded.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: ({ packageId }) => packageId,
    inFile: {
      name: 'packageFile',
      description: 'Package identifier, encoded as in the file name.',
      schema: { type: 'string', minLength: 1 },
    },
  },
  repositorySlug: {
    description: 'Slug of the repository, case-sensitive.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: ({ slug }) => slug,
    inFile: {
      name: 'repositoryFile',
      description: 'Slug of the repository, encoded as in the file name.',
      schema: { type: 'string', minLength: 1 },
    },
    inFolder: {
      name: 'repositoryFolder',
      description: 'Slug of the repository, encoded as in the folder name.',
      schema: { type: 'string', minLength: 1 },
    },
  },
  generation: {
    description: 'Number of a generation.',
    schema: { type: 'integer', minimum: 1 },
    // Only the last hundred change lists are kept.
    example: undefined,
  },
  packageFolder: {
    description: 'Package identifier as in the address of its page.',
    schema: { type: 'string', minLength: 1 },
    // A package that is not for iOS devices has no feed.
    example: undefined,
  },
  authorFolder: {
    description: "Name of the author as in the address of the author's page.",
    schema: { type: 'string', minLength: 1 },
    // An author named by a mail address has no page.
    example: undefined,
  },
  sectionKind: {
    description: 'Kind of section as in the address of its page.',
    schema: { type: 'string', enum: sectionKinds },
    // Kinds without a package have no page.
    example: undefined,
  },
  pageNumber: {
    description: 'Number of the page, from 1.',
    schema: { type: 'integer', minimum: 1 },
    // Few repositories are large enough for pages.
    example: undefined,
    inFile: { name: 'pageFile', description: 'Number of the page, from 1.', schema: { type: 'integer', minimum: 1 } },
  },
} as const satisfies Record<string, Parameter>;

/** Parameters of queries, by name. */
export const queryParameters = {
  q: required({
    description: `Text to search for: ${searchLength.minimum} to ${searchLength.maximum} characters after trimming, without syntax; the first ${mostWords} words count.`,
    words: true,
    schema: { type: 'string', minLength: searchLength.minimum },
    example: ({ packageId, name, slug }, tag) => {
      const [word = ''] = name.toLowerCase().split(/\s+/);
      const searched = tag === 'repository' ? slug : word;
      return searched.length >= searchLength.minimum ? searched : packageId;
    },
    read: (sent, refuse) => {
      const text = sent.trim();
      // People count code points as characters, not the UTF-16 units of String.length.
      const length = [...text].length;
      if (length < searchLength.minimum) return refuse(`must be at least ${searchLength.minimum} characters`);
      if (length > searchLength.maximum) return refuse(`must be at most ${searchLength.maximum} characters`);
      return text;
    },
  }),
  limit: integer({
    description: 'Maximum number of records on a page.',
    minimum: 1,
    maximum: 250,
    default: 100,
    // Keeps the example short.
    example: () => '2',
  }),
  listLimit: integer({
    description:
      'Maximum number of records on a page. Without `limit` and `page`, the answer is the whole list in one piece.',
    written: 'limit',
    minimum: 1,
    maximum: listPageMaximum,
    default: listPageMaximum,
    example: undefined,
  }),
  page: integer({
    description: 'Number of the page, from 1. A page past the end is empty.',
    minimum: 1,
    default: 1,
    example: undefined,
  }),
  deviceArchitecture: required({
    written: 'architecture',
    description: 'Architecture of the device, such as iphoneos-arm64. Packages for "all" fit each.',
    schema: { type: 'string', minLength: 1, maxLength: architectureMaximum },
    example: ({ architecture }) => architecture,
    read: (text, refuse) =>
      text.length <= architectureMaximum && /^[A-Za-z0-9][A-Za-z0-9.+-]*$/.test(text)
        ? text
        : refuse('must be one architecture such as iphoneos-arm64'),
  }),
  repositories: {
    description: `Slugs of the repositories already added to the device, separated by commas; at most ${repositoriesMaximum}.`,
    required: false,
    schema: { type: 'string' },
    example: ({ slug }: ExampleSubject) => slug,
    read: (text: string | undefined, refuse: Refuse) => {
      const slugs = givenList(text ?? '');
      if (slugs.length <= repositoriesMaximum) return slugs;
      return refuse(`must be at most ${repositoriesMaximum} slugs separated by commas`);
    },
  },
  deviceFirmware: {
    ...filter({
      description:
        'Version of iOS on the device, for relations to `firmware`. Without it any version satisfies them. `16` is 16.0.',
      ...firmwareForm,
    }),
    written: 'firmware',
  },
  ids: required({
    description: `Package identifiers, separated by commas; at most ${multiMaximum}.`,
    schema: { type: 'string', minLength: 1 },
    example: ({ packageId }) => packageId,
    read: (text, refuse) => {
      const ids = givenList(text);
      if (ids.length >= 1 && ids.length <= multiMaximum) return ids;
      return refuse(`must be 1 to ${multiMaximum} identifiers separated by commas`);
    },
  }),
  priority: {
    description:
      'Which repository wins if several have a package: `default` takes the best ranked, `bootstrap` prefers bootstrap repositories.',
    schema: { type: 'string', enum: priorities, default: priorities[0] },
    example: undefined,
    read: (text: string = priorities[0], refuse: Refuse) => oneOf(priorities, text, refuse),
  },
  rank: required({
    description: 'Ranking: 1 is best, 5 is last, * lists all.',
    schema: { type: 'string', enum: ranks },
    example: ({ ranking }) => String(ranking),
    inFile: {
      name: 'rankFile',
      description: 'Ranking: 1 is best, 5 is last, "all" lists all.',
      schema: { type: 'string', enum: ranks.map(rankInFile) },
      spell: rankInFile,
    },
    read: (text, refuse) => oneOf(ranks, text, refuse),
  }),
  architecture: filter({
    description:
      'Only packages for this architecture or for all, and none if there is no package for it: `iphoneos-arm` is rootful, `iphoneos-arm64` rootless, `iphoneos-arm64e` RootHide.',
    pattern: /^[a-z0-9][a-z0-9-]{0,63}$/,
    complaint: 'must be one architecture such as iphoneos-arm64: small letters, digits and "-"',
    examples: ['iphoneos-arm64'],
  }),
  firmware: filter({
    description:
      'A version of iOS. Leaves out packages that say they do not run on it, by relations to `firmware` or tags such as `compatible_max::ios16.5`. Packages that say nothing stay. `16` is 16.0.',
    ...firmwareForm,
  }),
  section: {
    description: 'Only packages of this section, as records name it; not case-sensitive.',
    required: false,
    words: true,
    schema: { type: 'string', maxLength: sectionMaximum, examples: ['Tweaks'] },
    example: undefined,
    read: (sent: string | undefined, refuse: Refuse) => {
      const text = sent?.trim() ?? '';
      // Characters are code points here too.
      if ([...text].length > sectionMaximum) return refuse(`must be at most ${sectionMaximum} characters`);
      return text === '' ? undefined : text;
    },
  },
  repository: filter({
    description: 'Only packages of the repository with this slug or former slug.',
    pattern: slugPattern,
    complaint: 'must be the slug of one repository: letters (A-Z, a-z), digits, ".", "_" and "-"',
    examples: ['chariz'],
  }),
  price: choice({ description: 'Only free or only paid packages.', values: prices }),
  kind: choice({
    description: 'Only packages of this kind of section, as the site groups them.',
    values: sectionKinds,
  }),
  state: choice({
    description:
      'Only packages with a released version from a repository that answers (`current`), with a version before a release (`pre-release`), or from a repository that the last build could not read (`stale`).',
    values: packageStates,
  }),
  sort: choice({
    description:
      'Order of the packages: `newest` (most recently added first), most `downloads`, or by `name`. Without it the best matches come first. Sorts the best 10,000 records; those that match all words but one stay last.',
    values: packageOrders,
  }),
  uris: {
    description: `Repository URIs, separated by commas; at most ${safetyMaximum}. They need not be percent-encoded.`,
    required: false,
    schema: { type: 'string' },
    example: ({ uri }: ExampleSubject) => uri,
    read: (text: string | undefined, refuse: Refuse) => {
      const uris = text === undefined || text === '' ? [] : text.split(',');
      if (uris.length <= safetyMaximum) return uris;
      return refuse(`must be at most ${safetyMaximum} URIs separated by commas`);
    },
  },
} as const satisfies Record<string, QueryParameter<unknown>>;
export type QueryName = keyof typeof queryParameters;

/** The values of the parameters in a query, by name. */
type Query<Name extends QueryName> = {
  readonly [Each in Name]: ReturnType<(typeof queryParameters)[Each]['read']>;
};

/** The parameters that narrow a search of packages. */
export const packageFilters = ['architecture', 'firmware', 'section', 'repository', 'price', 'kind', 'state'] as const;

/** The filters of a package search. A package has to match all of them. */
export type PackageFilter = Partial<Query<(typeof packageFilters)[number]>>;

/** The order of a package search; undefined for relevance. */
export type PackageOrder = Query<'sort'>['sort'];

/** The name of a parameter in a query. */
export const writtenName = (name: QueryName): string => {
  const parameter: QueryParameter<unknown> = queryParameters[name];
  return parameter.written ?? name;
};

/** The message if a required parameter is missing. */
export const missingParameter = (name: string): string => `Missing query parameter: '${name}'`;

/** The message if a parameter is wrong. */
export const wrongParameter = (name: string, complaint: string): string => `Query parameter '${name}' ${complaint}`;

/** The complaint about a repeated parameter. */
export const givenTwice = 'must be given once';

const inAddresses: Readonly<Record<string, Parameter>> = { ...pathParameters, ...queryParameters };
const inNames = Object.values(inAddresses).flatMap(({ inFile, inFolder, example }) => {
  const named = (place: InFile | undefined, encode: (value: string) => string) => {
    if (place === undefined) return [];
    const { spell = encode } = place;
    const parameter: Parameter = { ...place, example: example && ((subject, tag) => spell(example(subject, tag))) };
    return [[place.name, parameter] as const];
  };
  return [...named(inFile, encodeFileName), ...named(inFolder, encodeFolderName)];
});
const parameters: ReadonlyMap<string, Parameter> = new Map<string, Parameter>([
  ...Object.entries(inAddresses),
  ...inNames,
]);

/** The parameter of this name, in an address, a query or the name of a file. Throws a TypeError if there is none. */
export const parameterOf = (name: string): Parameter => {
  const parameter = parameters.get(name);
  if (parameter === undefined) throw new TypeError(`src/contract/parameters.ts has no parameter ${name}`);
  return parameter;
};

/** Replaces each `{name}` in the text of an address or a file. `fill` is also told whether a slash follows. */
export const fillPlaceholders = (text: string, fill: (name: string, isFolder: boolean) => string): string =>
  text.replace(/\{(\w+)\}(?=(\/?))/g, (_, name: string, slash: string) => fill(name, slash !== ''));

/** The names of the parameters in an address or a file. */
export const placeholdersOf = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
