import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { outcomesPath, readLastBuild } from '../../src/catalog/last-build.ts';
import { generationPath, generationSchema } from '../../src/contract/generation.ts';
import type { Published } from './prometheus.ts';

const readGeneration = async (out: string): Promise<Published['generation']> => {
  try {
    return generationSchema.parse(JSON.parse(await readFile(path.join(out, generationPath.current), 'utf8')));
  } catch {
    return undefined;
  }
};

/**
 * Reads the state of what a build published: its generation, and the outcomes of its repositories. What cannot be read
 * is left out.
 */
export const watchPublished = ({ out, state }: { readonly out: string; readonly state: string }) => {
  let read = '';
  let outcomes: Published['outcomes'];
  // The list of thousands of repositories is read again only if the file has changed.
  const readOutcomes = async (): Promise<Published['outcomes']> => {
    const { mtimeMs = 0, ino = 0 } = (await stat(outcomesPath(state)).catch(() => undefined)) ?? {};
    const identity = `${ino}:${mtimeMs}`;
    if (identity !== read) {
      read = identity;
      const of = Object.groupBy(readLastBuild(state)?.repositories ?? [], ({ outcome }) => outcome);
      outcomes = Object.fromEntries(Object.entries(of).map(([outcome, all]) => [outcome, all.length]));
    }
    return outcomes;
  };
  return async (): Promise<Published> => {
    const [generation, found] = await Promise.all([readGeneration(out), readOutcomes()]);
    return { generation, outcomes: found };
  };
};
