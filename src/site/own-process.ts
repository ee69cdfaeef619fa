import { type ForkOptions, fork } from 'node:child_process';

/** What a process says to the one that started it: how far it is, and in the end what came out or why nothing did. */
type Report<Progress, Result> =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'failed'; readonly message: string };

/** How to start a process. */
interface Start extends Pick<ForkOptions, 'env' | 'detached'> {
  /** Flags of Node. */
  readonly flags?: readonly string[];
  /** What it knows before it is told anything. */
  readonly args?: readonly string[];
}

/** A process that was started, and does one thing when it is told. */
export interface OwnProcess<Order, Result, Progress> {
  /**
   * Has it do that, once.
   *
   * @throws Error with what it failed by, or how it ended
   */
  tell(order: Order, onProgress?: (progress: Progress) => void): Promise<Result>;
  /** Whether it has ended already. */
  readonly hasEnded: boolean;
  /** Ends it, whatever it does, and where it was started `detached` all that it started. */
  end(): void;
}

/** Starts a module that calls `answerOrder` in a process of its own, which is for the caller to end. */
export const startProcess = <Order extends object, Result, Progress = never>(
  module: URL,
  { flags = [], args = [], ...options }: Start = {},
): OwnProcess<Order, Result, Progress> => {
  const child = fork(module, args, { execArgv: [...flags], serialization: 'advanced', ...options });
  const ended = new Promise<never>((_, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => reject(new Error(`site: the build ended with ${signal ?? code}`)));
  });
  // Whoever tells it something is told so, whenever it ended.
  ended.catch(() => {});
  return {
    tell: (order, onProgress) => {
      const answered = new Promise<Result>((resolve, reject) => {
        child.on('message', (report: Report<Progress, Result>) => {
          if (report.kind === 'progress') onProgress?.(report.progress);
          else if (report.kind === 'done') resolve(report.result);
          else reject(new Error(`site: ${report.message}`));
        });
        // Where it has ended there is nobody to send to, which `ended` tells.
        child.send(order, () => {});
      });
      return Promise.race([answered, ended]);
    },
    get hasEnded() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    end: () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      try {
        // Started so it leads a group, in which are those that it started.
        if (options.detached === true && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Some systems know no groups.
      }
      child.kill('SIGKILL');
    },
  };
};

/**
 * Has a module that calls `answerOrder` work in a process of its own, which is ended whatever becomes of it.
 *
 * @throws Error with what it failed by, or how it ended
 */
export const runInProcess = async <Result>(module: URL, order: object): Promise<Result> => {
  const own = startProcess<object, Result>(module);
  try {
    return await own.tell(order);
  } finally {
    own.end();
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
