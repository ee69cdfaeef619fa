import { multiMaximum, ranks, safetyMaximum, searchLength, searchLimit } from './parameters.ts';

// What the description says of each parameter. The schemas of parameters.ts turn text into values, which JSON Schema
// cannot show, so bounds come from their constants.

const list = (what: string, most: number) => `${what}, separated by commas; at most ${most}.`;

/** Description, bounds and example of every parameter of the read API, by name. */
export const parameterDescriptions = {
  packageId: {
    description: 'Package identifier, percent-encoded.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  repositorySlug: {
    description: 'Slug of the repository.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  packageFile: {
    description: 'Package identifier as it stands in the name of a file.',
    schema: { type: 'string', minLength: 1 },
  },
  repositoryFile: {
    description: 'Slug of the repository as it stands in the name of a file.',
    schema: { type: 'string', minLength: 1 },
  },
  rankFile: {
    description: 'Ranking: 1 is best, 5 is last, "all" lists all.',
    schema: { type: 'string', enum: ranks.map((rank) => (rank === '*' ? 'all' : rank)) },
  },
  q: {
    description: `Text to search for: ${searchLength.minimum} to ${searchLength.maximum} characters once trimmed. Any text is a question, never syntax.`,
    required: true,
    schema: { type: 'string', minLength: searchLength.minimum },
  },
  limit: {
    description: 'Most records of a page.',
    schema: {
      type: 'integer',
      minimum: searchLimit.minimum,
      maximum: searchLimit.maximum,
      default: searchLimit.default,
    },
  },
  page: {
    description: 'Number of the page, from 1. A page past the end is empty.',
    schema: { type: 'integer', minimum: 1, default: 1 },
  },
  ids: {
    description: list('Package identifiers', multiMaximum),
    required: true,
    schema: { type: 'string', minLength: 1 },
  },
  priority: {
    description:
      'Which repositories win where several have a package: the better ranked, or bootstrap repositories first.',
    schema: { type: 'string', enum: ['default', 'bootstrap'], default: 'default' },
  },
  rank: {
    description: 'Ranking: 1 is best, 5 is last, * lists all.',
    required: true,
    schema: { type: 'string', enum: [...ranks] },
  },
  uris: {
    description: `${list('Repository URIs', safetyMaximum)} They need not be percent-encoded.`,
    required: false,
    schema: { type: 'string' },
  },
} as const;
export type ParameterName = keyof typeof parameterDescriptions;
