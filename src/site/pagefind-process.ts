import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout } from 'node:timers/promises';

/** Of Node, which tells there of every process that is started (diagnostics_channel, "Event: 'child_process'"). */
const channel = 'child_process';

/** How long after a failure it is waited for whether the process has ended too, in milliseconds. */
const endsWithin = 1000;

/**
 * Does what starts Pagefind's process and works with it, as long as that process runs.
 *
 * Pagefind's client learns that the process has died by writing to it. Where it waits for an answer and has nothing left
 * to write, it waits for good; and its process is not to be had from it.
 *
 * @throws Error where the process ends before the work does, or does not start; else with what the work failed by
 */
export const whilePagefindRuns = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  let started: ChildProcess | undefined;
  const note = (message: unknown) => {
    started ??= (message as { readonly process: ChildProcess }).process;
  };
  subscribe(channel, note);
  // What starts it does so before it waits for anything.
  const working = work();
  unsubscribe(channel, note);
  const own = started;
  // Where none is started the work says why.
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
    // What could not be written to it may be known before how it ended, which says more; where it ended, `ended` says so.
    await Promise.race([ended, setTimeout(endsWithin)]);
    throw error;
  }
};
