import { cacheControl } from '../../src/contract/answer-headers.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { type Dependencies, Unavailable } from '../dependencies.ts';
import { jsonAnswer } from '../http/answers.ts';
import { documentAnswer } from '../http/document-answer.ts';

/**
 * The landing document. A replica adds the generation that it answers from, which no published file can say. Throws
 * Unavailable if the document is not published.
 */
export const landingAnswer = async (
  request: Request,
  dependencies: Dependencies,
  { vary = [] }: { readonly vary?: readonly string[] } = {},
): Promise<Response> => {
  const answer =
    dependencies.replica === undefined
      ? await documentAnswer(request, dependencies, documentPath.landing, { vary })
      : await extendedAnswer(request, dependencies, dependencies.replica());
  if (answer === undefined) throw new Unavailable('The landing document is not published');
  if (dependencies.replica !== undefined) for (const name of vary) answer.headers.append('Vary', name);
  return answer;
};

const extendedAnswer = async (
  request: Request,
  dependencies: Dependencies,
  replica: object,
): Promise<Response | undefined> => {
  const document = await dependencies.documents.read(documentPath.landing, 'identity');
  if (document?.body === undefined) return undefined;
  const landing = JSON.parse(new TextDecoder().decode(document.body)) as { data: object };
  const text = JSON.stringify({ ...landing, data: { ...landing.data, replica } });
  return jsonAnswer(request, dependencies, text, { cache: cacheControl.shared });
};
