import { readFileSync, renameSync, writeFileSync } from 'node:fs';
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
