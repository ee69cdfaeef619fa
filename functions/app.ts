import { Hono, type MiddlewareHandler } from 'hono';
import { openHeaders, preflightHeaders, readMethods } from '../src/contract/answer-headers.ts';
import { errorBody } from '../src/contract/errors.ts';
import { gatewayWords } from '../src/contract/gateway-schemas.ts';
import { tellsOfGenerations } from '../src/contract/generation.ts';
import { composeNotice, olderErrorBody } from '../src/contract/older-addresses/envelope.ts';
import {
  isLaterPath,
  laterRoot,
  type OlderOperationName,
  olderRoot,
  olderTable,
  presentPath,
} from '../src/contract/older-addresses/operations.ts';
import { apiRoot, isLimited, type Operation, type OperationName, operations } from '../src/contract/paths.ts';
import type { Dependencies } from './dependencies.ts';
import type { AskedFor, Environment, Handler } from './environment.ts';
import { errorAnswer, HttpError, notFound } from './http/answers.ts';
import { documentAnswer } from './http/document-answer.ts';
import { failureOf } from './http/failure.ts';
import { createLargeAnswers, type MakeAnswer } from './http/large-answers.ts';
import { limited } from './http/limited.ts';
import { decodePath, pathOf, routedPath } from './http/request-path.ts';
import { documentHandlers } from './routes/documents.ts';
import { downloadHandlers } from './routes/downloads.ts';
import { indexHandlers } from './routes/index-questions.ts';
import { olderHandlers } from './routes/older-addresses.ts';
import { publicationRedirect } from './routes/publication-redirect.ts';
import { safetyHandlers } from './routes/safety.ts';
import { serviceHandlers } from './routes/service.ts';
import { siteHandler } from './routes/site.ts';

/** First segments that are the API's where the address comes without its root (decisions, section 1). */
const apiWords: ReadonlySet<string> = new Set(
  Object.values(operations).flatMap(({ address }) => address.split('/').slice(1, 2).filter(Boolean)),
);

// An encoded identifier, which may go on in folders (contract, filenames).
const encodedName = '(?:[a-z0-9._=+-]+_/)*[a-z0-9._=+-]+';

/** The paths, below the API's root, of prebuilt documents under their own names. */
const documentName = new RegExp(
  `^(?:${Object.values(operations)
    .flatMap((operation: Operation) => operation.file ?? [])
    .map((file) => file.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, encodedName))
    .join('|')})$`,
);

const methodsOf = ({ method }: Pick<Operation, 'method'>): string =>
  method === 'GET' ? readMethods : `${method}, OPTIONS`;

// What a browser asks before a script of another site may go ahead, and what any client may ask.
const describeMethods = (methods: string): Response =>
  new Response(null, { status: 204, headers: preflightHeaders(methods) });

const refuseMethod = (methods: string): HttpError =>
  new HttpError(405, `This address answers ${methods}`, { Allow: methods });

const olderWords: ReadonlySet<string> = new Set(olderTable.map(([, { address }]) => address.split('/')[1] ?? ''));

/** The root of an address, and how many of its segments name it; none where they are to be looked up. */
const rootOf = (
  decoded: readonly string[],
  hasOlder: boolean,
): [root: Environment['Variables']['root'], length: number] => {
  const [first = ''] = decoded;
  if (hasOlder && isLaterPath(decoded)) return ['later', laterRoot.length];
  if (hasOlder && olderWords.has(first)) return ['older', first === olderRoot ? 1 : 0];
  return [undefined, first === apiRoot ? 1 : 0];
};

// Decodes the path and refuses what is none, before anything is looked up by it.
const readPath =
  (hasOlder: boolean): MiddlewareHandler<Environment> =>
  async ({ req, set }, next) => {
    const path = pathOf(req.url);
    // What cannot be decoded is answered in the form of the address too.
    const decoded = decodePath(path);
    if (typeof decoded === 'string') {
      if (hasOlder && path.startsWith(`/${olderRoot}/`)) set('root', 'older');
      throw new HttpError(400, decoded);
    }
    const [root, length] = rootOf(decoded, hasOlder);
    const segments = decoded.slice(length);
    const isApi = root !== undefined || length > 0 || apiWords.has(decoded[0] ?? '');
    set('segments', segments);
    set('isApi', isApi);
    set('root', root);
    // Only the root ends with a slash; elsewhere in the API what should follow it is missing.
    if (isApi && segments.length > 1 && segments.at(-1) === '') {
      throw new HttpError(400, 'The path must not hold an empty segment');
    }
    await next();
  };

/** Notes what was asked for, and answers. */
const noted =
  (operation: AskedFor, answer: Handler): Handler =>
  (context) => {
    if (context.env?.note) context.env.note.operation = operation;
    return answer(context);
  };

/** The same for what is answered below the later root too, where it is counted apart. */
const notedOperation =
  (operation: OperationName | 'document', answer: Handler): Handler =>
  (context) =>
    noted(context.var.root === 'later' ? `v4.${operation}` : operation, answer)(context);

// A document under the name of its file, as a plain static host answers it.
const documentNameMiddleware =
  (dependencies: Dependencies): MiddlewareHandler<Environment> =>
  async ({ req, env, var: { segments, root } }, next) => {
    const name = segments.join('/');
    const path = `${apiRoot}/${name}`;
    if (!documentName.test(name) && !tellsOfGenerations(path)) return next();
    if (env?.note) env.note.operation = root === 'later' ? 'v4.document' : 'document';
    if (req.method === 'GET' || req.method === 'HEAD') {
      const found = await documentAnswer(req.raw, dependencies, path);
      if (found !== undefined) return found;
      // What tells of former generations a replica does not keep, though what it keeps names it.
      const isElsewhere = tellsOfGenerations(path) && dependencies.replica !== undefined;
      return isElsewhere ? publicationRedirect(req, dependencies, openHeaders) : next();
    }
    if ((await dependencies.documents.read(path, 'identity')) === undefined) return next();
    const methods = methodsOf(operations.landing);
    if (req.method === 'OPTIONS') return describeMethods(methods);
    throw refuseMethod(methods);
  };

/** The longest address of the gateway, in characters: what a provider sends back is a tenth of it. */
const longestGatewayAddress = 16 * 1024;

const gatewayPath = (word: string): string => `/${apiRoot}/${word}/*`;
const gatewayPaths = gatewayWords.map(gatewayPath);

// Credentials are in these answers: no cache may keep them, and no script of another site may read them.
const sealAnswer: MiddlewareHandler<Environment> = async (context, next) => {
  await next();
  const { headers } = context.res;
  for (const name of [...headers.keys()]) if (name.startsWith('access-control-')) headers.delete(name);
  headers.set('Cache-Control', 'no-store');
};

/** Answers with the gateway, which is asked for its own addresses alone, whatever it registers. */
const gatewayHandler = (gateway: Hono): Handler => {
  const mounted = new Hono({ getPath: routedPath }).route(`/${apiRoot}`, gateway);
  mounted.notFound(() => {
    throw notFound();
  });
  mounted.onError((error) => {
    throw error;
  });
  return async ({ req, env }) => {
    if (req.url.length > longestGatewayAddress) throw new HttpError(414, 'The address of the request is too long');
    return mounted.fetch(req.raw, env);
  };
};

/** Has an operation answered at these addresses: its own methods, OPTIONS, and a refusal of any other. */
const addRoutes = (
  app: Hono<Environment>,
  addresses: string[],
  { method, note, handler }: { method: Operation['method']; note: (answer: Handler) => Handler; handler: Handler },
): void => {
  const methods = methodsOf({ method });
  app.on(method, addresses, note(handler));
  app.on(
    'OPTIONS',
    addresses,
    note(async () => describeMethods(methods)),
  );
  for (const each of addresses) {
    app.all(
      each,
      note(async () => {
        throw refuseMethod(methods);
      }),
    );
  }
};

const addOperations = (app: Hono<Environment>, dependencies: Dependencies, makeAnswer: MakeAnswer): void => {
  const documents = documentHandlers(dependencies);
  const handlers: Record<OperationName, Handler> = {
    ...documents,
    ...indexHandlers(dependencies, documents, makeAnswer),
    ...safetyHandlers(dependencies),
    ...serviceHandlers(dependencies),
    ...downloadHandlers(dependencies),
  };
  for (const [name, operation] of Object.entries(operations) as [OperationName, Operation][]) {
    const address = operation.address.replaceAll(/\{(\w+)\}/g, ':$1');
    // The root without the API's is the site's.
    const addresses = address === '/' ? [`/${apiRoot}`, `/${apiRoot}/`] : [`/${apiRoot}${address}`, address];
    const handler = isLimited(operation) ? limited(dependencies.limiter, handlers[name]) : handlers[name];
    addRoutes(app, addresses, { method: operation.method, note: (answer) => notedOperation(name, answer), handler });
  }
};

const addOlderOperations = (app: Hono<Environment>, handlers: Record<OlderOperationName, Handler>): void => {
  for (const [name, { address }] of olderTable) {
    const addresses = address === `/${olderRoot}/` ? [address, `/${olderRoot}`] : [address];
    const note = (answer: Handler) => noted(`older.${name}`, answer);
    addRoutes(app, addresses, { method: 'GET', note, handler: handlers[name] });
  }
};

/**
 * The function: every operation of the API, with and without its root, the pages of the site outside it, and the gateway
 * where there is one. Web standards only; what is not comes in through the dependencies. `makeAnswer` is given where
 * others make answers in the same room.
 */
export const createApp = (dependencies: Dependencies, makeAnswer = createLargeAnswers()): Hono<Environment> => {
  const { older } = dependencies;
  const hasOlder = older !== undefined;
  const app = new Hono<Environment>({
    getPath: hasOlder ? (request) => presentPath(routedPath(request)) : routedPath,
  });
  const composeOlder: typeof errorBody = (...error) => {
    const [status, sentence, now] = error;
    return olderErrorBody(status, sentence, composeNotice(dependencies.publicAddress()), now);
  };
  app.onError((error, { req, env, var: { root } }) => {
    const { method } = req.raw;
    const compose = root === 'older' ? composeOlder : errorBody;
    return errorAnswer(failureOf(error, dependencies, env?.note), dependencies.now(), method, compose);
  });
  const { gateway } = dependencies;
  if (gateway) for (const path of gatewayPaths) app.use(path, sealAnswer);
  app.use(readPath(hasOlder));
  if (gateway) {
    const answerGateway = gatewayHandler(gateway);
    for (const word of gatewayWords) app.all(gatewayPath(word), noted(`gateway.${word}`, answerGateway));
  }
  app.use(`/${apiRoot}/*`, documentNameMiddleware(dependencies));
  app.use('/jailbreak/*', documentNameMiddleware(dependencies));
  addOperations(app, dependencies, makeAnswer);
  if (older) addOlderOperations(app, olderHandlers(dependencies, older, makeAnswer));
  const answerSite = noted('page', siteHandler(dependencies, makeAnswer));
  app.all('*', async (context) => {
    if (context.var.isApi) throw notFound();
    return answerSite(context);
  });
  return app;
};
