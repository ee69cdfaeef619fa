import { cacheControl, closedHeaders } from '../../src/contract/answer-headers.ts';
import { contentTypeOf } from '../../src/contract/file-headers.ts';
import { basePathOf } from '../../src/contract/paths.ts';
import { searchPage } from '../../src/contract/search-page.ts';
import { type Chosen, facetNames, fitsChosen } from '../../src/results/facets.ts';
import { type FoundRecord, toPackages } from '../../src/results/found.ts';
import { markParts, readFit } from '../../src/results/meant.ts';
import { composeRefusal, composeSearchPage, readTraits } from '../../src/results/search-page.ts';
import { type Dependencies, type StoredDocument, Unavailable } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { computedAnswer, HttpError } from '../http/answers.ts';
import { askIndex, turnsOf } from '../http/ask-index.ts';
import { encode } from '../http/envelope-body.ts';
import type { MakeAnswer } from '../http/large-answers.ts';
import { limited } from '../http/limited.ts';
import { hasQuery, readQuery } from '../http/request-query.ts';

/** Records of a page of results: few, so that they are read in one step. */
const usual = 32;
/** Where what is asked for is told by this page alone, it is picked from more of them. */
const most = 250;

const readText = async (document: StoredDocument): Promise<string | undefined> => {
  if (document.body !== undefined) return new TextDecoder().decode(document.body);
  const stream = await document.open();
  return stream === undefined ? undefined : new Response(stream).text();
};

/** The page as it was built; undefined where none was. */
const readBuilt = async ({ documents }: Pick<Dependencies, 'documents'>): Promise<string | undefined> => {
  // It may be replaced between being described and being opened.
  for (let attempt = 0; attempt < 5; attempt++) {
    const document = await documents.read(searchPage.file, 'identity');
    if (document === undefined) return undefined;
    const text = await readText(document);
    if (text !== undefined) return text;
  }
  throw new Unavailable(`${searchPage.file} is being replaced too often`);
};

/**
 * What was chosen on the page, as its form sends it: what is left open comes as an empty text. Capitals are as small
 * letters, but in the slug of a repository; an architecture with capitals is refused as the index refuses it.
 */
const readChosen = (url: string): Chosen => {
  const { searchParams } = new URL(url);
  return Object.fromEntries(
    facetNames.flatMap((name) => {
      const value = searchParams.get(name)?.slice(0, most) ?? '';
      return value === '' ? [] : [[name, name === 'repository' ? value : value.toLowerCase()]];
    }),
  );
};

/**
 * Answers the page of the search with its results, for browsers that run no scripts, and so that others see them at
 * once. Undefined where nothing was asked or no page was built: the file answers then.
 */
export const searchPageHandler = (dependencies: Dependencies, makeAnswer: MakeAnswer) => {
  const { limiter } = dependencies;
  const answer: Handler = async (context) => {
    const { req } = context;
    const { q, page, architecture, repository, price } = readQuery(req.url, [
      'q',
      'page',
      'architecture',
      'repository',
      'price',
    ]);
    const chosen = readChosen(req.url);
    // Sections are told by their kind, and states by the last build: the index narrows by neither.
    const isPicked = chosen.section !== undefined || chosen.state !== undefined;
    const limit = isPicked ? most : usual;
    const turn = turnsOf(dependencies, context);
    return makeAnswer(context, limit, async () => {
      const built = (await readBuilt(dependencies)) ?? '';
      const { records, more } = await askIndex(dependencies, turn, (index) =>
        index.searchPackages(q, limit, page, { architecture, repository, price }),
      );
      const bytes = await encode(['[', ...records.pieces, ']'], turn);
      const all = toPackages(JSON.parse(new TextDecoder().decode(bytes)) as FoundRecord[], readTraits(built));
      const found = markParts(q, all);
      const html = composeSearchPage(built, {
        question: q,
        chosen,
        page,
        found: isPicked ? found.filter((one) => fitsChosen(chosen, one)) : found,
        isMore: more,
        fit: readFit(q, found),
        root: `${basePathOf(dependencies.publicAddress())}/`,
      });
      return pageAnswer(req.raw, html, 200, cacheControl.shared);
    });
  };
  const pageAnswer = (request: Request, html: string, status: number, cache: string, more = {}): Promise<Response> =>
    computedAnswer(request, dependencies, html, {
      status,
      cache,
      headers: { 'Content-Type': contentTypeOf(searchPage.file), ...closedHeaders, ...more },
    });
  const answerLimited = limited(limiter, answer);
  // Why there are no results stands on the page, where scripts go on with the index that is among the files.
  const refuse = async (request: Request, error: unknown): Promise<Response | undefined> => {
    const [status, sentence, headers] =
      error instanceof HttpError
        ? [error.status, error.message, error.headers]
        : [503, 'The search cannot answer at the moment: try again in a minute', { 'Retry-After': '5' }];
    const built = await readBuilt(dependencies);
    if (built === undefined) return undefined;
    const html = composeRefusal(built, new URL(request.url).searchParams.get('q') ?? '', `${sentence}.`);
    return pageAnswer(request, html, status, cacheControl.none, headers);
  };

  return async (context: Parameters<Handler>[0]): Promise<Response | undefined> => {
    const { req, env } = context;
    try {
      if (!hasQuery(req.url, ['q']) || new URL(req.url).searchParams.get('q')?.trim() === '') return undefined;
      if ((await dependencies.documents.read(searchPage.file, 'identity')) === undefined) return undefined;
      return await answerLimited(context);
    } catch (error) {
      if (!(error instanceof HttpError)) dependencies.report(error, env?.note);
      return refuse(req.raw, error);
    }
  };
};
