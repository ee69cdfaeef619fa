import type { KeptFile } from './kept-file.ts';

// Each thread that has time renders some pages that no other has taken yet, until none are left.

/** How many are taken at a time: enough that taking costs nothing, and few enough that all threads end together. */
const atOnce = 16;

/** Pages to render, in a form that threads can share. */
export interface SharedWork {
  /** Their files, below the folder of the pages. */
  readonly files: readonly string[];
  /** One 32-bit number: how many were taken. */
  readonly taken: SharedArrayBuffer;
}

/** What is recorded of a page with a cache key, and of its file. */
export interface RenderedPage extends KeptFile {
  readonly key: string;
}

/** A rendered file, with what is recorded of it if its page has a cache key. */
export interface RenderedFile {
  readonly file: string;
  readonly note: RenderedPage | undefined;
}

/** Pages that nobody has taken yet. */
export const shareWork = (files: readonly string[]): SharedWork => ({
  files,
  taken: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
});

/** How many pages nobody has taken. */
export const countLeft = ({ files, taken }: SharedWork): number =>
  Math.max(files.length - Atomics.load(new Int32Array(taken), 0), 0);

/** Takes some of the files; none if all are taken. */
export const takeFiles = ({ files, taken }: SharedWork): readonly string[] => {
  const start = Atomics.add(new Int32Array(taken), 0, atOnce);
  return files.slice(start, start + atOnce);
};
