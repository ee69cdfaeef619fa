import { cacheControl, openHeaders } from '../../src/contract/answer-headers.ts';
import { type ErrorStatus, errorBody } from '../../src/contract/errors.ts';
import type { Dependencies } from '../dependencies.ts';
import { chooseEncoding } from './accept-header.ts';

/** Thrown by a handler to answer an error: the status, and the sentence that says what to do. */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly status: ErrorStatus;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: ErrorStatus, sentence: string, headers: Readonly<Record<string, string>> = {}) {
    super(sentence);
    this.status = status;
    this.headers = headers;
  }
}

/** The error for an unknown package, repository or address. */
export const notFound = (): HttpError => new HttpError(404, 'Not found');

const jsonType = 'application/json';

const utf8 = new TextEncoder();
// Below this an answer fits in one packet anyway.
const worthCompressing = 1400;

interface ComputedOptions {
  readonly status?: number;
  readonly cache: string;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A computed answer, from its text or the bytes of it; its headers name the content type and who may read it. */
export const computedAnswer = async (
  request: Request,
  dependencies: Pick<Dependencies, 'compress'>,
  text: string | Uint8Array<ArrayBuffer>,
  options: ComputedOptions & { readonly headers: Readonly<Record<string, string>> },
): Promise<Response> => {
  let body = typeof text === 'string' ? utf8.encode(text) : text;
  const headers: Record<string, string> = { 'Cache-Control': options.cache, ...options.headers };
  if (dependencies.compress && body.length > worthCompressing) {
    headers.Vary = 'Accept-Encoding';
    const encoding = chooseEncoding(request.headers.get('accept-encoding') ?? undefined);
    if (encoding !== 'identity') {
      body = await dependencies.compress(body, encoding);
      headers['Content-Encoding'] = encoding;
    }
  }
  headers['Content-Length'] = String(body.length);
  return new Response(request.method === 'HEAD' ? null : body, { status: options.status ?? 200, headers });
};

/** A computed JSON answer, from its text or the bytes of it. */
export const jsonAnswer = (
  request: Request,
  dependencies: Pick<Dependencies, 'compress'>,
  json: string | Uint8Array<ArrayBuffer>,
  { headers = {}, ...options }: ComputedOptions,
): Promise<Response> =>
  computedAnswer(request, dependencies, json, {
    ...options,
    headers: { 'Content-Type': jsonType, ...openHeaders, ...headers },
  });

/** The answer to a request that failed; `compose` says what its body is, where that is not the one of /v2. */
export const errorAnswer = (error: HttpError, now: Date, method: string, compose = errorBody): Response => {
  const body = utf8.encode(JSON.stringify(compose(error.status, error.message, now)));
  return new Response(method === 'HEAD' ? null : body, {
    status: error.status,
    headers: {
      'Content-Type': jsonType,
      'Content-Length': String(body.length),
      'Cache-Control': error.status === 404 ? cacheControl.missing : cacheControl.none,
      ...openHeaders,
      ...('Retry-After' in error.headers ? { 'Access-Control-Expose-Headers': 'Retry-After' } : {}),
      ...error.headers,
    },
  });
};
