import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { endProcesses } from './processes.ts';

/** Thrown where a figure cannot be taken on this machine; the message says what is missing. */
export class Missing extends Error {
  override name = 'Missing';
}

type CleanUp = () => Promise<void> | void;

/**
 * A temporary folder for one run of the benchmark, and everything started in it. It lies in DEBDEX_BENCH_DIR, or where
 * the system keeps temporary files; the figures of a build depend on that disk.
 */
export class Workshop {
  readonly folder: string;
  readonly #cleanUps: CleanUp[] = [];
  #closing: Promise<void> | undefined;
  readonly #made = new Map<string, Promise<unknown>>();

  constructor(parent = process.env.DEBDEX_BENCH_DIR ?? tmpdir()) {
    mkdirSync(parent, { recursive: true });
    this.folder = mkdtempSync(path.join(parent, 'debdex-bench-'));
    // A server that must not run as root has to get in.
    chmodSync(this.folder, 0o755);
  }

  path(...segments: string[]): string {
    return path.join(this.folder, ...segments);
  }

  /** The path of a script that is measured in a process of its own. */
  script(name: string): string {
    return path.join(import.meta.dirname, name);
  }

  /** Has this done at the end, whatever happens; the last first. */
  atEnd(cleanUp: CleanUp): void {
    this.#cleanUps.push(cleanUp);
  }

  /** What several parts need is made once, when the first of them asks. */
  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const made = this.#made.get(name) ?? make();
    this.#made.set(name, made);
    return made as Promise<T>;
  }

  /** Stops all that was started and removes the folder, once: whoever asks again waits for the same. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (let cleanUp = this.#cleanUps.pop(); cleanUp !== undefined; cleanUp = this.#cleanUps.pop()) {
      try {
        await cleanUp();
      } catch (error) {
        process.stderr.write(`${String(error)}\n`);
      }
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * Has SIGINT and SIGTERM end what the benchmark started, then the process; `onSignal` is called first. Without that a
 * server of it would run on for ever.
 */
export const closeOnSignals = (workshop: Workshop, onSignal = () => {}): void => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      onSignal();
      void endProcesses()
        .then(() => workshop.close())
        .finally(() => process.exit(1));
    });
  }
};

/** One named part of the benchmark. */
export interface Part {
  readonly summary: string;
  /** Takes its figures and returns them as Markdown. Throws Missing where it can take none. */
  run(workshop: Workshop): Promise<string>;
}

/** Tells the person who waits what is being done. */
export const tell = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

const interval = 15_000;

/** Tells of long work, and every quarter of a minute that it goes on. */
export const tellWhile = async <T>(text: string, work: Promise<T>): Promise<T> => {
  tell(text);
  const started = performance.now();
  const timer = setInterval(() => tell(`  … ${Math.round((performance.now() - started) / 1000)} s`), interval);
  return work.finally(() => clearInterval(timer));
};
