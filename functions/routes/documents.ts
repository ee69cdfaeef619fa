import { openHeaders } from '../../src/contract/answer-headers.ts';
import { placeholdersOf } from '../../src/contract/parameters.ts';
import { type DocumentOperationName, documentOf, type Operation, operations } from '../../src/contract/paths.ts';
import { type Dependencies, Unavailable } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { notFound } from '../http/answers.ts';
import { documentAnswer } from '../http/document-answer.ts';
import { readQuery } from '../http/request-query.ts';
import { landingAnswer } from './landing.ts';
import { publicationRedirect } from './publication-redirect.ts';

type ReadName = (url: string, segments: readonly string[]) => string;

// The value of a placeholder in the document's file name, from the path or the query of the request.
const readName = ({ address, query }: Operation, placeholder: string): ReadName => {
  const at = address.split('/').slice(1).indexOf(`{${placeholder}}`);
  if (at >= 0) return (_, segments) => segments[at] ?? '';
  const [name] = query?.filter((each) => each === placeholder) ?? [];
  if (query === undefined || name === undefined)
    throw new TypeError(`Nothing in ${address} says which ${placeholder} is asked for`);
  return (url) => String(readQuery(url, query)[name]);
};

const documentHandler = (dependencies: Dependencies, operation: Operation & { readonly file: string }): Handler => {
  const names = placeholdersOf(operation.file).map((placeholder) => readName(operation, placeholder));
  return async ({ req, var: { segments } }) => {
    const path = documentOf(operation, ...names.map((nameOf) => nameOf(req.url, segments)));
    const answer = await documentAnswer(req.raw, dependencies, path);
    if (answer !== undefined) return answer;
    if (operation.ofBuilds === true && dependencies.replica !== undefined) {
      return publicationRedirect(req, dependencies, openHeaders);
    }
    // If the operation has no 404, every build has its document, and its absence is our fault.
    throw operation.errors?.includes(404) ? notFound() : new Unavailable(`${path} is not published`);
  };
};

/** Every operation that a published document answers. */
export const documentHandlers = (dependencies: Dependencies): Record<DocumentOperationName, Handler> => {
  const handlers = Object.entries(operations as Record<string, Operation>).flatMap(([name, operation]) => {
    const { file } = operation;
    return file === undefined ? [] : [[name, documentHandler(dependencies, { ...operation, file })] as const];
  });
  const byName = Object.fromEntries(handlers) as Record<DocumentOperationName, Handler>;
  return { ...byName, landing: ({ req }) => landingAnswer(req.raw, dependencies) };
};
