import { cacheControl, openHeaders } from '../../src/contract/answer-headers.ts';
import { composeNotice, olderOpening } from '../../src/contract/older-addresses/envelope.ts';
import { pickFields } from '../../src/contract/older-addresses/fields.ts';
import {
  type OlderOperation,
  type OlderOperationName,
  olderOperations,
  olderTable,
} from '../../src/contract/older-addresses/operations.ts';
import { olderQueryParameters } from '../../src/contract/older-addresses/parameters.ts';
import type { OlderPackage, OlderSafety } from '../../src/contract/older-addresses/records.ts';
import { listPageMaximum, missingParameter } from '../../src/contract/parameters.ts';
import { documentPath } from '../../src/contract/paths.ts';
import type { LandingRecord } from '../../src/contract/records.ts';
import { type Dependencies, type OlderIndex, Unavailable } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { readData } from '../health/probe-sample.ts';
import { HttpError, jsonAnswer } from '../http/answers.ts';
import { askIndex, type Turn, turnsOf } from '../http/ask-index.ts';
import { documentAnswer } from '../http/document-answer.ts';
import { encode } from '../http/envelope-body.ts';
import type { MakeAnswer } from '../http/large-answers.ts';
import { limited } from '../http/limited.ts';
import { createQueryReader } from '../http/request-query.ts';
import { judgeAddresses } from './safety.ts';

const { readQuery } = createQueryReader(olderQueryParameters);

/** How many records are serialised in one turn: each may have tens of kilobytes (H7). */
const recordsInTurn = 4;

/** The JSON of a list, piece by piece. */
const composeList = async (records: readonly object[], turn: Turn): Promise<string[]> => {
  const pieces: string[] = ['['];
  for (let start = 0; start < records.length; start += recordsInTurn) {
    const some = records.slice(start, start + recordsInTurn);
    const text = await turn(async () => JSON.stringify(some).slice(1, -1));
    pieces.push(start === 0 ? text : `,${text}`);
  }
  return [...pieces, ']'];
};

const redirectTo = (address: string | null): Response => {
  // A repository may state any text; only web addresses are redirected to.
  const url = address === null ? null : URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new HttpError(404, 'The package has no such address');
  const headers = { Location: url.href, 'Cache-Control': cacheControl.shared, 'Content-Length': '0', ...openHeaders };
  return new Response(null, { status: 302, headers });
};

const statusOf = (safe: boolean): OlderSafety['status'] => (safe ? 'safe' : 'unsafe');

/**
 * Every operation of an address from before /v2, by its name. They find the same results as the present addresses, and
 * answer them in the older form.
 */
export const olderHandlers = (
  dependencies: Dependencies,
  index: OlderIndex,
  makeAnswer: MakeAnswer,
): Record<OlderOperationName, Handler> => {
  type Context = Parameters<Handler>[0];

  const answer = async (
    context: Context,
    operation: OlderOperation,
    data: readonly string[],
    { cache = cacheControl.shared as string, more = {} }: { cache?: string; more?: Record<string, string> } = {},
  ): Promise<Response> => {
    const notice = composeNotice(dependencies.publicAddress(), operation);
    const opening = olderOpening(notice, dependencies.now(), more);
    const body = await encode([`${opening},"data":`, ...data, '}'], turnsOf(dependencies, context));
    return jsonAnswer(context.req.raw, dependencies, body, { cache });
  };

  /** Asks the index as the present addresses do, when it is the client's turn. */
  const ask = <T>(context: Context, question: (older: OlderIndex) => Promise<T>): Promise<T> =>
    askIndex(dependencies, turnsOf(dependencies, context), () => question(index));

  const listAnswer = (
    context: Context,
    operation: OlderOperation,
    most: number,
    find: () => Promise<readonly object[]>,
    options: { cache?: string } = {},
  ): Promise<Response> =>
    makeAnswer(context, most, async () =>
      answer(context, operation, await composeList(await find(), turnsOf(dependencies, context)), options),
    );

  const safetyHandler =
    (
      operation: typeof olderOperations.repositorySafety | typeof olderOperations.repositoryCheck,
      compose: (uri: string, status: OlderSafety['status']) => unknown,
      more: Record<string, string>,
    ): Handler =>
    async (context) => {
      const { uris, uri } = readQuery(context.req.url, operation.query);
      const asked = uris ?? (uri === undefined ? undefined : [uri]);
      if (asked === undefined) throw new HttpError(400, missingParameter('query'));
      const safe = await judgeAddresses(dependencies.safety, asked, turnsOf(dependencies, context));
      const list = asked.map(
        (each, place): OlderSafety => ({
          repositoryURI: each,
          status: statusOf(safe[place] === true),
        }),
      );
      const [first] = list;
      const data = uris === undefined && first ? compose(first.repositoryURI, first.status) : list;
      return answer(context, operation, [JSON.stringify(data)], { more });
    };

  const fileHandler =
    (file: string): Handler =>
    async ({ req }) => {
      const found = await documentAnswer(req.raw, dependencies, file);
      // Every build has this file, except one of an earlier version.
      if (found === undefined) throw new Unavailable(`${file} is not published`);
      return found;
    };

  const computed = {
    landing: async (context) => {
      const landing = await readData<LandingRecord>(dependencies.documents, documentPath.landing);
      if (landing === undefined) throw new Unavailable('The landing document is not published');
      const {
        info: { name, version },
        reference: { docs, privacy_policy, contact_email, copyright },
      } = landing;
      const data = { name, version, reference: { docs, privacy_policy, contact_email, copyright } };
      return answer(context, olderOperations.landing, [JSON.stringify(data)]);
    },

    packageLookup: async (context) => {
      const { id, content, redirect, responseFields } = readQuery(context.req.url, olderOperations.packageLookup.query);
      const [found] = await ask(context, (older) => older.latest([id]));
      if (found === undefined) throw new HttpError(404, 'Package not found');
      if (redirect) return redirectTo(found[content]);
      return answer(context, olderOperations.packageLookup, [JSON.stringify(pickFields(found, responseFields))]);
    },

    packageSearch: async (context) => {
      const { search, limit, page, responseFields } = readQuery(context.req.url, olderOperations.packageSearch.query);
      return listAnswer(context, olderOperations.packageSearch, limit, async () => {
        const found = await ask(context, (older) => older.packages(search, limit, page));
        return found.map((record) => pickFields(record, responseFields));
      });
    },

    packagesLookup: async (context) => {
      const { packages, responseFields } = readQuery(context.req.url, olderOperations.packagesLookup.query);
      const compose = (record: OlderPackage) => ({
        package: record.identifier,
        fields: [pickFields(record, responseFields)],
      });
      const find = async () => (await ask(context, (older) => older.latest(packages))).map(compose);
      // The answer reveals what somebody has installed.
      return listAnswer(context, olderOperations.packagesLookup, packages.length, find, { cache: cacheControl.none });
    },

    repositorySearch: async (context) => {
      const {
        searchUnlessRanking: search,
        ranking,
        limit,
        page,
        responseFields,
      } = readQuery(context.req.url, olderOperations.repositorySearch.query);
      if (search === undefined && ranking === undefined) throw new HttpError(400, missingParameter('query'));
      const most = search === undefined && !/[?&]limit=/.test(context.req.url) ? listPageMaximum : limit;
      // The present search needs words: without them the list of all repositories answers.
      const replaced = olderOperations[search ? 'repositorySearch' : 'indexRepositories'];
      return listAnswer(context, replaced, most, async () => {
        const found = await ask(context, (older) => older.repositories(search ?? '', ranking, most, page));
        return found.map((record) => pickFields(record, responseFields));
      });
    },

    repositorySafety: safetyHandler(olderOperations.repositorySafety, (_, status) => status, {}),
    repositoryCheck: safetyHandler(
      olderOperations.repositoryCheck,
      (repositoryURI, status) => ({ repositoryURI, status }),
      { status: 'Successful' },
    ),
  } satisfies Partial<Record<OlderOperationName, Handler>>;

  const handlers = olderTable.map(([name, { file }]): [OlderOperationName, Handler] => [
    name,
    file === undefined ? limited(dependencies.limiter, computed[name as keyof typeof computed]) : fileHandler(file),
  ]);
  return Object.fromEntries(handlers) as Record<OlderOperationName, Handler>;
};
