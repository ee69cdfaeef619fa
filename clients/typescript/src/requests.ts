import { AnswerError } from './errors.ts';

/** The answer of an address, kept so that it need not be sent again if it has not changed. */
export interface KeptAnswer {
  readonly etag: string;
  readonly body: unknown;
}

/** Keeps answers by address. It decides how many to keep, and for how long. A Map will do. */
export interface AnswerCache {
  get(address: string): KeptAnswer | undefined | Promise<KeptAnswer | undefined>;
  set(address: string, kept: KeptAnswer): unknown;
}

/** How a service is asked. Times are in milliseconds. */
export interface RequestOptions {
  /** Replaces the platform's fetch. */
  readonly fetch?: typeof fetch;
  /** How long one attempt may take, including the body. 10 seconds by default. */
  readonly timeout?: number;
  /** How often a request is repeated after an error that may be temporary. 3 times by default. */
  readonly retries?: number;
  /**
   * The longest pause before a repetition. If the service asks for a longer one, the request fails. 30 seconds by
   * default.
   */
  readonly longestPause?: number;
  readonly cache?: AnswerCache;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Options of a single request. */
export interface AskOptions {
  /** Ends the request, its repetitions and its pauses. */
  readonly signal?: AbortSignal;
}

// Temporary errors: the service is busy, or a server in front of it does not reach it, for which some have a number of
// their own (520 to 530 at Cloudflare). After any other error a repetition would fail, too: 501 is the answer of a host of
// files to what has to be computed.
const isPassing = (status: number): boolean => status === 408 || status === 429 || (status >= 500 && status !== 501);
const firstPause = 250;

/** The longest delay of the platform's timers, in milliseconds; longer ones end at once. */
const longestTimer = 2 ** 31 - 1;

/** Waits this many milliseconds. Rejects with the signal's reason if it aborts first. */
export const pauseFor = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      },
      Math.min(milliseconds, longestTimer),
    );
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });

// Without AbortSignal.any and AbortSignal.timeout, because many browsers in use do not have them, and some that have
// fetch do not have DOMException.
const within = async <T>(
  milliseconds: number,
  signal: AbortSignal | undefined,
  work: (ending: AbortSignal) => Promise<T>,
): Promise<T> => {
  const ending = new AbortController();
  const stop = () => ending.abort(signal?.reason);
  const late = () => {
    const error = new Error('The operation was aborted due to timeout');
    ending.abort(Object.assign(error, { name: 'TimeoutError' }));
  };
  const timer = setTimeout(late, Math.min(milliseconds, longestTimer));
  if (signal?.aborted) stop();
  else signal?.addEventListener('abort', stop, { once: true });
  try {
    return await work(ending.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
};

/** Reads seconds or a date (RFC 9110, section 10.2.3); returns milliseconds from now. */
const readRetryAfter = (header: string | null): number | undefined => {
  if (header === null) return undefined;
  const until = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(until) ? undefined : Math.max(0, until);
};

const sentenceOf = (body: unknown, status: number): string => {
  const { error, message } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  return String(error ?? message ?? `The service answers ${status}`);
};

const parse = (text: string, address: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SyntaxError(`${address} does not answer JSON`, { cause });
  }
};

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly etag: string | null;
  readonly retryAfter: number | undefined;
}

/** Asks a service for JSON. */
export class Requests {
  readonly #options: RequestOptions;

  constructor(options: RequestOptions) {
    this.#options = options;
  }

  /**
   * Returns the JSON at an address. After a temporary error it asks again, as often as allowed and not before the
   * service wants it. A kept answer is requested with its entity tag.
   *
   * @throws AnswerError if the answer is an error; what fetch throws; the reason of the signal
   */
  async get(
    address: string,
    { signal, retries = this.#options.retries ?? 3 }: AskOptions & { readonly retries?: number } = {},
  ): Promise<unknown> {
    const { cache } = this.#options;
    const kept = await cache?.get(address);
    const headers: Record<string, string> = kept ? { 'If-None-Match': kept.etag } : {};
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt >= retries;
      let answered: Answered;
      try {
        answered = await this.#send(address, { headers }, signal);
      } catch (error) {
        if (isLast || signal?.aborted) throw error;
        await pauseFor(this.#pause(attempt, undefined) ?? 0, signal);
        continue;
      }
      const { status, etag, retryAfter } = answered;
      if (status === 304 && kept) return kept.body;
      const pause = isLast || !isPassing(status) ? undefined : this.#pause(attempt, retryAfter);
      if (pause !== undefined) {
        await pauseFor(pause, signal);
        continue;
      }
      const body = this.#read(address, answered);
      if (etag !== null) await cache?.set(address, { etag, body });
      return body;
    }
  }

  /**
   * Returns the JSON that answers a body. The body is sent only once, because a repetition might be counted twice.
   * Throws as `get` does.
   */
  async post(address: string, sent: unknown, { signal }: AskOptions = {}): Promise<unknown> {
    const headers = { 'Content-Type': 'application/json' };
    const answered = await this.#send(address, { method: 'POST', headers, body: JSON.stringify(sent) }, signal);
    return this.#read(address, answered);
  }

  #read(address: string, { status, text, retryAfter }: Answered): unknown {
    if (status >= 200 && status < 300) return parse(text, address);
    let body: unknown;
    try {
      body = parse(text, address);
    } catch {
      // A server in front of the service may answer with something other than JSON.
    }
    throw new AnswerError(status, sentenceOf(body, status), { retryAfter, body });
  }

  async #send(address: string, init: RequestInit, signal: AbortSignal | undefined): Promise<Answered> {
    const { fetch: ask = fetch, timeout = 10_000 } = this.#options;
    return within(timeout, signal, async (ending) => {
      const answer = await ask(address, {
        ...init,
        headers: { Accept: 'application/json', ...this.#options.headers, ...init.headers },
        signal: ending,
      });
      const { status, headers } = answer;
      const retryAfter = readRetryAfter(headers.get('Retry-After'));
      return { status, text: await answer.text(), etag: headers.get('ETag'), retryAfter };
    });
  }

  // As long as the service asks for, and a random part of a limit that doubles each time, because many clients must not
  // return at the same moment.
  #pause(attempt: number, asked: number | undefined): number | undefined {
    const { longestPause = 30_000 } = this.#options;
    if (asked !== undefined && asked > longestPause) return undefined;
    const own = Math.random() * Math.min(longestPause, firstPause * 2 ** attempt);
    return Math.min(longestPause, (asked ?? 0) + own);
  }
}
