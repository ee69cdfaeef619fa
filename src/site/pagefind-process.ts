import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** Of Node, which tells there of every process that is started (diagnostics_channel, "Event: 'child_process'"). */
const channel = 'child_process';

/**
 * Does what starts Pagefind's process and works with it, as long as that process runs.
 *
 * Pagefind's client learns that the process has died by writing to it. Where it waits for an answer and has nothing left
 * to write, it waits for good; and its process is not to be had from it.
 *
 * @throws Error where the process ends before the work does, or none is started
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
  const ended = new Promise<never>((_, reject) => {
    if (started === undefined) reject(new Error('search index: Pagefind started no process'));
    started?.once('exit', (code, signal) =>
      reject(new Error(`search index: the process of Pagefind ended with ${signal ?? code}`)),
    );
  });
  return await Promise.race([working, ended]);
};
