import { limitNote } from '../contract/limits.ts';
import { NetworkError, toNetworkError } from './network-error.ts';

/** Limits of a body. `expected` is the length that it announces, in bytes. */
export interface BodyLimits {
  readonly maxBytes: number;
  readonly expected: number | undefined;
  readonly minBytesPerSecond: number;
  /** How long a body may wait in total without penalty, in milliseconds. */
  readonly graceMs: number;
}

/**
 * Reads a body within limits. Throws a `NetworkError`: `too-large` as soon as more than `maxBytes` have arrived,
 * `truncated` if fewer arrived than announced. Calls `abort`, which must end `body`, with `too-slow` if the origin is
 * too slow: waiting uses up a budget of at most `graceMs`, which each received byte refills at the minimum rate. So
 * neither a fast beginning nor a slow reader on our side changes what is required of the origin.
 */
export async function* readBounded(
  body: AsyncIterable<Uint8Array>,
  limits: BodyLimits,
  abort: (reason: NetworkError) => void,
): AsyncGenerator<Uint8Array, void, void> {
  const chunks = body[Symbol.asyncIterator]();
  const tooSlow = () =>
    abort(
      new NetworkError(
        'too-slow',
        `hardly anything arrived (${limitNote('minBytesPerSecond', limits.minBytesPerSecond)})`,
      ),
    );
  let received = 0;
  let purse = limits.graceMs;
  for (;;) {
    const since = performance.now();
    const timer = setTimeout(tooSlow, purse);
    let next: IteratorResult<Uint8Array>;
    try {
      next = await chunks.next();
    } catch (error) {
      throw toNetworkError(error, true);
    } finally {
      clearTimeout(timer);
    }
    if (next.done) break;
    received += next.value.length;
    if (received > limits.maxBytes) throw new NetworkError('too-large', `more than ${limits.maxBytes} bytes arrived`);
    const earned = (next.value.length / limits.minBytesPerSecond) * 1000;
    purse = Math.min(limits.graceMs, Math.max(0, purse - (performance.now() - since)) + earned);
    yield next.value;
  }
  if (limits.expected !== undefined && received !== limits.expected) {
    throw new NetworkError('truncated', `${received} of ${limits.expected} announced bytes arrived`);
  }
}
