import { generationPath, tellsOfGenerations } from '../contract/generation.ts';
import { findUnwritable, isSafePath } from '../publication/safe-paths.ts';
import { SourceError } from './source.ts';

/** The publication changed while it was read, so what was read belongs to more than one generation. */
export class Superseded extends Error {}

const longestQuoted = 200;

const refusal = (file: string): SourceError =>
  new SourceError(
    'damaged',
    `The publication names a file ${JSON.stringify(file.slice(0, longestQuoted))}, which no Debdex writes: nothing was taken.`,
  );

/** Throws a SourceError if a path, which a stranger wrote, leads out of the folder (C9). */
export const assertSafe = (file: string): void => {
  if (!isSafePath(file)) throw refusal(file);
};

/** The same for the files of a generation, if a disk cannot hold them, or they collide with the files about it. */
export const assertWritable = (files: readonly string[]): void => {
  const bad = findUnwritable(files);
  if (bad !== undefined) throw refusal(bad);
};

/** The same for a file about a generation, if its name is not one of those that such files have. */
export const assertTelling = (file: string): void => {
  const isInForce = file === generationPath.current || file === generationPath.signature;
  if (isInForce || !tellsOfGenerations(file)) throw refusal(file);
};
