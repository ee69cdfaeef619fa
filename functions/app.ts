import { Hono, type MiddlewareHandler } from 'hono';
import { openHeaders, preflightHeaders, readMethods } from '../src/contract/answer-headers.ts';
import { emptySegment, errorBody, otherMethod, unreadable } from '../src/contract/errors.ts';
import { gatewayWords } from '../src/contract/gateway-schemas.ts';
import { generationPath, isSignature, tellsOfGenerations } from '../src/contract/generation.ts';
import { composeNotice, olderErrorBody } from '../src/contract/older-addresses/envelope.ts';
import {
  isLaterPath,
  laterRoot,
  type OlderOperationName,
  olderRoot,
  olderTable,
  presentPath,
} from '../src/contract/older-addresses/operations.ts';
import {
  apiRoot,
  isLimited,
  type Operation,
  type OperationName,
  operations,
  rootlessWords,
} from '../src/contract/paths.ts';
import type { Dependencies } from './dependencies.ts';
import type { AskedFor, Environment, Handler } from './environment.ts';
import { closeToScripts, errorAnswer, HttpError, notFound } from './http/answers.ts';
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

// The answer to OPTIONS, which browsers send before a script of another site may make a request.
const describeMethods = (methods: string): Response =>
  new Response(null, { status: 204, headers: preflightHeaders(methods) });

const refuseMethod = (methods: string): HttpError => new HttpError(405, otherMethod(methods), { Allow: methods });

const olderWords: ReadonlySet<string> = new Set(olderTable.map(([, { address }]) => address.split('/')[1] ?? ''));

/**
 * The root that an address has, and how many of its first segments name that root. `undefined` stands for the API's own
 * root as well as for none.
 */
const rootOf = (
  decoded: readonly string[],
  hasOlder: boolean,
): [root: Environment['Variables']['root'], length: number] => {
  const [first = ''] = decoded;
  if (hasOlder && isLaterPath(decoded)) return ['later', laterRoot.length];
  if (hasOlder && olderWords.has(first)) return ['older', first === olderRoot ? 1 : 0];
  return [undefined, first === apiRoot ? 1 : 0];
};

// Decodes the path, and refuses a malformed one before anything is looked up by it.
const readPath =
  (hasOlder: boolean): MiddlewareHandler<Environment> =>
  async ({ req, set }, next) => {
    const path = pathOf(req.url);
    // An error in a path that cannot be decoded has the form of its address, too.
    const decoded = decodePath(path);
    if (typeof decoded === 'string') {
      if (hasOlder && path.startsWith(`/${olderRoot}/`)) set('root', 'older');
      throw new HttpError(400, decoded);
    }
    const [root, length] = rootOf(decoded, hasOlder);
    const segments = decoded.slice(length);
    const isApi = root !== undefined || length > 0 || rootlessWords.includes(decoded[0] ?? '');
    set('segments', segments);
    set('isApi', isApi);
    set('root', root);
    // Only the root itself ends with a slash. Any other API path that does lacks the segment that should follow.
    if (isApi && segments.length > 1 && segments.at(-1) === '') {
      throw new HttpError(400, emptySegment);
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

/** The same, for an operation that is also answered below the later root, where it is counted separately. */
const notedOperation =
  (operation: OperationName | 'document', answer: Handler): Handler =>
  (context) =>
    noted(context.var.root === 'later' ? `v4.${operation}` : operation, answer)(context);

// A replica keeps no earlier generations, although documents that it does keep name them. If the publication is not
// signed, it has no signatures either: another replica, which looks for one here, may not reach it.
const isKeptElsewhere = async (
  path: string,
  { replica, documents }: Pick<Dependencies, 'replica' | 'documents'>,
): Promise<boolean> => {
  if (replica === undefined || !tellsOfGenerations(path)) return false;
  return !isSignature(path) || (await documents.read(generationPath.signature, 'identity')) !== undefined;
};

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
      return (await isKeptElsewhere(path, dependencies)) ? publicationRedirect(req, dependencies, openHeaders) : next();
    }
    if ((await dependencies.documents.read(path, 'identity')) === undefined) return next();
    const methods = methodsOf(operations.landing);
    if (req.method === 'OPTIONS') return describeMethods(methods);
    throw refuseMethod(methods);
  };

/**
 * The longest address that the gateway reads, in characters. What an OpenID provider sends back has a tenth of that.
 */
const longestGatewayAddress = 16 * 1024;

const gatewayPath = (word: string): string => `/${apiRoot}/${word}/*`;
const gatewayPaths = gatewayWords.map(gatewayPath);

// Credentials are in these answers: no cache may keep them, and no script of another site may read them.
const sealAnswer: MiddlewareHandler<Environment> = async (context, next) => {
  await next();
  closeToScripts(context.res).headers.set('Cache-Control', 'no-store');
};

/** Answers with the gateway. Whatever routes it registers, it is asked only for addresses that are its own. */
const gatewayHandler = (gateway: Hono): Handler => {
  const mounted = new Hono({ getPath: routedPath }).route(`/${apiRoot}`, gateway);
  mounted.notFound(() => {
    throw notFound();
  });
  mounted.onError((error) => {
    throw error;
  });
  return async ({ req, env }) => {
    if (req.url.length > longestGatewayAddress) throw new HttpError(414, unreadable[414]);
    return mounted.fetch(req.raw, env);
  };
};

/** Registers an operation at these addresses: its own method, OPTIONS, and an error for every other method. */
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
    // Without the API's root, "/" belongs to the site.
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
 * The function: every operation of the API, with and without its root, the pages of the site, and the gateway where
 * there is one. It uses web standards only; everything else comes in through the dependencies. `makeAnswer` is passed
 * where others make large answers in the same memory.
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
