import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeWholeFile } from '../disk/whole-file.ts';

// A running server asks this file whether something new was published, and drops what it holds in memory when so.
const stampPath = (state: string): string => path.join(state, 'generation.json');
const markPath = (state: string): string => path.join(state, 'publishing');

// A server looks every 50 ms (functions/node/watch-stamp.ts), and one that has much to do comes to it a quarter of a second later.
const readersMs = 300;

/** What running servers are told of one publishing, from its beginning to its end. */
export class Announcement {
  /**
   * Whether a publishing before never ended: then something may stand that running servers were not told of, and they
   * must be told though nothing is left to change.
   */
  readonly resumes: boolean;
  readonly #state: string;
  readonly #now: () => Date;
  /** When running servers were told of what stands, in milliseconds of this process. */
  #standingSince: number | undefined;

  /** Notes in the state folder that publishing begins. */
  constructor(state: string, now: () => Date) {
    this.#state = state;
    this.#now = now;
    this.resumes = existsSync(markPath(state));
    if (!this.resumes) writeFileSync(markPath(state), '');
  }

  /** Tells running servers that a new generation is in force; to be called when all of it stands. */
  tell(): void {
    const file = stampPath(this.#state);
    const now = this.#now();
    let generation = 0;
    try {
      generation = Number(JSON.parse(readFileSync(file, 'utf8')).generation);
    } catch {
      // The first one, or one that cannot be read: any other number than before will do.
      generation = now.getTime();
    }
    const stamp = { generation: generation + 1, publishedAt: now.toISOString() };
    writeWholeFile(file, `${JSON.stringify(stamp)}\n`);
  }

  /** Tells running servers, once, that everything new stands: from now on they have their time to notice. */
  stand(): void {
    if (this.#standingSince !== undefined) return;
    this.tell();
    this.#standingSince = performance.now();
  }

  /**
   * Resolves when running servers answer from what is in force. Until they notice it they answer from the catalog and
   * the pages before, which name what is about to be removed.
   */
  async settle(): Promise<void> {
    this.stand();
    const left = readersMs - (performance.now() - (this.#standingSince ?? 0));
    if (left > 0) await sleep(left);
  }

  /** Notes that publishing ended, and that running servers were told of what changed. */
  end(): void {
    rmSync(markPath(this.#state), { force: true });
  }
}
