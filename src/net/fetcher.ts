import { type Dispatcher, errors } from 'undici';
import { limitNote, limits as usual } from '../contract/limits.ts';
import { readBounded } from './bounded-body.ts';
import { createGuardedConnector } from './guarded-connector.ts';
import { HostQueue } from './host-queue.ts';
import { type NameLimits, Names } from './name-lookups.ts';
import { NetworkError, toNetworkError } from './network-error.ts';
import { assertNameable, createDispatcher, type Proxies } from './proxies.ts';
import { type AllowedNetworks, createAddressRule } from './public-address.ts';
import { readRedirect } from './redirects.ts';
import { createResolver, type ResolveName } from './resolver.ts';
import { type FetchLimits, type Turn, takeTurn } from './turn.ts';
import { WireMeter } from './wire-meter.ts';

/** What to request, and how much may be received at most. */
interface FetchOptions {
  /** Sent as If-None-Match and If-Modified-Since (RFC 9110, section 13.1). */
  readonly etag?: string | null;
  readonly lastModified?: string | null;
  /** Additional headers, sent only to the origin of the first address, because they may be secret. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The longest accepted body, in bytes. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
  /** Called for each request that is sent, including redirects. */
  readonly onRequest?: (url: URL) => void;
}

/**
 * An answer. Only status 200 has a body. It must be read to its end, or `discard` must be called, before the next turn.
 */
export interface FetchResult {
  readonly status: number;
  /** The address that answered, after redirects. */
  readonly url: URL;
  /**
   * The last address reached by permanent redirects (RFC 9110, sections 15.4.2 and 15.4.9) before a redirect of any
   * other kind.
   */
  readonly permanentUrl: URL;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly retryAfter: string | null;
  readonly contentEncoding: string | null;
  /** Whether the answer states where its body ends; otherwise a cut connection looks like the end. */
  readonly framed: boolean;
  readonly body: AsyncIterable<Uint8Array>;
  discard(): Promise<void>;
}

/** Fetches single addresses, each once. The caller decides what to retry. */
export interface Fetcher {
  /** Throws `NetworkError`, as does reading the body. */
  fetch(url: URL, options: FetchOptions): Promise<FetchResult>;
  close(): Promise<void>;
}

const usualLimits: FetchLimits & NameLimits = usual;

// Permanent redirects are followed again each time and not remembered, because one that was a mistake, or made by
// somebody else, would outlive itself. A finding tells the operator to put the new address into the manifest.
const redirecting = new Set([301, 302, 303, 307, 308]);
const permanent = new Set([301, 308]);

const single = (field: string | string[] | undefined): string | null =>
  (Array.isArray(field) ? field[0] : field) ?? null;

// A validator is returned to the origin as it came, so it must be valid in a header and in our store.
const validator = (field: string | string[] | undefined): string | null => {
  const text = single(field);
  return text !== null && /^[\x20-\x7e]{1,512}$/.test(text) ? text : null;
};

const reasonOf = (signal: AbortSignal, error: unknown, reading: boolean, host?: string): NetworkError =>
  signal.reason instanceof NetworkError ? signal.reason : toNetworkError(error, reading, host);

/**
 * The same failure, with the limit that was met. undici knows its value only, and names it too where one of several
 * addresses was silent for its share of the time and the last one refused.
 */
const withLimit = (failure: NetworkError, { headerBytes, connectMs }: FetchLimits): NetworkError => {
  const { code, message, cause, transient } = failure;
  const note =
    code === 'headers-too-large'
      ? limitNote('headerBytes', headerBytes)
      : cause instanceof errors.ConnectTimeoutError && !(cause.cause instanceof AggregateError)
        ? limitNote('connectMs', connectMs)
        : undefined;
  return note === undefined ? failure : new NetworkError(code, `${message} (${note})`, { cause, transient });
};

// Reading a short body to its end keeps the connection for the next request. For a long or slow one that does not pay.
const drop = async (response: Dispatcher.ResponseData): Promise<void> => {
  await response.body.dump({ limit: 65_536, signal: AbortSignal.timeout(1000) }).catch(() => response.body.destroy());
};

// undici ends a request without a connection only when it gets one.
const unlessAborted = async <T>(request: Promise<T>, signal: AbortSignal): Promise<T> => {
  let giveUp = () => {};
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([request, aborted]);
  } finally {
    signal.removeEventListener('abort', giveUp);
    request.catch(() => {});
  }
};

async function* nothing(): AsyncGenerator<Uint8Array, void, void> {}

const readHeaders = (url: URL, permanentUrl: URL, { statusCode, headers }: Dispatcher.ResponseData) => {
  const length = single(headers['content-length']);
  const expected = length !== null && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
  const chunked = /chunked/i.test(single(headers['transfer-encoding']) ?? '');
  return {
    expected,
    result: {
      status: statusCode,
      url,
      permanentUrl,
      etag: validator(headers.etag),
      lastModified: validator(headers['last-modified']),
      retryAfter: single(headers['retry-after']),
      contentEncoding: single(headers['content-encoding']),
      framed: expected !== undefined || chunked,
    },
  };
};

interface AnswerLimits extends FetchLimits {
  readonly maxBytes: number;
  /** Called for each piece of the body that is read, with its length. */
  readonly onBody: (bytes: number) => void;
}

const answer = async (
  url: URL,
  permanentUrl: URL,
  response: Dispatcher.ResponseData,
  { maxBytes, onBody, ...limits }: AnswerLimits,
  turn: Turn,
): Promise<FetchResult> => {
  const { result, expected } = readHeaders(url, permanentUrl, response);
  if (result.status !== 200) {
    await drop(response);
    turn.end();
    return { ...result, body: nothing(), discard: async () => {} };
  }
  if (expected !== undefined && expected > maxBytes) {
    response.body.destroy();
    turn.end();
    throw new NetworkError('too-large', `${url} announces ${expected} bytes, more than ${maxBytes}`);
  }
  const body = readBounded(response.body, { ...limits, maxBytes, expected }, turn.abort);
  async function* read() {
    try {
      for await (const piece of body) {
        onBody(piece.length);
        yield piece;
      }
    } catch (error) {
      throw reasonOf(turn.signal, error, true);
    } finally {
      response.body.destroy();
      turn.end();
    }
  }
  return {
    ...result,
    body: read(),
    discard: async () => {
      response.body.destroy();
      turn.end();
    },
  };
};

/**
 * The fetcher for the network: HTTP/1.1 with undici; plain bytes (no transfer is decompressed); redirects followed by
 * our rules; at most two connections to each host; every request limited in time, rate and size; no connection to
 * addresses that are not public unless `allowPrivateNetworks` allows it (`AllowedNetworks`). `resolve` and `ca` replace
 * the resolver and the system's certificate authorities. With `proxies`, only hosts that are private by their own name
 * or address are refused, because proxies resolve names themselves.
 */
export const createFetcher = (options: {
  allowPrivateNetworks: AllowedNetworks;
  userAgent?: string;
  limits?: Partial<FetchLimits & NameLimits>;
  resolve?: ResolveName;
  ca?: string;
  proxies?: Proxies | undefined;
}): Fetcher => {
  const limits = { ...usualLimits, ...options.limits };
  const queue = new HostQueue(limits.connectionsPerHost);
  const names = new Names(options.resolve ?? createResolver(), limits);
  const isAllowed = createAddressRule(options.allowPrivateNetworks);
  const wire = new WireMeter(limits.framingBytes);
  const agentOptions = {
    connections: limits.connectionsPerHost,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: limits.headerBytes,
    // A turn has clocks of its own, for the whole request.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: createGuardedConnector({
      isAllowed,
      timeout: limits.connectMs,
      find: (hostname) => names.find(hostname),
      ca: options.ca,
    }),
  } as const;
  const tls = { timeout: limits.connectMs, ...(options.ca === undefined ? {} : { ca: options.ca }) };
  const agent = createDispatcher(agentOptions, options.proxies, tls, (host, socket) => wire.watch(host, socket));

  const send = async (url: URL, { etag, lastModified, headers, onRequest }: FetchOptions, turn: Turn) => {
    try {
      if (options.proxies !== undefined) assertNameable(url, isAllowed);
      onRequest?.(url);
      wire.request(url.host);
      const request = agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'GET',
        headers: {
          ...headers,
          'user-agent': options.userAgent ?? 'Debdex',
          accept: '*/*',
          'accept-encoding': 'identity',
          ...(etag ? { 'if-none-match': etag } : {}),
          ...(lastModified ? { 'if-modified-since': lastModified } : {}),
        },
        signal: turn.signal,
      });
      const response = await unlessAborted(request, turn.signal);
      turn.headersArrived();
      // A body that fails while nobody reads it must not end the process.
      response.body.on('error', () => {});
      return response;
    } catch (error) {
      turn.end();
      throw withLimit(reasonOf(turn.signal, error, false, url.host), limits);
    }
  };

  const fetchFollowing = async (start: URL, fetchOptions: FetchOptions): Promise<FetchResult> => {
    let url = start;
    let permanentUrl = start;
    let remainingMs = limits.totalMs;
    for (let redirects = 0; ; redirects++) {
      const turn = await takeTurn(queue, url, limits, remainingMs, fetchOptions.signal);
      const headers = url.origin === start.origin ? fetchOptions.headers : undefined;
      const response = await send(url, { ...fetchOptions, headers }, turn);
      if (!redirecting.has(response.statusCode)) {
        const onBody = (bytes: number) => wire.accept(url.host, bytes);
        return answer(url, permanentUrl, response, { ...limits, maxBytes: fetchOptions.maxBytes, onBody }, turn);
      }
      await drop(response);
      remainingMs = Math.max(1, remainingMs - turn.end());
      if (redirects >= limits.redirects) {
        throw new NetworkError(
          'redirects',
          `${start} redirects on and on (${limitNote('redirects', limits.redirects)})`,
        );
      }
      const isPermanent = permanentUrl === url && permanent.has(response.statusCode);
      url = readRedirect(url, single(response.headers.location) ?? undefined, start.port);
      if (isPermanent) permanentUrl = url;
    }
  };

  const closeAll = async (): Promise<void> => {
    names.close();
    await agent.destroy();
  };

  return { fetch: fetchFollowing, close: closeAll };
};
