import { Hono, type MiddlewareHandler } from 'hono';
import { preflightHeaders, readMethods } from '../src/contract/answer-headers.ts';
import { gatewayWords } from '../src/contract/gateway-schemas.ts';
import { tellsOfGenerations } from '../src/contract/generation.ts';
import { apiRoot, isLimited, type Operation, type OperationName, operations } from '../src/contract/paths.ts';
import { type Dependencies, Unavailable } from './dependencies.ts';
import type { AskedFor, Environment, Handler } from './environment.ts';
import { errorAnswer, HttpError, notFound } from './http/answers.ts';
import { documentAnswer } from './http/document-answer.ts';
import { limited } from './http/limited.ts';
import { decodePath, pathOf, routedPath } from './http/request-path.ts';
import { documentHandlers } from './routes/documents.ts';
import { downloadHandlers } from './routes/downloads.ts';
import { indexHandlers } from './routes/index-questions.ts';
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

const methodsOf = ({ method }: Operation): string => (method === 'GET' ? readMethods : `${method}, OPTIONS`);

// What a browser asks before a script of another site may go ahead, and what any client may ask.
const describeMethods = (methods: string): Response =>
  new Response(null, { status: 204, headers: preflightHeaders(methods) });

const refuseMethod = (methods: string): HttpError =>
  new HttpError(405, `This address answers ${methods}`, { Allow: methods });

// Decodes the path and refuses what is none, before anything is looked up by it.
const readPath: MiddlewareHandler<Environment> = async ({ req, set }, next) => {
  const decoded = decodePath(pathOf(req.url));
  if (typeof decoded === 'string') throw new HttpError(400, decoded);
  const belowRoot = decoded[0] === apiRoot;
  const segments = belowRoot ? decoded.slice(1) : decoded;
  const isApi = belowRoot || apiWords.has(decoded[0] ?? '');
  set('segments', segments);
  set('isApi', isApi);
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

// A document under the name of its file, as a plain static host answers it.
const documentNameMiddleware =
  (dependencies: Dependencies): MiddlewareHandler<Environment> =>
  async ({ req, env, var: { segments } }, next) => {
    const name = segments.join('/');
    const path = `${apiRoot}/${name}`;
    if (!documentName.test(name) && !tellsOfGenerations(path)) return next();
    if (env?.note) env.note.operation = 'document';
    if (req.method === 'GET' || req.method === 'HEAD') {
      return (await documentAnswer(req.raw, dependencies, path)) ?? next();
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

const addOperations = (app: Hono<Environment>, dependencies: Dependencies): void => {
  const documents = documentHandlers(dependencies);
  const handlers: Record<OperationName, Handler> = {
    ...documents,
    ...indexHandlers(dependencies, documents),
    ...safetyHandlers(dependencies),
    ...serviceHandlers(dependencies),
    ...downloadHandlers(dependencies),
  };
  for (const [name, operation] of Object.entries(operations) as [OperationName, Operation][]) {
    const address = operation.address.replaceAll(/\{(\w+)\}/g, ':$1');
    // The root without the API's is the site's.
    const addresses = address === '/' ? [`/${apiRoot}`, `/${apiRoot}/`] : [`/${apiRoot}${address}`, address];
    const handler = noted(name, handlers[name]);
    app.on(operation.method, addresses, isLimited(operation) ? limited(dependencies.limiter, handler) : handler);
    app.on(
      'OPTIONS',
      addresses,
      noted(name, async () => describeMethods(methodsOf(operation))),
    );
    for (const each of addresses) {
      app.all(
        each,
        noted(name, async () => {
          throw refuseMethod(methodsOf(operation));
        }),
      );
    }
  }
};

/**
 * The function: every operation of the API, with and without its root, the pages of the site outside it, and the gateway
 * where there is one. Web standards only; what is not comes in through the dependencies.
 */
export const createApp = (dependencies: Dependencies): Hono<Environment> => {
  const app = new Hono<Environment>({ getPath: routedPath });
  app.onError((error, { req, env }) => {
    const { method } = req.raw;
    if (error instanceof HttpError) return errorAnswer(error, dependencies.now(), method);
    dependencies.report(error, env?.note);
    const answer =
      error instanceof Unavailable
        ? new HttpError(503, 'The service cannot answer this at the moment', { 'Retry-After': '5' })
        : new HttpError(500, 'Something went wrong on our side');
    return errorAnswer(answer, dependencies.now(), method);
  });
  const { gateway } = dependencies;
  if (gateway) for (const path of gatewayPaths) app.use(path, sealAnswer);
  app.use(readPath);
  if (gateway) {
    const answerGateway = gatewayHandler(gateway);
    for (const word of gatewayWords) app.all(gatewayPath(word), noted(`gateway.${word}`, answerGateway));
  }
  app.use(`/${apiRoot}/*`, documentNameMiddleware(dependencies));
  app.use('/jailbreak/*', documentNameMiddleware(dependencies));
  addOperations(app, dependencies);
  const answerSite = noted('page', siteHandler(dependencies));
  app.all('*', async (context) => {
    if (context.var.isApi) throw notFound();
    return answerSite(context);
  });
  return app;
};
