import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

// A running server asks this file whether something new was published, and drops what it holds in memory when so.
const stampPath = (state: string): string => path.join(state, 'generation.json');

/** Tells running servers that a new generation is in force; written last, when all of it stands. */
export const writeStamp = (state: string, now: Date): void => {
  const file = stampPath(state);
  let generation = 0;
  try {
    generation = Number(JSON.parse(readFileSync(file, 'utf8')).generation);
  } catch {
    // The first one, or one that cannot be read: any other number than before will do.
    generation = now.getTime();
  }
  writeFileSync(`${file}.next`, `${JSON.stringify({ generation: generation + 1, publishedAt: now.toISOString() })}\n`);
  renameSync(`${file}.next`, file);
};

const markPath = (state: string): string => path.join(state, 'publishing');

/**
 * Notes that publishing begins. Returns whether it began before and never ended: then something may stand that running
 * servers were not told of, and whoever finishes must write the stamp though nothing is left to change.
 */
export const beginPublishing = (state: string): boolean => {
  const interrupted = existsSync(markPath(state));
  if (!interrupted) writeFileSync(markPath(state), '');
  return interrupted;
};

/** Notes that publishing ended, and that running servers were told of what changed. */
export const endPublishing = (state: string): void => rmSync(markPath(state), { force: true });
