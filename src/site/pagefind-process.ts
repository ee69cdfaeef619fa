import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout } from 'node:timers/promises';

/** A channel on which Node announces every process that is started (diagnostics_channel, "Event: 'child_process'"). */
const channel = 'child_process';

/** How long after a failure to wait for the end of the process, in milliseconds. */
const endsWithin = 1000;

/**
 * Runs work that starts and uses Pagefind's process, as long as that process runs.
 *
 * Pagefind's client only notices that the process has died when it writes to it. If it has nothing left to write, it
 * waits for ever, and it does not expose its process.
 *
 * @throws Error if the process ends before the work does, or does not start; otherwise the work's own failure
 */
export const whilePagefindRuns = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  let started: ChildProcess | undefined;
  const note = (message: unknown) => {
    started ??= (message as { readonly process: ChildProcess }).process;
  };
  subscribe(channel, note);
  // The process is started before the work waits for anything.
  const working = work();
  unsubscribe(channel, note);
  const own = started;
  // If none was started, the work reports why.
  if (own === undefined) return working;
  const ended = new Promise<never>((_, reject) => {
    const tell = (how: unknown, cause?: Error) =>
      reject(new Error(`search index: the process of Pagefind ended with ${how}`, { cause }));
    own.once('exit', (code, signal) => tell(signal ?? code));
    own.once('error', (error: NodeJS.ErrnoException) => tell(error.code ?? error.message, error));
  });
  try {
    return await Promise.race([working, ended]);
  } catch (error) {
    // A write error may arrive before the end of the process, which says more. If it has ended, `ended` reports that.
    await Promise.race([ended, setTimeout(endsWithin)]);
    throw error;
  }
};
