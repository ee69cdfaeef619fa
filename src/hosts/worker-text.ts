import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import {
  cacheControl,
  closedHeaders,
  openHeaders,
  pageMethods,
  preflightHeaders,
  readMethods,
} from '../contract/answer-headers.ts';
import { emptySegment, otherMethod, phrases } from '../contract/errors.ts';
import { cacheRules, contentTypes, openFiles, patternSource, unknownType } from '../contract/file-headers.ts';
import { apiRoot, documentPath, rootlessWords } from '../contract/paths.ts';
import { searchPage } from '../contract/search-page.ts';
import { computedPattern, noFunction, origin, type RuleInput } from './host-rules.ts';
import { chosenRoutes, computedRoutes, fixedRoutes, namedRoutes, olderRoutes } from './routes.ts';

/**
 * The rules of the worker, from the table of operations. Paths of files are below the output folder, addresses below the
 * API's root.
 */
const workerRules = ({ below, site, functionUrl }: RuleInput) => ({
  /** The path below which the publication lies, without trailing slash. */
  below,
  root: apiRoot,
  rootlessWords,
  landing: documentPath.landing,
  fixed: fixedRoutes,
  chosen: chosenRoutes,
  named: namedRoutes,
  computed: computedRoutes.map(({ address, methods }) => ({
    pattern: `^\\/${computedPattern(address)}$`,
    methods,
  })),
  /** Folders of addresses from before /v2, which the function answers, except these files. */
  older: olderRoutes,
  /** Patterns of the files that scripts of any site may read. */
  openFiles: openFiles.map((file) => `^${patternSource(file)}$`),
  functionUrl,
  /** The page that the function answers if it has a query; undefined if there is none. */
  search: site && functionUrl !== undefined ? { path: searchPage.path, parameter: searchPage.parameter } : undefined,
  types: contentTypes,
  unknownType,
  cache: cacheRules.map(({ files, cache }) => ({
    pattern: `^(?:${files.map(patternSource).join('|')})$`,
    value: cache,
  })),
  missingCache: cacheControl.missing,
  movedCache: cacheControl.moved,
  noCache: cacheControl.none,
  open: openHeaders,
  closed: closedHeaders,
  /** Headers of the answer to OPTIONS, by the methods of an address. */
  preflight: Object.fromEntries(
    [readMethods, ...computedRoutes.map(({ methods }) => methods)].map((methods) => [
      methods,
      preflightHeaders(methods),
    ]),
  ),
  readMethods,
  phrases: phrases as Readonly<Record<number, string>>,
  pageMethods,
  sentences: {
    noFunction,
    otherMethod: otherMethod(readMethods),
    otherMethodOfPage: otherMethod(pageMethods),
    emptySegment,
  },
  site,
});

export type WorkerRules = ReturnType<typeof workerRules>;

// Suppresses Node's warning about the function that also runs this very file.
const stripTypes = (text: string): string => {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(text);
  } finally {
    process.emitWarning = emitWarning;
  }
};

// A module without types, imports and exports.
const bodyOf = (name: string): string =>
  stripTypes(readFileSync(new URL(name, import.meta.url), 'utf8'))
    .replaceAll(/^import .*;\n/gm, '')
    .replaceAll(/^export (?=const )/gm, '')
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n');

/** The worker as one module without imports. Files come from the binding `ASSETS`. */
export const workerText = (host: string, input: RuleInput): string =>
  [
    `// ${origin(host)}`,
    bodyOf('../contract/filenames.ts').trim(),
    bodyOf('./rules-worker.ts').trim(),
    `const answer = createWorker(${JSON.stringify(workerRules(input), null, 2)});`,
    'export default { fetch: (request, env) => answer(request, env.ASSETS) };',
    '',
  ].join('\n\n');
