import { createHash, createHmac, type Hash, type Hmac, hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SignatureV4 } from '@smithy/signature-v4';
import { withoutControls } from '../contract/findings.ts';
import { NetworkError } from '../net/network-error.ts';
import { computePause, parseRetryAfter } from '../net/retry.ts';
import type { Sender, Sending, SendResult } from '../net/sender.ts';
import type { LocalFile } from './local-publication.ts';
import { UploadError } from './upload-error.ts';

/** Credentials, in the form of the AWS SDKs. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** A bucket, and how to reach it. */
export interface Bucket {
  readonly name: string;
  /** The service's address, with or without a path. */
  readonly endpoint: URL;
  readonly region: string;
  readonly credentials: Credentials;
}

/** A request about a key or, without one, about the bucket itself. */
export interface S3Request {
  readonly method: Exclude<Sending['method'], 'POST'>;
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | LocalFile;
}

/** How long to keep trying. */
export interface Patience {
  /** How many times a request is made, in all; and how many times if the store has never answered. */
  readonly tries: number;
  readonly firstTries: number;
  /** The first pause and the longest, in milliseconds. */
  readonly pauseMs: number;
  readonly longestPauseMs: number;
}

const usualPatience: Patience = { tries: 12, firstTries: 3, pauseMs: 200, longestPauseMs: 20_000 };

// A request may take this many milliseconds, and besides as long as its bytes take at this rate, in bytes a second.
// Then it is given up and made again.
const slowest = 16 * 1024;
const answerMs = 60_000;

// No store answers so. What a publication has of this kind is sent, and never asked for by GET.
const webPage = /^\s*<(?:!doctype\s+html|html)[\s>]/i;
const isPage = (body: Buffer): boolean => webPage.test(body.subarray(0, 1024).toString());

/** An answer with an error status, or with an error or a web page in its body. */
export class S3Refusal extends Error {
  override name = 'S3Refusal';
  readonly status: number;
  readonly code: string;
  /** The region of the bucket, if the answer names it. */
  readonly region: string | undefined;
  readonly isPage: boolean;

  constructor({ status, headers, body }: SendResult) {
    const text = body.subarray(0, 65_536).toString();
    const element = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1];
    const code = element('Code') ?? '';
    const page = isPage(body);
    const words = [status, code, element('Message') ?? '', page ? 'with a web page' : ''];
    super(withoutControls(words.filter((part) => part !== '').join(' ')));
    this.status = status;
    this.isPage = page;
    this.code = code;
    this.region = headers['x-amz-bucket-region'] ?? element('Region');
  }

  get isTransient(): boolean {
    return (
      [408, 429, 500, 502, 503, 504].includes(this.status) ||
      /^(?:SlowDown|InternalError|RequestTimeout|OperationAborted|ConditionalRequestConflict|ServiceUnavailable)$/.test(
        this.code,
      )
    );
  }
}

/** SHA-256 with the interface that the signer requires. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', toBytes(secret));
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {}
}

const toBytes = (source: string | ArrayBuffer | ArrayBufferView): string | Uint8Array => {
  if (typeof source === 'string') return source;
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
};

// As signatures of version 4 require, and so that no store decodes a "+" as a blank.
const encodeSegment = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

// Some stores, and gateways in front of them, begin an answer with 200 before they know how the request ends. What a
// GET of an object brings may be such a document itself.
const isDone = ({ method, key }: S3Request, { status, body }: SendResult): boolean => {
  if (status >= 300 || isPage(body)) return false;
  return (
    (method === 'GET' && key !== undefined) ||
    !/^\s*(?:<\?xml[^>]*>\s*)?<Error[\s>]/.test(body.subarray(0, 1024).toString())
  );
};

const bodyOf = (body: S3Request['body']) => {
  if (body === undefined) return { bytes: undefined, size: 0, sha256: hash('sha256', '') };
  if (Buffer.isBuffer(body)) return { bytes: body, size: body.length, sha256: hash('sha256', body) };
  return { bytes: body.bytes, size: body.size, sha256: body.sha256 };
};

/**
 * Asks a bucket by the S3 protocol. Each request is signed with the digest of its body, so the store notices altered
 * bytes. After a lost connection, or if the store is busy, the request is repeated after ever longer pauses.
 */
export class S3Client {
  readonly bucket: Bucket;
  readonly #sender: Sender;
  readonly #patience: Patience;
  readonly #onRetry: (reason: string) => void;
  #signer: Promise<SignatureV4> | undefined;
  #hasAnswered = false;
  /**
   * When requests may go on, in milliseconds as of performance.now(): if the store is asked too often, all requests have to
   * wait. Where the machine's clock is set back meanwhile, they wait no longer.
   */
  #resumeAt = 0;
  readonly #closing = new AbortController();

  /** `onRetry` is called with the reason, a sentence, whenever a request is to be repeated after a pause. */
  constructor(
    bucket: Bucket,
    sender: Sender,
    { patience = usualPatience, onRetry }: { patience?: Patience; onRetry?: (reason: string) => void } = {},
  ) {
    this.bucket = bucket;
    this.#sender = sender;
    this.#patience = patience;
    this.#onRetry = onRetry ?? (() => {});
  }

  /**
   * Returns an answer whose status is 2xx or in `accepted`; one of another write in progress only after all tries.
   *
   * @throws S3Refusal for any other status, and for 2xx with an error or a web page in the body; UploadError if there was no answer after all tries
   */
  async request(request: S3Request, accepted: readonly number[] = []): Promise<SendResult> {
    for (let tries = 1; ; tries++) {
      await this.#waitForTurn();
      const outcome = await this.#try(request);
      if (!(outcome instanceof Error)) {
        this.#hasAnswered = true;
        if (isDone(request, outcome)) return outcome;
        const refusal = new S3Refusal(outcome);
        const mayAsk = refusal.isTransient && tries < this.#patience.tries;
        // Of the same object, perhaps our own whose answer was lost: who wins shows when it is over.
        const isOfWrite = outcome.status === 409 && mayAsk;
        if (accepted.includes(outcome.status) && !isOfWrite) return outcome;
        if (!mayAsk) throw refusal;
        const { host } = this.bucket.endpoint;
        this.#onRetry(`${host} refused ${this.#describe(request)} (${refusal.message}). It is asked again.`);
        this.#pause(tries, outcome.headers['retry-after']);
        continue;
      }
      const most = this.#hasAnswered ? this.#patience.tries : this.#patience.firstTries;
      if (!outcome.transient || tries >= most || this.#closing.signal.aborted) {
        throw this.#unreachable(request, outcome, tries);
      }
      this.#onRetry(`${this.#unreached(request)} (${outcome.code}: ${outcome.message}). It is asked again.`);
      await this.#sleep(this.#pauseMs(tries));
    }
  }

  /**
   * Ends requests that nobody waits for any more, and pauses before their repetition: where one of several fails, the
   * others would keep the process alive until they give up.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sender.close();
  }

  async #try(request: S3Request): Promise<SendResult | NetworkError> {
    const { endpoint } = this.bucket;
    const { bytes, size, sha256 } = bodyOf(request.body);
    const stream = bytes === undefined && request.body !== undefined ? (request.body as LocalFile).open() : undefined;
    try {
      const { path, headers } = await this.#sign(request, size, sha256);
      return await this.#sender.send({
        method: request.method,
        origin: endpoint.origin,
        path,
        headers,
        body: bytes ?? stream,
        timeoutMs: answerMs + (size / slowest) * 1000,
      });
    } catch (error) {
      if (error instanceof NetworkError) return error;
      throw error;
    } finally {
      stream?.destroy();
    }
  }

  async #sign({ method, key, query = {}, headers = {} }: S3Request, size: number, sha256: string) {
    this.#signer ??= this.#createSigner();
    const { endpoint, name } = this.bucket;
    const segments = [name, ...(key === undefined ? [] : key.split('/'))].map(encodeSegment);
    const path = `${endpoint.pathname.replace(/\/$/, '')}/${segments.join('/')}`;
    const signed = await (await this.#signer).sign({
      method,
      protocol: endpoint.protocol,
      hostname: endpoint.hostname,
      path,
      query,
      headers: {
        ...headers,
        host: endpoint.host,
        'x-amz-content-sha256': sha256,
        ...(method === 'PUT' ? { 'content-length': String(size) } : {}),
      },
    });
    const search = Object.entries(query).map(([field, value]) => `${encodeSegment(field)}=${encodeSegment(value)}`);
    return { path: search.length === 0 ? path : `${path}?${search.join('&')}`, headers: signed.headers };
  }

  // Loaded only when there is something to sign, so that other commands and destinations start faster.
  async #createSigner(): Promise<SignatureV4> {
    const { SignatureV4 } = await import('@smithy/signature-v4');
    const { region, credentials } = this.bucket;
    return new SignatureV4({ service: 's3', region, credentials, sha256: Sha256, uriEscapePath: false });
  }

  #pauseMs(tries: number): number {
    const { pauseMs, longestPauseMs } = this.#patience;
    return Math.min(computePause(pauseMs, tries), longestPauseMs);
  }

  #pause(tries: number, retryAfter: string | undefined): void {
    const { longestPauseMs } = this.#patience;
    const now = new Date();
    const until = parseRetryAfter(retryAfter ?? null, now, longestPauseMs) ?? now;
    const pause = Math.max(until.getTime() - now.getTime(), this.#pauseMs(tries));
    this.#resumeAt = Math.max(this.#resumeAt, performance.now() + pause);
  }

  async #waitForTurn(): Promise<void> {
    for (let wait = this.#resumeAt - performance.now(); wait > 0; wait = this.#resumeAt - performance.now()) {
      await this.#sleep(wait);
    }
  }

  async #sleep(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#closing.signal });
  }

  #describe({ method, key }: S3Request): string {
    const { name } = this.bucket;
    return `${method} of ${key === undefined ? name : `${name}/${key}`}`;
  }

  #unreached(request: S3Request): string {
    return `${this.bucket.endpoint.origin} could not be reached for ${this.#describe(request)}`;
  }

  #unreachable(request: S3Request, { code, message }: NetworkError, tries: number): UploadError {
    const advice = this.#hasAnswered
      ? 'What was in force there still is; upload again when it answers, and it goes on where it stopped.'
      : 'Mind --endpoint (or AWS_ENDPOINT_URL_S3), and the proxy where there is one.';
    return new UploadError(`${this.#unreached(request)}, ${tries} times (${code}: ${message}). ${advice}`);
  }
}
