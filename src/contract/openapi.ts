import { errorSchema, notFoundSchema } from './errors.ts';
import type { ExampleSubject } from './example-subject.ts';
import { gatewayOperations } from './gateway-schemas.ts';
import {
  documentOperations,
  fileOperations,
  operationOfDocument,
  publicationOperations,
  siteOperations,
} from './openapi-documents.ts';
import { createOperation } from './openapi-operation.ts';
import { describedErrors, describeErrors, describeSchemas, type Json } from './openapi-parts.ts';
import { answerSchemas, requestSchemas, schemaOf, siteSchemas } from './openapi-schemas.ts';
import { apiRoot, type Operation, type OperationName, operations } from './paths.ts';

// The machine-readable description (OpenAPI 3.1), made of the table of operations and the schemas, so that nothing
// about an answer is written twice.

/** The subject of the examples, and the service's answers about it, by operation. */
export interface Examples {
  readonly subject: ExampleSubject;
  readonly answers: Partial<Record<OperationName, unknown>>;
}

export interface OpenApiOptions {
  /** The public address of the service, without trailing slash and without `/v2`. */
  readonly publicAddress: string;
  /** The version of the service. */
  readonly version: string;
  /** Left out if there is nothing to ask about. */
  readonly examples?: Examples | undefined;
  /** Whether the site is also published, with its feeds and badges. */
  readonly site?: boolean;
  /** Whether to describe only what any host can answer: the files, each under its name. */
  readonly staticRefs?: boolean | undefined;
}

const describeAll = (described: Readonly<Record<string, Operation>>, common: Json = {}): [string, Json][] =>
  Object.entries(described).map(([name, operation]) => [
    operation.address,
    { ...common, [operation.method.toLowerCase()]: createOperation(name, operation) },
  ]);

const describeOperations = (examples: Examples | undefined): [string, Json][] =>
  (Object.entries(operations) as [OperationName, Operation][]).map(([name, operation]) => {
    const shown = examples && { example: examples.answers[name], subject: examples.subject };
    return [operation.address, { [operation.method.toLowerCase()]: createOperation(name, operation, shown) }];
  });

/** Documents under their names, and files without another address: what a host answers that knows only files. */
const describeFiles = (examples: Examples | undefined): [string, Json][] => {
  return Object.entries<Operation>({ ...documentOperations, ...fileOperations }).map(([name, operation]) => {
    const shown = examples && { example: examples.answers[operationOfDocument(name)], subject: examples.subject };
    return [operation.address, { get: createOperation(name, operation, shown) }];
  });
};

/** How `filenames.ts` encodes what a file is named after, for those who ask a host of files by identifier. */
const fileNames = [
  'In its name, small letters a to z, digits, ".", "+" and "-" of an identifier or slug appear unchanged; a capital letter A to Z becomes "_" and its small letter, any other byte of the UTF-8 text "=" and two hexadecimal digits: `Foo_Bar` becomes `_foo=5f_bar`.',
  'An encoded name of more than 250 bytes is divided: each part but the last is as long as it can be without dividing what a byte became, and is a folder, with "_" added to its name.',
  'In the name of a folder of a repository, a dot at the end or before "json" or "html" becomes "=2e": the list of `foo.json` is below `foo=2ejson`.',
].join(' ');

/**
 * The OpenAPI 3.1 description of everything that programs may request from this host, to be written as JSON or YAML.
 */
export const createOpenApi = ({
  publicAddress,
  version,
  examples,
  site = true,
  staticRefs = false,
}: OpenApiOptions): Json => ({
  openapi: '3.1.0',
  info: {
    title: 'Package and repository index',
    version,
    summary: 'Packages of APT repositories: lookup, search, ranking and safety.',
    description: [
      `Answers are JSON in UTF-8 where no other type is named. HEAD answers as GET does, without the body. Scripts of any site may read all of it${staticRefs ? '' : ', but for what the gateway answers'} (CORS).`,
      'Prebuilt answers have an ETag: repeat requests with If-None-Match. Unknown query parameters are ignored.',
      `${staticRefs ? 'Every answer is a file.' : 'A prebuilt answer is also a file with a name ending in ".json", which any static host can serve.'} ${fileNames}`,
    ].join('\n\n'),
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: `${publicAddress}/${apiRoot}` }],
  security: [],
  tags: [
    { name: 'package', description: 'Packages: every version, the latest of several, and search.' },
    { name: 'repository', description: 'Repositories: one, its packages, search, ranking and safety.' },
    { name: 'service', description: 'The service itself.' },
    { name: 'publication', description: 'What changed from one generation of the index to the next.' },
    ...(staticRefs
      ? []
      : [
          { name: 'download', description: 'Counting of downloads.' },
          { name: 'gateway', description: 'Credentials of the payment gateway. Never store its answers.' },
        ]),
    ...(site
      ? [
          { name: 'feed', description: 'What is new, for feed readers.' },
          { name: 'badge', description: 'The state of a repository, for its README.' },
        ]
      : []),
  ],
  paths: Object.fromEntries([
    ...(staticRefs
      ? describeFiles(examples)
      : [...describeOperations(examples), ...describeAll(documentOperations), ...describeAll(gatewayOperations)]),
    ...describeAll(publicationOperations),
    ...(site ? describeAll(siteOperations, { servers: [{ url: publicAddress }] }) : []),
  ]),
  components: {
    schemas: {
      ...describeSchemas(answerSchemas, 'output'),
      ...describeSchemas(requestSchemas, 'input'),
      ...(site ? describeSchemas(siteSchemas, 'output') : {}),
    },
    responses: describeErrors(describedErrors, (status, example) => ({
      schema: schemaOf(status === 404 ? notFoundSchema : errorSchema),
      example,
    })),
    securitySchemes: {
      authToken: { type: 'http', scheme: 'bearer', description: 'The auth token of a credential set.' },
      introspectionSecret: { type: 'http', scheme: 'bearer', description: 'A secret from the operator.' },
    },
  },
});
