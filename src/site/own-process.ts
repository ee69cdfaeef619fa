import { type ForkOptions, fork } from 'node:child_process';

/** What a process says to the one that started it: how far it is, and in the end what came out or why nothing did. */
type Report<Progress, Result> =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'failed'; readonly message: string };

/** How to start a process, and whom to tell how far it is. */
interface Start<Progress> extends Pick<ForkOptions, 'env' | 'detached'> {
  /** Flags of Node. */
  readonly flags?: readonly string[];
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/**
 * Has a module that calls `answerOrder` work in a process of its own. Whatever becomes of it, the process ends before
 * this does.
 *
 * @throws Error with what it failed by, or how it ended
 */
export const runInProcess = async <Result, Progress = never>(
  module: URL,
  order: object,
  { onProgress, flags = [], ...options }: Start<Progress> = {},
): Promise<Result> => {
  const child = fork(module, { execArgv: [...flags], serialization: 'advanced', ...options });
  try {
    return await new Promise<Result>((resolve, reject) => {
      child.on('message', (report: Report<Progress, Result>) => {
        if (report.kind === 'progress') onProgress?.(report.progress);
        else if (report.kind === 'done') resolve(report.result);
        else reject(new Error(`site: ${report.message}`));
      });
      child.on('error', reject);
      child.on('exit', (code, signal) => reject(new Error(`site: the build ended with ${signal ?? code}`)));
      child.send(order);
    });
  } finally {
    child.kill('SIGKILL');
  }
};

/** Does, in such a process, what it is told: once, until whoever started it ends it. */
export const answerOrder = <Order, Result, Progress = never>(
  work: (order: Order, onProgress: (progress: Progress) => void) => Promise<Result>,
): void => {
  const report = (message: Report<Progress, Result>): void => {
    process.send?.(message);
  };
  process.once('message', async (order: Order) => {
    try {
      report({ kind: 'done', result: await work(order, (progress) => report({ kind: 'progress', progress })) });
    } catch (error) {
      report({ kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  // A service manager tells every process to stop; this one ends with the build that needs it.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {});
  // Without the process that asked for it, a build has no purpose.
  process.once('disconnect', () => process.exit());
};
