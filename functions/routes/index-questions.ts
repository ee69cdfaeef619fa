import { cacheControl, inPartHeader } from '../../src/contract/answer-headers.ts';
import { closureLimits } from '../../src/contract/dependency-records.ts';
import {
  type PackageFilter,
  type PackageOrder,
  packageFilters,
  type QueryName,
} from '../../src/contract/parameters.ts';
import { apiRoot, type DocumentOperationName, type OperationName, operations } from '../../src/contract/paths.ts';
import type { ResultPage } from '../../src/search/package-search.ts';
import type { Dependencies, SearchIndex } from '../dependencies.ts';
import type { Asking, Handler } from '../environment.ts';
import { type AnswerParts, acceptEncodingOf, jsonAnswer, jsonParts, notFound, toResponse } from '../http/answers.ts';
import { askIndex, turnsOf } from '../http/ask-index.ts';
import { dataBody, listBody, pageBody } from '../http/envelope-body.ts';
import { type MakeAnswer, recordsRead } from '../http/large-answers.ts';
import { limited } from '../http/limited.ts';
import { hasQuery, readQuery } from '../http/request-query.ts';

type Search = (
  index: SearchIndex,
  q: string,
  limit: number,
  page: number,
  filter: PackageFilter,
  order: PackageOrder,
) => Promise<ResultPage>;

type SearchOperation = typeof operations.packageSearch | typeof operations.repositorySearch;

/** The parameters that narrow a question, in the order of the table. */
const narrowedBy = (question: PackageFilter): [name: keyof PackageFilter, value: string][] =>
  packageFilters.flatMap((name) => {
    const value = question[name];
    return value === undefined ? [] : [[name, value]];
  });

/** A question to the search index, with everything in its request that the answer depends on. */
export interface Asked extends Asking {
  /** Only its query is read. */
  readonly url: string;
  /** The value of the header Accept-Encoding. */
  readonly acceptEncoding: string | undefined;
}

type Question = (asked: Asked) => Promise<AnswerParts>;

/** Questions to the search index that consist of a query alone, independent of the form of the request. */
export const indexQuestions = (dependencies: Dependencies, makeAnswer: MakeAnswer) => {
  const searchQuestion =
    ({ address, query }: SearchOperation, search: Search): Question =>
    async (asked) => {
      const { q, limit, page, sort, ...rest } = readQuery<QueryName>(asked.url, query);
      const narrowed = narrowedBy(rest);
      const turn = turnsOf(dependencies, asked);
      return makeAnswer(asked, recordsRead(limit, sort), async () => {
        const found = await askIndex(dependencies, turn, (index) =>
          search(index, q, limit, page, Object.fromEntries(narrowed), sort),
        );
        const filters = narrowed.map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
        const order = sort === undefined ? '' : `&sort=${sort}`;
        const list = `${dependencies.publicAddress()}/${apiRoot}${address}`;
        const question = `${list}?q=${encodeURIComponent(q)}&limit=${limit}${filters.join('')}${order}`;
        const addressOf = (number: number) => `${question}&page=${number}`;
        const body = await pageBody(dependencies.now(), found, { page, addressOf }, turn);
        const { parts = 0 } = found;
        const told = { [inPartHeader]: String(parts), 'Access-Control-Expose-Headers': inPartHeader };
        const headers = parts === 0 ? {} : told;
        return jsonParts(asked.acceptEncoding, dependencies, body, { cache: cacheControl.shared, headers });
      });
    };

  return {
    packageSearch: searchQuestion(operations.packageSearch, (index, ...question) => index.searchPackages(...question)),

    repositorySearch: searchQuestion(operations.repositorySearch, (index, q, limit, page) =>
      index.searchRepositories(q, limit, page),
    ),

    packageMulti: async (asked) => {
      const { ids, priority } = readQuery(asked.url, operations.packageMulti.query);
      const turn = turnsOf(dependencies, asked);
      return makeAnswer(asked, ids.length, async () => {
        const records = await askIndex(dependencies, turn, (index) => index.latest(ids, priority));
        const body = await listBody(dependencies.now(), records, turn);
        return jsonParts(asked.acceptEncoding, dependencies, body, { cache: cacheControl.none });
      });
    },
  } satisfies Partial<Record<OperationName, Question>>;
};

const toHandler =
  (question: Question): Handler =>
  async ({ req, env }) =>
    toResponse(await question({ url: req.url, acceptEncoding: acceptEncodingOf(req.raw), env }), req.raw.method);

/** The operations that ask the search index. `documents` answers requests for a whole list rather than a page of it. */
export const indexHandlers = (
  dependencies: Dependencies,
  documents: Record<DocumentOperationName, Handler>,
  makeAnswer: MakeAnswer,
) => {
  const questions = indexQuestions(dependencies, makeAnswer);
  const listPage: Handler = limited(dependencies.limiter, async (context: Parameters<Handler>[0]) => {
    const { req, var: found } = context;
    const { listLimit: limit, page } = readQuery(req.url, operations.repositoryPackages.paged.query);
    const slug = found.segments.at(-2) ?? '';
    const turn = turnsOf(dependencies, context);
    return makeAnswer(context, limit, async () => {
      const records = await askIndex(dependencies, turn, (index) => index.repositoryPackages(slug, limit, page));
      if (records === undefined) throw notFound();
      const list = `${dependencies.publicAddress()}/${apiRoot}/jailbreak/repository/${encodeURIComponent(slug)}/packages`;
      const addressOf = (number: number) => `${list}?limit=${limit}&page=${number}`;
      const body = await pageBody(dependencies.now(), records, { page, addressOf }, turn);
      return jsonAnswer(req.raw, dependencies, body, { cache: cacheControl.shared });
    });
  });

  return {
    repositoryPackages: async (context) =>
      hasQuery(context.req.url, operations.repositoryPackages.paged.query)
        ? listPage(context)
        : documents.repositoryPackages(context),

    packageSearch: toHandler(questions.packageSearch),

    repositorySearch: toHandler(questions.repositorySearch),

    packageDependencies: async (context) => {
      const { req, var: found } = context;
      const asked = readQuery(req.url, operations.packageDependencies.query);
      const { deviceArchitecture: architecture, repositories, deviceFirmware } = asked;
      // Devices always state a minor version.
      const firmware =
        deviceFirmware === undefined ? null : deviceFirmware.includes('.') ? deviceFirmware : `${deviceFirmware}.0`;
      const packageId = found.segments.at(-2) ?? '';
      const turn = turnsOf(dependencies, context);
      return makeAnswer(context, closureLimits.visits, async () => {
        const isSafe = (uri: string): boolean => dependencies.safety.check(uri);
        const question = { packageId, architecture, repositories, firmware, isSafe };
        const pieces = await askIndex(dependencies, turn, (index) => index.dependencies(question));
        if (pieces === undefined) throw notFound();
        const body = await dataBody(dependencies.now(), pieces, turn);
        return jsonAnswer(req.raw, dependencies, body, { cache: cacheControl.none });
      });
    },

    packageMulti: toHandler(questions.packageMulti),
  } satisfies Record<string, Handler>;
};
