import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Writes one of the notes that publishing keeps in the state folder, whole. It is not flushed: what a power cut leaves
 * of it is either the note before, or one that cannot be read and counts as lost.
 */
export const writeStateFile = (file: string, text: string): void => {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.next`, text);
  renameSync(`${file}.next`, file);
};
