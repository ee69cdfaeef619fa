import { cacheControl, openHeaders } from '../../src/contract/answer-headers.ts';
import { type ErrorStatus, errorBody } from '../../src/contract/errors.ts';
import type { Dependencies } from '../dependencies.ts';
import { chooseEncoding } from './accept-header.ts';

/** Thrown by a handler to answer with an error: a status, and a sentence that says what to do. */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly status: ErrorStatus;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: ErrorStatus, sentence: string, headers: Readonly<Record<string, string>> = {}) {
    // This is an answer, not a fault, so nobody needs a stack trace. Making one takes 5 µs for each refusal.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(sentence);
    Error.stackTraceLimit = stackTraceLimit;
    this.status = status;
    this.headers = headers;
  }
}

/** The error for an unknown package, repository or address. */
export const notFound = (): HttpError => new HttpError(404, 'Not found');

const jsonType = 'application/json';

type Tail<List extends readonly unknown[]> = List extends readonly [unknown, ...infer Rest] ? Rest : never;

const utf8 = new TextEncoder();
// In bytes. A smaller answer fits in one packet anyway.
const worthCompressing = 1400;

/** An answer whose body is complete, before it becomes a Response or goes to a connection. */
export interface AnswerParts {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** These parts as the response to a request with this method. */
export const toResponse = ({ body, ...init }: AnswerParts, method: string): Response =>
  new Response(method === 'HEAD' ? null : body, init);

interface ComputedOptions {
  readonly status?: number;
  readonly cache: string;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

const computedParts = async (
  acceptEncoding: string | undefined,
  dependencies: Pick<Dependencies, 'compress'>,
  text: string | Uint8Array<ArrayBuffer>,
  options: ComputedOptions & { readonly headers: Readonly<Record<string, string>> },
): Promise<AnswerParts> => {
  let body = typeof text === 'string' ? utf8.encode(text) : text;
  const headers: Record<string, string> = { 'Cache-Control': options.cache, ...options.headers };
  if (dependencies.compress && body.length > worthCompressing) {
    headers.Vary = 'Accept-Encoding';
    const encoding = chooseEncoding(acceptEncoding);
    if (encoding !== 'identity') {
      body = await dependencies.compress(body, encoding);
      headers['Content-Encoding'] = encoding;
    }
  }
  headers['Content-Length'] = String(body.length);
  return { status: options.status ?? 200, headers, body };
};

/** The value of Accept-Encoding of a request. */
export const acceptEncodingOf = ({ headers }: Request): string | undefined =>
  headers.get('accept-encoding') ?? undefined;

/** A computed answer, from its text or bytes. Its headers must name the content type and who may read it. */
export const computedAnswer = async (
  request: Request,
  ...computed: Tail<Parameters<typeof computedParts>>
): Promise<Response> => toResponse(await computedParts(acceptEncodingOf(request), ...computed), request.method);

/** A computed JSON answer, from its text or bytes, in a coding that this value of Accept-Encoding allows. */
export const jsonParts = (
  acceptEncoding: string | undefined,
  dependencies: Pick<Dependencies, 'compress'>,
  json: string | Uint8Array<ArrayBuffer>,
  { headers = {}, ...options }: ComputedOptions,
): Promise<AnswerParts> =>
  computedParts(acceptEncoding, dependencies, json, {
    ...options,
    headers: { 'Content-Type': jsonType, ...openHeaders, ...headers },
  });

/** The same, as a response to this request. */
export const jsonAnswer = async (
  request: Request,
  ...computed: Tail<Parameters<typeof jsonParts>>
): Promise<Response> => toResponse(await jsonParts(acceptEncodingOf(request), ...computed), request.method);

/** The answer to a request that failed. `compose` makes its body, if it has another form than under /v2. */
export const errorParts = (error: HttpError, now: Date, compose = errorBody): AnswerParts => {
  const body = utf8.encode(JSON.stringify(compose(error.status, error.message, now)));
  return {
    status: error.status,
    headers: {
      'Content-Type': jsonType,
      'Content-Length': String(body.length),
      'Cache-Control': error.status === 404 ? cacheControl.missing : cacheControl.none,
      ...openHeaders,
      ...('Retry-After' in error.headers ? { 'Access-Control-Expose-Headers': 'Retry-After' } : {}),
      ...error.headers,
    },
    body,
  };
};

/** The same, as a response to a request with this method. */
export const errorAnswer = (error: HttpError, now: Date, method: string, compose = errorBody): Response =>
  toResponse(errorParts(error, now, compose), method);

/** The answer, which scripts of other sites may no longer read: as is all that the gateway answers. */
export const closeToScripts = (answer: Response): Response => {
  for (const name of [...answer.headers.keys()]) if (name.startsWith('access-control-')) answer.headers.delete(name);
  return answer;
};
