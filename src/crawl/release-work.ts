import { Worker } from 'node:worker_threads';
import type { SplitOptions } from '../apt/clearsigned.ts';
import { limitNote, limits } from '../contract/limits.ts';
import { HostQueue } from '../net/host-queue.ts';
import { CrawlError } from './crawl-error.ts';
import type { SignatureReport } from './openpgp-signature.ts';
import { judgeSignature, type ReadRelease, readReleaseText, type SigningQuestion } from './release-text.ts';

type ReadTask = SplitOptions & {
  readonly kind: 'read';
  readonly bytes: Uint8Array;
  readonly wanted: readonly string[];
};
type SignTask = { readonly kind: 'sign' } & SigningQuestion;

/** Work on the bytes of a release, which cannot be divided. */
export type ReleaseTask = ReadTask | SignTask;

// A shorter file takes a few milliseconds, whatever it contains. Starting a thread takes fifty.
const inlineBytes = 131_072;
// Enough for three keys. An unknown packet takes two bytes and fifty microseconds, so a long signature may keep a
// thread busy for seconds.
const inlineSignatureBytes = 2048;
// Several threads, so that one stranger's long Release does not delay another one for long.
const threads = new HostQueue(4);
const threadMegabytes = 256;

const runInThread = async <T>(task: ReleaseTask, signal: AbortSignal): Promise<T> => {
  const leave = await threads.acquire('', signal);
  const clock = AbortSignal.any([signal, AbortSignal.timeout(limits.releaseWorkMs)]);
  const worker = new Worker(new URL('./release-thread.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: threadMegabytes },
  });
  try {
    return await new Promise<T>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('the thread ended without an answer')));
      clock.addEventListener('abort', () => reject(clock.reason), { once: true });
    });
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new CrawlError('release-unreadable', `it takes too long to read (${limitNote('releaseWorkMs')})`, { cause });
  } finally {
    leave();
    await worker.terminate();
  }
};

/**
 * Reads a Release, or checks its signature. A long one is handled in a separate thread, because this one must not be
 * blocked for more than a moment. Throws `CrawlError` if that takes too long.
 */
export const readReleaseApart = async (task: Omit<ReadTask, 'kind'>, signal: AbortSignal): Promise<ReadRelease> =>
  task.bytes.length <= inlineBytes
    ? readReleaseText(task.bytes, task.wanted, task)
    : runInThread({ kind: 'read', ...task }, signal);

// The first such line ends the signed text, in which lines that begin with a dash are escaped.
const measureSignature = ({ bytes, clear, detached }: SigningQuestion): number => {
  if (!clear) return detached?.length ?? 0;
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf('\n-----BEGIN PGP SIGNATURE-----');
  return at === -1 ? 0 : bytes.length - (at + 1);
};

/** As `readReleaseApart`, for `judgeSignature`. */
export const judgeSignatureApart = async (
  task: SigningQuestion,
  signal: AbortSignal,
): Promise<SignatureReport | null> => {
  // Without a signature there is nothing to check, however long the file is.
  if (!task.clear && task.detached === null) return null;
  const signatureBytes = measureSignature(task);
  // Too long to be checked at all, so no thread is needed.
  if (signatureBytes > limits.signatureBytes) return { signers: [], fault: 'bad', over: limitNote('signatureBytes') };
  const isShort = task.bytes.length <= inlineBytes && signatureBytes <= inlineSignatureBytes;
  return isShort ? judgeSignature(task) : runInThread({ kind: 'sign', ...task }, signal);
};
