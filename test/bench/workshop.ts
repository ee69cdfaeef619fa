import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { endProcesses } from './processes.ts';

/** Thrown if a figure cannot be taken on this machine. The message says what is missing. */
export class Missing extends Error {
  override name = 'Missing';
}

type CleanUp = () => Promise<void> | void;

/**
 * A temporary folder for one run of the benchmark, and everything that was started in it. It is in DEBDEX_BENCH_DIR, or
 * where the system keeps temporary files; the figures of builds depend on that disk.
 */
export class Workshop {
  readonly folder: string;
  readonly #cleanUps: CleanUp[] = [];
  #closing: Promise<void> | undefined;
  readonly #made = new Map<string, Promise<unknown>>();

  constructor(parent = process.env.DEBDEX_BENCH_DIR ?? tmpdir()) {
    mkdirSync(parent, { recursive: true });
    this.folder = mkdtempSync(path.join(parent, 'debdex-bench-'));
    // A server that must not run as root has to enter.
    chmodSync(this.folder, 0o755);
  }

  path(...segments: string[]): string {
    return path.join(this.folder, ...segments);
  }

  /** The path of a script that is measured in a process of its own. */
  script(name: string): string {
    return path.join(import.meta.dirname, name);
  }

  /** Registers a function to be called at the end, whatever happens; the last one first. */
  atEnd(cleanUp: CleanUp): void {
    this.#cleanUps.push(cleanUp);
  }

  /** Makes what several parts need once, when the first of them asks. */
  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const made = this.#made.get(name) ?? make();
    this.#made.set(name, made);
    return made as Promise<T>;
  }

  /** Stops everything that was started and removes the folder, once. Further calls wait for the same. */
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
 * On SIGINT and SIGTERM, ends what the benchmark started, and then the process; `onSignal` is called first. Otherwise
 * its servers would run on for ever.
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

/** A named part of the benchmark. */
export interface Part {
  readonly summary: string;
  /** Takes its figures and returns them as Markdown. Throws Missing if it can take none. */
  run(workshop: Workshop): Promise<string>;
}

/** Reports progress to the person who waits. */
export const tell = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

const interval = 15_000;

/** Reports long work, and every 15 seconds that it is still running. */
export const tellWhile = async <T>(text: string, work: Promise<T>): Promise<T> => {
  tell(text);
  const started = performance.now();
  const timer = setInterval(() => tell(`  … ${Math.round((performance.now() - started) / 1000)} s`), interval);
  return work.finally(() => clearInterval(timer));
};
