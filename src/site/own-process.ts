import { type ForkOptions, fork } from 'node:child_process';
import { errorChain, inWords } from '../log/error-chain.ts';

/** What a process says to the one that started it: how far it is, and in the end what came out or why nothing did. */
type Report<Progress, Result> =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** What is told of an error: in its words, where it was thrown, and what tells a full disk from a fault. */
interface Failure {
  readonly message: string;
  readonly stack: string | undefined;
  readonly told: Readonly<Record<string, unknown>>;
}

// Of errors of the system and of SQLite.
const toldOf = ['code', 'errno', 'syscall', 'path', 'dest', 'errcode'] as const;

const describeFailure = (error: unknown): Failure => {
  if (!(error instanceof Error)) return { message: String(error), stack: undefined, told: {} };
  const its = error as Error & Partial<Record<(typeof toldOf)[number], unknown>>;
  // Where it says nothing of that itself, what it was thrown for may.
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
  /** What it knows before it is told anything. */
  readonly args?: readonly string[];
}

/** A process that was started, and does one thing when it is told. */
export interface OwnProcess<Order, Result, Progress> {
  /**
   * Has it do that, once.
   *
   * @throws Error with what it failed by, as it was thrown there but for its class, or with how it ended
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
  // Before all that it loads, which takes longer than a signal is away.
  const execArgv = ['--import', new URL('./leave-signals.ts', import.meta.url).href, ...flags];
  const child = fork(module, args, { execArgv, serialization: 'advanced', ...options });
  const ended = new Promise<never>((_, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => reject(new Error(`site: the build ended with ${signal ?? code}`)));
  });
  // Whoever tells it something is told so, whenever it ended.
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
        // Where it has ended there is nobody to send to, which `ended` tells.
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
    // Where whoever started it has ended there is nobody to tell, and this process ends too.
    process.send?.(message, () => {});
  };
  process.once('message', async (order: Order) => {
    try {
      report({ kind: 'done', result: await work(order, (progress) => report({ kind: 'progress', progress })) });
    } catch (error) {
      report({ kind: 'failed', failure: describeFailure(error) });
    }
  });
  // Without the process that asked for it, a build has no purpose.
  process.once('disconnect', () => process.exit());
};
