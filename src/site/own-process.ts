import { type ForkOptions, fork } from 'node:child_process';
import { errorChain, inWords } from '../log/error-chain.ts';

/** What a child process reports to its parent: its progress, and in the end its result or its failure. */
type Report<Progress, Result> =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** What is passed on of an error: its message, its stack, and the fields that distinguish a full disk from a fault. */
interface Failure {
  readonly message: string;
  readonly stack: string | undefined;
  readonly told: Readonly<Record<string, unknown>>;
}

// Fields of errors from the system and from SQLite.
const toldOf = ['code', 'errno', 'syscall', 'path', 'dest', 'errcode'] as const;

const describeFailure = (error: unknown): Failure => {
  if (!(error instanceof Error)) return { message: String(error), stack: undefined, told: {} };
  const its = error as Error & Partial<Record<(typeof toldOf)[number], unknown>>;
  // If the error has no code itself, its cause may have one.
  const code = errorChain(error).find((one) => one.code !== undefined)?.code;
  const told = toldOf.flatMap((name) => (/^(?:string|number)$/.test(typeof its[name]) ? [[name, its[name]]] : []));
  return { message: inWords(error), stack: error.stack, told: { ...(code && { code }), ...Object.fromEntries(told) } };
};

const toError = ({ message, stack, told }: Failure): Error => {
  const error = Object.assign(new Error(message), told);
  if (stack !== undefined) error.stack = stack;
  return error;
};

/** How to start a process. */
interface Start extends Pick<ForkOptions, 'env' | 'detached'> {
  /** Flags of Node. */
  readonly flags?: readonly string[];
  /** Its arguments. */
  readonly args?: readonly string[];
}

/** A running child process, which does one thing when it is told to. */
export interface OwnProcess<Order, Result, Progress> {
  /**
   * Gives it its order, once.
   *
   * @throws Error with its failure, as it was thrown there except for its class, or with how it ended
   */
  tell(order: Order, onProgress?: (progress: Progress) => void): Promise<Result>;
  /** Whether it has ended already. */
  readonly hasEnded: boolean;
  /** Kills it, whatever it is doing, and, if it was started `detached`, all processes that it started. */
  end(): void;
}

/** Starts a module that calls `answerOrder` in a process of its own, which the caller has to end. */
export const startProcess = <Order extends object, Result, Progress = never>(
  module: URL,
  { flags = [], args = [], ...options }: Start = {},
): OwnProcess<Order, Result, Progress> => {
  // Before everything else that it loads, because a signal may arrive earlier.
  const execArgv = ['--import', new URL('./leave-signals.ts', import.meta.url).href, ...flags];
  const child = fork(module, args, { execArgv, serialization: 'advanced', ...options });
  const ended = new Promise<never>((_, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => reject(new Error(`site: the build ended with ${signal ?? code}`)));
  });
  // Whoever gives it an order gets this error, whenever it ended.
  ended.catch(() => {});
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    tell: (order, onProgress) => {
      const answered = new Promise<Result>((resolve, reject) => {
        child.on('message', (report: Report<Progress, Result>) => {
          if (report.kind === 'progress') onProgress?.(report.progress);
          else if (report.kind === 'done') resolve(report.result);
          else reject(toError(report.failure));
        });
        // If it has ended, sending fails, and `ended` reports that.
        child.send(order, () => {});
      });
      return Promise.race([answered, ended]);
    },
    get hasEnded() {
      return hasEnded();
    },
    end: () => {
      if (hasEnded()) return;
      try {
        // A detached process leads a group, which contains all processes that it started.
        if (options.detached === true && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Some systems have no process groups.
      }
      child.kill('SIGKILL');
    },
  };
};

/**
 * Runs a module that calls `answerOrder` in a process of its own, which is ended in any case.
 *
 * @throws Error with its failure, or with how it ended
 */
export const runInProcess = async <Result>(module: URL, order: object): Promise<Result> => {
  const own = startProcess<object, Result>(module);
  try {
    return await own.tell(order);
  } finally {
    own.end();
  }
};

/** Does the work for the one order that such a process receives. The parent ends the process. */
export const answerOrder = <Order, Result, Progress = never>(
  work: (order: Order, onProgress: (progress: Progress) => void) => Promise<Result>,
): void => {
  const report = (message: Report<Progress, Result>): void => {
    // If the parent has ended, nobody listens, and this process ends, too.
    process.send?.(message, () => {});
  };
  process.once('message', async (order: Order) => {
    try {
      report({ kind: 'done', result: await work(order, (progress) => report({ kind: 'progress', progress })) });
    } catch (error) {
      report({ kind: 'failed', failure: describeFailure(error) });
    }
  });
  // Without its parent, a build has no purpose.
  process.once('disconnect', () => process.exit());
};
