import { writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { OutputFolder } from './output-folder.ts';

export interface WriteRequest {
  /** Below the output folder, with "/" between segments. */
  readonly path: string;
  readonly text: string;
  /** Its temporary name, if the caller gives it its public name later; otherwise it gets that at once. */
  readonly held?: string;
}

/** Writes these documents, each whole or not at all. The caller has to flush them. */
export const writeDocuments = (output: OutputFolder, batch: readonly WriteRequest[]): void => {
  for (const { path, text, held } of batch) {
    const temporary = held ?? output.temporary();
    writeFileSync(temporary, text);
    if (held === undefined) output.place(temporary, path);
  }
};

// Writing a file means mostly waiting for the kernel, so a separate thread does it while the next documents are
// composed. A single thread, because file systems serialise changes to one folder. Documents that fit into one batch
// are written when all of them are composed, because starting a thread would take longer.
const batchCharacters = 4 * 2 ** 20;
const batchesUnderWay = 4;

/**
 * Writes documents below the output folder, each whole or not at all: into a temporary file, which is then renamed.
 * Keeps a bounded number of them in memory.
 */
export class DocumentWriter {
  readonly #output: OutputFolder;
  #worker: Worker | undefined;
  #batch: WriteRequest[] = [];
  #characters = 0;
  #underWay = 0;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(output: OutputFolder) {
    this.#output = output;
  }

  #start(): Worker {
    const worker = new Worker(new URL('./writer-thread.ts', import.meta.url), {
      workerData: { out: this.#output.root },
    });
    worker.on('message', () => {
      this.#underWay--;
      this.#wake?.();
    });
    worker.on('error', (error) => {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      this.#wake?.();
    });
    return worker;
  }

  /** Queues a document. If it returns a promise, that has to be awaited before queueing more. */
  write(request: WriteRequest): Promise<void> | undefined {
    this.#batch.push(this.#output.isHolding ? { ...request, held: this.#hold(request.path) } : request);
    this.#characters += request.text.length;
    return this.#characters >= batchCharacters ? this.#send(batchesUnderWay) : undefined;
  }

  /** Resolves when all queued documents are written. Rejects with the first failure, which names the file. */
  async finish(): Promise<void> {
    if (this.#worker === undefined) {
      writeDocuments(this.#output, this.#batch.splice(0));
      this.#characters = 0;
      return;
    }
    if (this.#batch.length > 0) await this.#send(batchesUnderWay);
    await this.#drainTo(0);
  }

  /** Stops the thread, if there is one. To be called in any case. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  // Numbers are given in the order of requests, which is the order in which the files get their names.
  #hold(file: string): string {
    const temporary = this.#output.temporary();
    this.#output.place(temporary, file);
    return temporary;
  }

  async #send(limit: number): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#characters = 0;
    await this.#drainTo(limit - 1);
    this.#underWay++;
    this.#worker ??= this.#start();
    this.#worker.postMessage(batch);
    // Concurrent work, such as indexing for search, only gets its turn through the event loop.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }

  async #drainTo(count: number): Promise<void> {
    while (this.#failure === undefined && this.#underWay > count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure !== undefined) throw this.#failure;
  }
}
