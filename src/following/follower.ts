import { setTimeout as sleep } from 'node:timers/promises';
import { LockedError } from '../catalog/lock.ts';
import { fullDiskCodes } from '../disk/room.ts';
import { NetworkError } from '../net/network-error.ts';
import { computePause } from '../net/retry.ts';
import {
  assertNotOlder,
  type FoundGeneration,
  type PublicationSource,
  SourceError,
  unaskedNotModified,
} from './source.ts';
import { NoRoomToTake, stage } from './take.ts';
import type { Taken, TakenFolder } from './taken-folder.ts';

/** A log line about what a replica does. */
export type FollowerEvent =
  | {
      readonly time: string;
      readonly event: 'generation-taken';
      readonly generation: number;
      readonly published: string;
      /** From when it was found to when it was in force. */
      readonly milliseconds: number;
    }
  | { readonly time: string; readonly event: 'replica-trouble' | 'replica-well'; readonly reason: string };

/** What a follower needs, and whom it informs. */
export interface FollowerOptions {
  readonly source: PublicationSource;
  readonly folder: TakenFolder;
  /** The generation in force at the beginning. */
  readonly taken: Taken | undefined;
  /** Milliseconds between two checks. */
  readonly interval: number;
  readonly now: () => Date;
  /**
   * Resolves when readers are answered from it, so that what was in force before may be removed. Rejects if that is
   * impossible.
   */
  readonly onTaken: (taken: Taken) => Promise<void>;
  /** Called when the publication says that the generation in force is its newest. */
  readonly onConfirmed: (at: Date) => void;
  readonly tell: (event: FollowerEvent) => void;
  readonly random?: () => number;
}

/** By which share a pause may vary, so that many replicas do not ask at the same time. */
const jitter = 0.1;
/**
 * The longest pauses after failures, in milliseconds. They are shorter before anything was taken, because somebody is
 * waiting.
 */
const longestPause = 300_000;
const longestFirstPause = 30_000;
/** The longest pause before the same generation is tried again. */
const longestRefusal = 600_000;
/** How often, in milliseconds, to ask without a tag, in case something on the way always answers 304. */
const unconditionalAfter = 600_000;
/**
 * How often to begin again because the publication has a newer generation. After that it takes the one that it has,
 * which is complete.
 */
const mostBeginnings = 3;
/** For how long the same trouble is not reported again, in milliseconds, even if all was well meanwhile. */
const quietFor = 600_000;
/** How often a pause is doubled at most. */
const mostDoublings = 16;

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException | undefined)?.code ?? '');

/** A generation that was found and is not in force yet. */
interface Pending {
  found: FoundGeneration;
  readonly since: number;
  tries: number;
  /** In milliseconds as of performance.now(). */
  due: number;
}

/** What is in force was removed from the disk. It is answered from as long as this process has it open. */
class TakenRemoved extends Error {
  override name = 'TakenRemoved';
}

/** Failures that waiting does not fix, but only another generation or another version of this program. */
const isForGood = (error: unknown): boolean =>
  error instanceof SourceError && (error.kind === 'older' || error.kind === 'of another version');

/**
 * Follows a publication: asks repeatedly which generation is in force, takes each, and continues with the last one as
 * long as that fails. The reason of a failure is reported once.
 */
export class Follower {
  readonly #options: FollowerOptions;
  /** What was reported since all was well, and when each thing was last reported. */
  readonly #told = new Set<string>();
  readonly #toldAt = new Map<string, number>();
  #taken: Taken | undefined;
  #etag: string | null;
  /** When `generation.json` was last read completely, in milliseconds as of performance.now(). */
  #readAt = performance.now();
  #failures = 0;
  #pending: Pending | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#taken = options.taken;
    this.#etag = options.taken?.note.etag ?? null;
  }

  /** Follows until the signal is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const pause = await this.poll();
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  }

  /** Asks once and takes what is new. Returns the milliseconds until the next check. Never rejects. */
  async poll(): Promise<number> {
    try {
      await this.#ask();
      this.#failures = 0;
    } catch (error) {
      this.#failures++;
      this.#tellTrouble(error, 'ask');
      return this.#pauseAfter(error);
    }
    const { interval, random = Math.random } = this.#options;
    const usual = interval * (1 - jitter + 2 * jitter * random());
    if (this.#pending === undefined) {
      this.#options.onConfirmed(this.#options.now());
      this.#tellWell();
      return usual;
    }
    if (this.#pending.due <= performance.now()) await this.#takePending(this.#pending);
    return Math.min(usual, Math.max(0, (this.#pending?.due ?? Number.POSITIVE_INFINITY) - performance.now()));
  }

  async #ask(): Promise<void> {
    const { source, folder } = this.#options;
    const isRemoved = this.#taken !== undefined && folder.isEmpty();
    if (isRemoved) {
      this.#tellTrouble(new TakenRemoved(`What was taken, in ${folder.root}, was removed: it is taken anew.`), 'keep');
    }
    const etag = isRemoved || performance.now() - this.#readAt > unconditionalAfter ? null : this.#etag;
    const found = await source.readGeneration(etag);
    if (found === undefined) {
      if (etag === null) throw unaskedNotModified(source.base);
      return;
    }
    this.#readAt = performance.now();
    this.#etag = found.etag;
    const note = this.#taken?.note;
    const isSame = found.text.toString() === note?.text && (found.jws?.toString() ?? null) === note.jws;
    if (isSame && !isRemoved) this.#pending = undefined;
    else if (!this.#pending?.found.text.equals(found.text)) {
      this.#pending = { found, since: performance.now(), tries: 0, due: 0 };
    }
  }

  async #takePending(pending: Pending): Promise<void> {
    const { folder, onTaken, onConfirmed, tell, now, interval } = this.#options;
    try {
      folder.prepare();
      const taken = await this.#stageNewest(pending);
      folder.write(taken.note);
      await onTaken(taken);
      this.#taken = taken;
      this.#pending = undefined;
      onConfirmed(now());
      const { number: generation, date: published } = taken.generation;
      const milliseconds = Math.round(performance.now() - pending.since);
      tell({ time: now().toISOString(), event: 'generation-taken', generation, published, milliseconds });
      this.#isWell();
      folder.clean(taken.note);
    } catch (error) {
      pending.tries++;
      const pause = Math.min(longestRefusal, computePause(interval, Math.min(pending.tries, mostDoublings)));
      pending.due = isForGood(error) ? Number.POSITIVE_INFINITY : performance.now() + pause;
      this.#tellTrouble(error, `take ${pending.found.generation.number}`, isForGood(error));
      this.#makeRoom(error);
    }
  }

  /** Takes the pending generation or, if the publication has a newer one by now, that one. */
  async #stageNewest(pending: Pending): Promise<Taken> {
    const { source, folder } = this.#options;
    for (let beginnings = 1; ; beginnings++) {
      // If it is the one in force, only its signature may have changed, because of another key.
      if (pending.found.text.toString() !== this.#taken?.note.text) {
        assertNotOlder(pending.found.generation, this.#taken?.generation, { base: source.base, folder: folder.root });
      }
      const before = folder.isEmpty() ? undefined : this.#taken;
      const staged = await stage(pending.found, { source, folder, before });
      const last = await source.readGeneration(staged === undefined ? null : pending.found.etag);
      const hasChanged = last !== undefined && !last.text.equals(pending.found.text);
      if (staged !== undefined && (!hasChanged || beginnings === mostBeginnings)) return staged;
      if (!hasChanged || beginnings === mostBeginnings) {
        throw new SourceError(
          'changing',
          `${source.base} does not have the catalog that its generation names: ${pending.found.generation.catalog.path}. Its maintainer should publish again.`,
        );
      }
      pending.found = last;
      this.#etag = last.etag;
    }
  }

  // What was begun must not fill the disk. What was completely taken, but could not be moved into place, need not be
  // taken again.
  #makeRoom(error: unknown): void {
    const { folder } = this.#options;
    // Then all of it is another replica's.
    if (error instanceof LockedError) return;
    try {
      if (this.#describe(error).kind === 'no room') folder.clean(this.#taken?.note);
      else folder.sweep();
    } catch (failure) {
      this.#tellTrouble(failure, 'clean');
    }
  }

  #pauseAfter(error: unknown): number {
    const { interval, random = Math.random, now } = this.#options;
    const longest = this.#taken === undefined ? longestFirstPause : longestPause;
    const pause = Math.min(computePause(interval, Math.min(this.#failures, mostDoublings), random), longest);
    const retryAt = error instanceof SourceError ? error.retryAt?.getTime() : undefined;
    return retryAt === undefined ? pause : Math.max(pause, retryAt - now().getTime());
  }

  // Each kind of trouble is reported once until all is well again; recurring trouble once in a while. A line for each
  // check would fill the log.
  #tellTrouble(error: unknown, what: string, isFinal = false): void {
    const { kind, sentence } = this.#describe(error);
    const key = `${what} ${kind}`;
    if (this.#told.has(key) || performance.now() - (this.#toldAt.get(key) ?? Number.NEGATIVE_INFINITY) < quietFor)
      return;
    this.#told.add(key);
    this.#toldAt.set(key, performance.now());
    const { tell, now } = this.#options;
    tell({
      time: now().toISOString(),
      event: 'replica-trouble',
      reason: `${sentence} ${this.#describeState(isFinal)}`,
    });
  }

  #tellWell(): void {
    if (!this.#isWell()) return;
    const { tell, now, source } = this.#options;
    const reason = `${source.base} answers again, and generation ${this.#taken?.generation.number} is its newest.`;
    tell({ time: now().toISOString(), event: 'replica-well', reason });
  }

  /** Notes that all is well. Returns whether anything else had been reported. */
  #isWell(): boolean {
    const wasTold = this.#told.size > 0;
    this.#told.clear();
    for (const [key, at] of this.#toldAt) if (performance.now() - at >= quietFor) this.#toldAt.delete(key);
    return wasTold;
  }

  #describe(error: unknown): { kind: string; sentence: string } {
    const { source, folder } = this.#options;
    // These sentences do not differ from one check to the next.
    if (error instanceof TakenRemoved) return { kind: error.name, sentence: error.message };
    if (error instanceof SourceError) return { kind: error.message, sentence: error.message };
    if (error instanceof NetworkError) {
      return { kind: error.code, sentence: `${source.base} could not be read: ${error.message}.` };
    }
    if (error instanceof NoRoomToTake) return { kind: 'no room', sentence: error.message };
    if (fullDiskCodes.has(codeOf(error))) {
      return { kind: 'no room', sentence: `The disk of ${folder.root} is full: make room.` };
    }
    const text = error instanceof Error ? error.message : String(error);
    return { kind: `failed ${codeOf(error)}`, sentence: `It could not be taken: ${text}.` };
  }

  /** What is answered from meanwhile, and what comes next. `isFinal`: the same generation is not tried again. */
  #describeState(isFinal: boolean): string {
    if (this.#taken === undefined) {
      return isFinal
        ? 'Nothing was taken yet; another generation is awaited.'
        : 'Nothing was taken yet; it is tried again.';
    }
    const { number, date } = this.#taken.generation;
    return `Generation ${number} of ${date} stays in force${isFinal ? ' until another is published' : '; it is tried again'}.`;
  }
}
