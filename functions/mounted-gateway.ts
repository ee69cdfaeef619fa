import { Hono, type MiddlewareHandler } from 'hono';
import { apiRoot, operations } from '../src/contract/paths.ts';
import type { Environment } from './environment.ts';
import { errorAnswer, HttpError, notFound } from './http/answers.ts';
import { decodePath, pathOf, routedPath } from './http/request-path.ts';

/** The longest address of the gateway, in characters: what a provider sends back is a tenth of it. */
const longestAddress = 16 * 1024;

const wordOf = (path: string): string => path.split('/')[1] ?? '';

/** First words below the root that are the read API's, whatever a gateway calls its own. */
const readWords: ReadonlySet<string> = new Set([
  ...Object.values(operations).map(({ address }) => wordOf(address)),
  operations.landing.file,
]);

// Credentials are in these answers: no cache may keep them, and no script of another site may read them.
const seal = (answer: Response): Response => {
  const headers = new Headers(answer.headers);
  for (const name of [...headers.keys()]) if (name.startsWith('access-control-')) headers.delete(name);
  headers.set('Cache-Control', 'no-store');
  return new Response(answer.body, { status: answer.status, statusText: answer.statusText, headers });
};

/**
 * Mounts the gateway below the API's root. Its addresses are known by their first word, so that nothing it registers or
 * adds to its answers touches the read API's. The first of the two comes before the path is read and seals every answer
 * to one of its addresses, the second after it and answers them.
 */
export const mountGateway = (
  gateway: Hono,
  { now, report }: { now: () => Date; report: (error: unknown) => void },
): readonly [MiddlewareHandler<Environment>, MiddlewareHandler<Environment>] => {
  const words = new Set(gateway.routes.map(({ path }) => wordOf(path)).filter((word) => !readWords.has(word)));
  for (const pattern of ['', '*']) words.delete(pattern);
  const mounted = new Hono({ getPath: routedPath }).route(`/${apiRoot}`, gateway);
  mounted.notFound(({ req }) => errorAnswer(notFound(), now(), req.raw.method));
  mounted.onError((error, { req }) => {
    report(error);
    return errorAnswer(new HttpError(500, 'Something went wrong on our side'), now(), req.raw.method);
  });

  const sealing: MiddlewareHandler<Environment> = async (context, next) => {
    await next();
    const path = pathOf(context.req.url);
    const decoded = decodePath(path);
    const word = typeof decoded === 'string' ? path.split('/')[2] : decoded[1];
    if (!words.has(word ?? '')) return;
    const answer = seal(context.res);
    // Hono copies the headers of an answer into the one that replaces it.
    context.res = undefined;
    context.res = answer;
  };

  const answering: MiddlewareHandler<Environment> = async ({ req, env, var: { segments } }, next) => {
    if (!words.has(segments[0] ?? '')) return next();
    if (req.url.length > longestAddress) throw new HttpError(414, 'The address of the request is too long');
    return mounted.fetch(req.raw, env);
  };

  return [sealing, answering];
};
