import { cacheControl, closedHeaders } from '../../src/contract/answer-headers.ts';
import { contentTypeOf } from '../../src/contract/file-headers.ts';
import { packageStates } from '../../src/contract/package-states.ts';
import { packageOrders, prices } from '../../src/contract/parameters.ts';
import { basePathOf } from '../../src/contract/paths.ts';
import { lengthWords } from '../../src/contract/search-length.ts';
import { searchPage } from '../../src/contract/search-page.ts';
import { sectionKinds } from '../../src/contract/sections.ts';
import type { Chosen, FacetName } from '../../src/results/chosen-facets.ts';
import { type FoundRecord, toPackages, withParts } from '../../src/results/found.ts';
import { readFit } from '../../src/results/meant.ts';
import { composeRefusal, composeSearchPage, readBuiltTraits } from '../../src/results/search-page.ts';
import { type Dependencies, type StoredDocument, Unavailable } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { computedAnswer, HttpError } from '../http/answers.ts';
import { askIndex, turnsOf } from '../http/ask-index.ts';
import { encode } from '../http/envelope-body.ts';
import { type MakeAnswer, recordsRead } from '../http/large-answers.ts';
import { limited } from '../http/limited.ts';
import { hasQuery, readQuery } from '../http/request-query.ts';

/** Results on a page: few enough to be read in one step. */
const usual = 32;
/** The most characters of a chosen value. */
const longestChosen = 250;

const readText = async (document: StoredDocument): Promise<string | undefined> => {
  if (document.body !== undefined) return new TextDecoder().decode(document.body);
  const stream = await document.open();
  return stream === undefined ? undefined : new Response(stream).text();
};

/** The page as it was built; undefined if there is none. */
const readBuilt = async ({ documents }: Pick<Dependencies, 'documents'>): Promise<string | undefined> => {
  // The file may be replaced after it was described and before it is opened.
  for (let attempt = 0; attempt < 5; attempt++) {
    const document = await documents.read(searchPage.file, 'identity');
    if (document === undefined) return undefined;
    const text = await readText(document);
    if (text !== undefined) return text;
  }
  throw new Unavailable(`${searchPage.file} is being replaced too often`);
};

/** A query as the page repeats it. A search takes control characters for blanks, and HTML may not contain them. */
const shown = (question: string): string => question.replaceAll(/\p{Cc}/gu, ' ');

/** The value among these that was written, in any letter case; undefined if there is none. */
const oneOf = <T extends string>(values: readonly T[], written: string): T | undefined =>
  values.find((one) => one.toLowerCase() === written.toLowerCase());

/**
 * The choices on the page, as its form sends them. As in the page's scripts, an empty text and a value that the page
 * does not offer mean no choice. Slugs are case-sensitive, and an architecture with capitals is refused, as in the API.
 */
const readChosen = (url: string) => {
  const { searchParams } = new URL(url);
  const written = (name: FacetName | typeof searchPage.order): string =>
    searchParams.get(name)?.slice(0, longestChosen) ?? '';
  // What the page calls a section is a kind in the index; in records, every repository names its sections as it likes.
  const kind = oneOf(sectionKinds, written('section'));
  const state = oneOf(packageStates, written('state'));
  const price = oneOf(prices, written('price'));
  const values: Readonly<Record<FacetName, string | undefined>> = {
    section: kind,
    repository: written('repository'),
    architecture: written('architecture').toLowerCase(),
    price: price?.toLowerCase(),
    state,
  };
  const chosen: Chosen = Object.fromEntries(Object.entries(values).filter(([, value]) => value));
  return { chosen, narrowing: { kind, state, price }, sort: oneOf(packageOrders, written(searchPage.order)) };
};

/**
 * Answers the search page with its results, for browsers that run no scripts, and so that the others show results at
 * once. Undefined if there is no query or no page was built: then the file is the answer.
 */
export const searchPageHandler = (dependencies: Dependencies, makeAnswer: MakeAnswer) => {
  const { limiter } = dependencies;
  const answer: Handler = async (context) => {
    const { req } = context;
    const { q, page, ...places } = readQuery(req.url, ['q', 'page', 'architecture', 'repository']);
    const { chosen, narrowing, sort } = readChosen(req.url);
    const turn = turnsOf(dependencies, context);
    return makeAnswer(context, recordsRead(usual, sort), async () => {
      const built = (await readBuilt(dependencies)) ?? '';
      const {
        records,
        more,
        last,
        parts = 0,
      } = await askIndex(dependencies, turn, (index) =>
        index.searchPackages(q, usual, page, { ...places, ...narrowing }, sort),
      );
      const bytes = await encode(['[', ...records.pieces, ']'], turn);
      const read = withParts(JSON.parse(new TextDecoder().decode(bytes)) as FoundRecord[], parts);
      const traits = readBuiltTraits(built);
      const found = toPackages(read, traits, chosen.architecture);
      const html = composeSearchPage(built, {
        question: shown(q),
        chosen,
        sort,
        page,
        found,
        isMore: more,
        last,
        fit: readFit(q, found),
        hasDevice: traits.hasDevices && new URL(req.url).searchParams.has('ios'),
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
  // The page says why there are no results, and its scripts continue with the search index among the files.
  const refuse = async (request: Request, error: unknown): Promise<Response | undefined> => {
    const [status, sentence, headers] =
      error instanceof HttpError
        ? [error.status, error.message, error.headers]
        : [503, 'The search cannot answer at the moment: try again in a minute', { 'Retry-After': '5' }];
    const built = await readBuilt(dependencies);
    if (built === undefined) return undefined;
    const { chosen, sort } = readChosen(request.url);
    const question = new URL(request.url).searchParams.get(searchPage.parameter) ?? '';
    // In the words of the page, because its readers know of no parameters. Bytes that are no text have no length.
    const isMeasured = status === 400 && !question.includes('\ufffd');
    const unfit = isMeasured ? lengthWords([...question.trim()].length) : undefined;
    const html = composeRefusal(built, shown(question), { ...chosen, sort }, unfit ?? `${sentence}.`);
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
