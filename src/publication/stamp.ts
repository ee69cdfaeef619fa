import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeWholeFile } from '../disk/whole-file.ts';

// Running servers watch this file to learn that something new was published, and then drop what they hold in memory.
const stampPath = (state: string): string => path.join(state, 'generation.json');
const markPath = (state: string): string => path.join(state, 'publishing');

// A server looks every 50 ms (functions/node/watch-stamp.ts), and a busy one gets round to it within a quarter of a
// second.
const readersMs = 300;

/** Informs running servers about one publishing, from its beginning to its end. */
export class Announcement {
  /**
   * Whether an earlier publishing was interrupted. Then there may be files that running servers do not know of, and
   * they must be informed even if nothing is left to change.
   */
  readonly resumes: boolean;
  readonly #state: string;
  readonly #now: () => Date;
  /** When running servers were informed of the new files, in milliseconds of this process. */
  #standingSince: number | undefined;

  /** Records in the state folder that publishing begins. */
  constructor(state: string, now: () => Date) {
    this.#state = state;
    this.#now = now;
    this.resumes = existsSync(markPath(state));
    if (!this.resumes) writeFileSync(markPath(state), '');
  }

  /** Informs running servers that a new generation is in force; to be called when all of its files exist. */
  tell(): void {
    const file = stampPath(this.#state);
    const now = this.#now();
    let generation = 0;
    try {
      generation = Number(JSON.parse(readFileSync(file, 'utf8')).generation);
    } catch {
      // The first publishing, or the file cannot be read: any number that differs from the last one will do.
      generation = now.getTime();
    }
    const stamp = { generation: generation + 1, publishedAt: now.toISOString() };
    writeWholeFile(file, `${JSON.stringify(stamp)}\n`);
  }

  /** Informs running servers, once, that all new files exist. From now on they have time to notice. */
  stand(): void {
    if (this.#standingSince !== undefined) return;
    this.tell();
    this.#standingSince = performance.now();
  }

  /**
   * Resolves when running servers answer from what is in force. Until they notice it, they answer from the previous
   * catalog and pages, which name what is about to be removed.
   */
  async settle(): Promise<void> {
    this.stand();
    const left = readersMs - (performance.now() - (this.#standingSince ?? 0));
    if (left > 0) await sleep(left);
  }

  /** Records that publishing ended, and that running servers were informed of all changes. */
  end(): void {
    rmSync(markPath(this.#state), { force: true });
  }
}
