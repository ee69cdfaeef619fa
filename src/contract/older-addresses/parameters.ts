import type { ExampleSubject } from '../example-subject.ts';
import { givenList, integer, oneOf, type QueryParameter, type Refuse, required } from '../parameter-kinds.ts';
import { queryParameters, ranks, safetyMaximum } from '../parameters.ts';
import { searchLength } from '../search-length.ts';

// The parameters of older addresses. Programs also send others, such as the fields to search in, which are ignored.

/** The fields of a package with an address, to which the answer may be a redirect. */
const redirectable = ['packageIcon', 'header', 'depiction', 'nativeDepiction'] as const;

const { maximum: searchMaximum } = searchLength;
const fieldsMaximum = 64;

const searched = {
  description: `Text to search for, at most ${searchMaximum} characters. If empty, the answer has those of the best rankings.`,
  written: 'query',
  words: true,
  schema: { type: 'string', maxLength: searchMaximum },
  example: ({ packageId }: ExampleSubject) => packageId,
} as const;

const readSearched = (sent: string, refuse: Refuse): string => {
  const text = sent.trim();
  return [...text].length > searchMaximum ? refuse(`must be at most ${searchMaximum} characters`) : text;
};

const addresses = {
  schema: { type: 'string' },
  example: undefined,
} as const;

/** By the names in the table of older operations. */
export const olderQueryParameters = {
  id: required({
    description: 'Package identifier.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: ({ packageId }) => packageId,
    read: (text, refuse) => (text === '' || text.length > 255 ? refuse('must be 1 to 255 characters') : text),
  }),
  content: {
    description: 'With `redirect=true`, the field of the package to redirect to.',
    schema: { type: 'string', enum: redirectable, default: redirectable[0] },
    example: undefined,
    read: (text, refuse) => (text === undefined ? redirectable[0] : oneOf(redirectable, text, refuse)),
  },
  redirect: {
    description: '`true` redirects to the address in the field `content`, if it is http or https.',
    schema: { type: 'string' },
    example: undefined,
    read: (text) => text === 'true' || text === '1',
  },
  search: required({ ...searched, read: readSearched }),
  searchUnlessRanking: {
    ...searched,
    description: `${searched.description} Required without "ranking".`,
    read: (sent, refuse) => (sent === undefined ? undefined : readSearched(sent, refuse)),
  },
  ranking: {
    description: 'Rankings, separated by commas: 1 is best, 5 is last, * lists all.',
    schema: { type: 'string' },
    example: undefined,
    read: (text, refuse) => {
      if (text === undefined || text === '') return undefined;
      const asked = givenList(text).map((rank) => oneOf(ranks, rank, refuse));
      return new Set(asked.flatMap((rank) => (rank === '*' ? [1, 2, 3, 4, 5] : [Number(rank)])));
    },
  },
  packages: queryParameters.ids,
  uri: {
    ...addresses,
    description: 'One repository URI. It need not be percent-encoded. Required without "queries".',
    written: 'query',
    read: (text) => text,
  },
  uris: {
    ...addresses,
    description: `Repository URIs, separated by commas; at most ${safetyMaximum}. They need not be percent-encoded. Required without "query".`,
    written: 'queries',
    read: (text, refuse) => {
      if (text === undefined) return undefined;
      const uris = text === '' ? [] : text.split(',');
      if (uris.length <= safetyMaximum) return uris;
      return refuse(`must be at most ${safetyMaximum} URIs separated by commas`);
    },
  },
  responseFields: {
    description:
      'Fields to be given alone, separated by commas, such as `name` or `repository.uri`; `*` and nothing ask for all.',
    schema: { type: 'string' },
    example: undefined,
    read: (text) => {
      const fields = givenList(text ?? '').slice(0, fieldsMaximum);
      return fields.length === 0 || fields.includes('*') ? undefined : fields;
    },
  },
  limit: integer({
    description: 'Maximum number of records in the answer.',
    minimum: 1,
    maximum: 250,
    default: 100,
    example: () => '2',
  }),
  page: integer({ description: 'Number of the page, from 1.', minimum: 1, default: 1, example: undefined }),
} as const satisfies Record<string, QueryParameter<unknown>>;
export type OlderQueryName = keyof typeof olderQueryParameters;
