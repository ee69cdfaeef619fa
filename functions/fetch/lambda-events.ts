import { errorAnswer, HttpError } from '../http/answers.ts';
import type { FetchHandler } from './handler.ts';

// AWS, "Working with AWS Lambda proxy integrations for HTTP APIs" (payload format 2.0) and "Invoking Lambda function
// URLs": both have the same form of events and answers.

/** The event of a request, from a function URL or an HTTP API, as far as it is used here. */
export interface LambdaEvent {
  readonly rawPath: string;
  readonly rawQueryString: string;
  /** Names are in lower case; repeated headers are one text with commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Cookies are not part of the headers. */
  readonly cookies?: readonly string[];
  readonly requestContext: {
    readonly http: { readonly method: string; readonly sourceIp: string };
    readonly domainName?: string;
    /** A named stage is the first segment of the path. */
    readonly stage?: string;
  };
  readonly body?: string;
  readonly isBase64Encoded: boolean;
}

/** The form of an answer for both. */
export interface LambdaAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

/** The most bytes of a body as JSON; the rest of the 6 MB ("Lambda quotas") is for the headers. */
const largestBody = 6_000_000;

// An escape turns one byte into six characters at most.
const isTooLarge = (body: string): boolean =>
  body.length * 6 > largestBody && Buffer.byteLength(JSON.stringify(body)) > largestBody;

// An HTTP API passes the path decoded, a function URL as it was sent.
const targetOf = ({ rawPath, rawQueryString, requestContext: { stage, domainName } }: LambdaEvent): string => {
  const isNamed = stage !== undefined && stage !== '$default' && `${rawPath}/`.startsWith(`/${stage}/`);
  const path = isNamed ? rawPath.slice(stage.length + 1) || '/' : rawPath;
  const isAsSent = domainName?.endsWith('.on.aws') ?? false;
  const written = isAsSent ? path : path.split('/').map(encodeURIComponent).join('/');
  // A bare # would cut off the rest of the address.
  return (rawQueryString === '' ? written : `${written}?${rawQueryString}`).replaceAll('#', '%23');
};

const requestOf = (event: LambdaEvent): Request => {
  const { headers, cookies = [], body, isBase64Encoded } = event;
  const { method } = event.requestContext.http;
  const given = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    // A header consists of bytes, each of which is one character in a Request.
    if (value !== undefined) given.set(name, /[^\0-\xff]/.test(value) ? Buffer.from(value).toString('latin1') : value);
  }
  if (cookies.length > 0) given.set('cookie', cookies.join('; '));
  const hasBody = body !== undefined && method !== 'GET' && method !== 'HEAD';
  // A fixed host, because the client chooses the Host header, which is checked later.
  return new Request(`http://localhost${targetOf(event)}`, {
    method,
    headers: given,
    ...(hasBody ? { body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8') } : {}),
  });
};

const asText = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
};

const answerOf = async (response: Response, method: string): Promise<LambdaAnswer> => {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = asText(bytes);
  const body = text ?? Buffer.from(bytes).toString('base64');
  if (isTooLarge(body)) {
    // A document is compressed only where copies were published with it, which are of these two codings.
    const sentence =
      'This answer is larger than this host can send: ask for pages of it, or accept gzip or br, which may not help with a document';
    return answerOf(errorAnswer(new HttpError(503, sentence), new Date(), method), method);
  }
  const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== 'set-cookie'));
  return {
    statusCode: response.status,
    headers,
    cookies: response.headers.getSetCookie(),
    body,
    isBase64Encoded: text === undefined,
  };
};

/** Answers the events of a function URL or of an HTTP API (payload format 2.0). */
export const answerEvents =
  ({ fetch }: Pick<FetchHandler, 'fetch'>) =>
  async (event: LambdaEvent): Promise<LambdaAnswer> => {
    const { method, sourceIp } = event.requestContext.http;
    let request: Request;
    try {
      request = requestOf(event);
    } catch {
      // Neither of them sends a malformed request, but somebody who invokes the function directly may.
      return answerOf(errorAnswer(new HttpError(400, 'The address is not valid'), new Date(), method), method);
    }
    return answerOf(await fetch(request, sourceIp), method);
  };
