import { AnswerError } from './errors.ts';

/** What was answered to an address, kept so that it need not be sent again. */
export interface KeptAnswer {
  readonly etag: string;
  readonly body: unknown;
}

/** Keeps answers by their addresses, for as long and as many as it likes. A Map is one. */
export interface AnswerCache {
  get(address: string): KeptAnswer | undefined | Promise<KeptAnswer | undefined>;
  set(address: string, kept: KeptAnswer): unknown;
}

/** How a service is asked; times in milliseconds. */
export interface RequestOptions {
  /** Another fetch than the platform's. */
  readonly fetch?: typeof fetch;
  /** How long one attempt may take, its body included. 10 seconds unless told otherwise. */
  readonly timeout?: number;
  /** How often a question is repeated that failed in passing. 3 unless told otherwise. */
  readonly retries?: number;
  /** The longest pause before a repetition; where the service asks for a longer one, the question fails. 30 seconds. */
  readonly longestPause?: number;
  readonly cache?: AnswerCache;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What one question may be told. */
export interface AskOptions {
  /** Ends the question, its repetitions and its pauses. */
  readonly signal?: AbortSignal;
}

// What passes by itself: the service is busy, or something before it is. Anything else fails again as it failed before.
const passing: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
const firstPause = 250;

/** The longest that a timer of the platform waits, in milliseconds; it takes more for nothing. */
const longestTimer = 2 ** 31 - 1;

/** Waits so many milliseconds. Rejects with the reason of the signal where that ends it. */
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

// By hand, since many a browser that somebody has still knows neither AbortSignal.any nor AbortSignal.timeout, and not all
// that has fetch knows DOMException.
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

/** Seconds or a date (RFC 9110, section 10.2.3), in milliseconds from now. */
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
   * The JSON at an address. What failed in passing is asked again, as often as may be and not before the service wants
   * it; what is kept is asked for with its tag.
   *
   * @throws AnswerError where the answer is an error, what fetch throws, and the reason of the signal
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
      const pause = isLast || !passing.has(status) ? undefined : this.#pause(attempt, retryAfter);
      if (pause !== undefined) {
        await pauseFor(pause, signal);
        continue;
      }
      const body = this.#read(address, answered);
      if (etag !== null) await cache?.set(address, { etag, body });
      return body;
    }
  }

  /** The JSON that answers what is sent. It is sent once: a repetition might count twice. Throws as `get` does. */
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
      // Something before the service may answer in its own words.
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

  // As long as the service asks for, and a random part of twice as long as before: many clients must not come back at
  // the same moment.
  #pause(attempt: number, asked: number | undefined): number | undefined {
    const { longestPause = 30_000 } = this.#options;
    if (asked !== undefined && asked > longestPause) return undefined;
    const own = Math.random() * Math.min(longestPause, firstPause * 2 ** attempt);
    return Math.min(longestPause, (asked ?? 0) + own);
  }
}
