import type { KeptFile } from './kept-file.ts';

// Pages are rendered by whoever has time: each takes some that nobody took before, until none are left.

/** How many are taken at once: enough that taking costs nothing, and few enough that all end together. */
const atOnce = 16;

/** Pages to render, as threads share them. */
export interface SharedWork {
  /** Their files, below the folder of the pages. */
  readonly files: readonly string[];
  /** One 32-bit number: how many were taken. */
  readonly taken: SharedArrayBuffer;
}

/** What is noted of a page that has a cache key, and of its file. */
export interface RenderedPage extends KeptFile {
  readonly key: string;
  /** What the key was computed from, where the page says so. */
  readonly inputs?: string | undefined;
}

/** A file that was rendered, and what is noted of it where its page has a cache key. */
export interface RenderedFile {
  readonly file: string;
  readonly note: RenderedPage | undefined;
}

/** Pages to render that nobody has taken. */
export const shareWork = (files: readonly string[]): SharedWork => ({
  files,
  taken: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
});

/** How many nobody has taken. */
export const countLeft = ({ files, taken }: SharedWork): number =>
  Math.max(files.length - Atomics.load(new Int32Array(taken), 0), 0);

/** Takes some of the files; none where all are taken. */
export const takeFiles = ({ files, taken }: SharedWork): readonly string[] => {
  const start = Atomics.add(new Int32Array(taken), 0, atOnce);
  return files.slice(start, start + atOnce);
};
