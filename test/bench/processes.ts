import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** The project's folder, in which every process starts. */
export const project = path.join(import.meta.dirname, '..', '..');

/** The arguments that `npm run` passes to Node for a script, to start it without npm. */
export const npmScript = (name: string): string[] => {
  const { scripts } = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  return (scripts[name] ?? '').replace(/^(?:exec )?node /, '').split(' ');
};

const running = new Set<ChildProcess>();

/** Ends this process with the benchmark if that is stopped. Returns it. */
export const endWithBench = <Child extends ChildProcess>(child: Child): Child => {
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
};

/**
 * Ends all running processes when a benchmark is stopped. A build that went on would make its removed folders again,
 * and fill them for an hour.
 */
export const endProcesses = async (): Promise<void> => {
  await Promise.all(
    [...running].map(async (child) => {
      const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
      child.kill('SIGKILL');
      await closed;
    }),
  );
};

const usage = new URL('./usage.ts', import.meta.url).href;

const collect = (stream: NodeJS.ReadableStream | null): (() => string) => {
  let text = '';
  stream?.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  return () => text;
};

/** The cost and output of a finished process. */
export interface Run {
  readonly seconds: number;
  /** Processor time of all its threads, in seconds. */
  readonly processorSeconds: number;
  /** The most resident memory that it had at one time, in bytes. */
  readonly peak: number;
  readonly stdout: string;
}

/** Runs Node with these arguments until it ends, and measures it. If it fails, throws an error with its output. */
export const runNode = async (args: readonly string[]): Promise<Run> => {
  const started = performance.now();
  const child = endWithBench(
    spawn(process.execPath, ['--import', usage, ...args], { cwd: project, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] }),
  );
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const used = collect(child.stdio[3] as NodeJS.ReadableStream);
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}:\n${stderr()}${stdout()}`);
  const { maxRSS, userCPUTime, systemCPUTime } = JSON.parse(used()) as NodeJS.ResourceUsage;
  return {
    seconds: (performance.now() - started) / 1000,
    processorSeconds: (userCPUTime + systemCPUTime) / 1e6,
    peak: maxRSS * 1024,
    stdout: stdout(),
  };
};

/** A process that runs until it is stopped. */
export interface Running {
  readonly child: ChildProcess;
  /** The line that said that it is ready. */
  readonly line: string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a process and waits until a line of its output says that it is ready. */
export const startProcess = async (
  command: string,
  args: readonly string[],
  ready: RegExp,
  { on = 'stdout', ...options }: SpawnOptions & { on?: 'stdout' | 'stderr' } = {},
): Promise<Running> => {
  const child = spawn(command, args, {
    cwd: project,
    stdio: ['ignore', on === 'stdout' ? 'pipe' : 'ignore', 'pipe'],
    ...options,
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const said = on === 'stderr' ? () => '' : collect(child.stderr);
  const stream = child[on];
  if (stream === null) throw new Error(`${command} has no output`);
  const lines = createInterface(stream);
  const line = await new Promise<string>((resolve, reject) => {
    let all = '';
    lines.on('line', (text) => {
      all += `${text}\n`;
      if (ready.test(text)) resolve(text);
    });
    child.once('error', reject);
    void ended.then(() => reject(new Error(`${command} ended before it was ready:\n${all}${said()}`)));
  });
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    await ended;
  };
  return { child, line, stop };
};
