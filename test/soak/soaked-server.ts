import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { RefusalEvent } from '../../functions/node/met-limits.ts';
import { npmScript, startProcess } from '../bench/processes.ts';
import type { ThreadMemory } from './memory-report.ts';
import { letComeFirst } from './priorities.ts';
import type { Point } from './trend.ts';

/** What a server holds at a moment. */
interface Holding {
  /**
   * Bytes of resident memory, of the heaps of JavaScript, and of buffers outside them, of all threads together;
   * undefined where the system does not say, or the server has not yet.
   */
  readonly resident: number | undefined;
  readonly heap: number | undefined;
  readonly buffers: number | undefined;
  /** Open descriptors: all of them, and those that are no sockets; undefined where the system does not say. */
  readonly descriptors: number | undefined;
  readonly files: number | undefined;
}

/** A server under load, in a process of its own. */
export interface SoakedServer {
  readonly address: string;
  /** How often each of its limits was met, as far as it has told. */
  limitsMet(): ReadonlyMap<string, number>;
  /** The most resident memory it ever had, in bytes; undefined where the system does not say. */
  peak(): number | undefined;
  /** What it said on its standard error. */
  complaints(): string;
  /** What it holds now. */
  measure(): Holding;
  /** Ends it as an operator does; returns its exit code and how long that took. */
  stop(): Promise<{ code: number | null; seconds: number }>;
  kill(): void;
  readonly ended: Promise<void>;
}

const memoryReport = path.join(import.meta.dirname, 'memory-report.ts');

const targetOf = (link: string): string => {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
};

const readDescriptors = (pid: number): string[] | undefined => {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => targetOf(`/proc/${pid}/fd/${name}`));
  } catch {
    return undefined;
  }
};

const readMemory = (pid: number, name: 'VmRSS' | 'VmHWM'): number | undefined => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  } catch {
    return undefined;
  }
};

/** Starts the server as `npm run serve` does, with these flags more. Rejects where it ends before it listens. */
export const startServer = async (state: string, out: string, more: readonly string[] = []): Promise<SoakedServer> => {
  const flags = ['--state', state, '--out', out, '--port', '0', ...more];
  const { child, line } = await startProcess(
    process.execPath,
    ['--import', memoryReport, ...npmScript('serve'), ...flags],
    /^Listening on /,
    // In a group of its own, so that Ctrl-C ends it when the report is ready and not before.
    { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], detached: true },
  );
  const pid = child.pid ?? 0;
  letComeFirst(pid);
  let complaints = '';
  const limitsMet = new Map<string, number>();
  createInterface(child.stderr as NodeJS.ReadableStream).on('line', (told) => {
    const { level, ...event } = told.startsWith('{')
      ? (JSON.parse(told) as Partial<RefusalEvent & { level: string }>)
      : {};
    if (event.event === 'limit-met' && event.limit !== undefined) limitsMet.set(event.limit, event.total ?? 0);
    else if (level === undefined || level === 'error') complaints += `${told}\n`;
  });
  // What a thread that has ended said last no longer counts.
  const threads = new Map<number, ThreadMemory>();
  createInterface(child.stdio[3] as NodeJS.ReadableStream).on('line', (report) => {
    const told = JSON.parse(report) as ThreadMemory;
    for (const { thread, age } of threads.values()) if (age < told.age - 60) threads.delete(thread);
    threads.set(told.thread, told);
  });
  const sum = (what: 'heap' | 'buffers'): number | undefined =>
    threads.has(0) ? [...threads.values()].reduce((all, thread) => all + thread[what], 0) : undefined;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    address: line.replace('Listening on ', ''),
    limitsMet: () => limitsMet,
    peak: () => readMemory(pid, 'VmHWM'),
    complaints: () => complaints,
    measure: () => {
      const open = readDescriptors(pid);
      const files = open?.filter((target) => !target.startsWith('socket:'));
      return {
        resident: readMemory(pid, 'VmRSS'),
        heap: sum('heap'),
        buffers: sum('buffers'),
        descriptors: open?.length,
        files: files?.length,
      };
    },
    stop: async () => {
      const begun = performance.now();
      child.kill('SIGTERM');
      await ended;
      return { code: child.exitCode, seconds: (performance.now() - begun) / 1000 };
    },
    kill: () => child.kill('SIGKILL'),
    ended,
  };
};

/** Measures a server again and again. */
export class Measurements {
  readonly points: Record<keyof Holding, Point[]> = { resident: [], heap: [], buffers: [], descriptors: [], files: [] };
  readonly #server: SoakedServer;
  readonly #begun = performance.now();
  readonly #timer: NodeJS.Timeout;

  constructor(server: SoakedServer, intervalMs: number) {
    this.#server = server;
    this.#timer = setInterval(() => this.#measure(), intervalMs);
  }

  #measure(): void {
    const at = (performance.now() - this.#begun) / 1000;
    for (const [name, value] of Object.entries(this.#server.measure())) {
      if (value !== undefined) this.points[name as keyof Holding].push({ at, value });
    }
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
