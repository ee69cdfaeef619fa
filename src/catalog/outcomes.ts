import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const outcomeSchema = z.object({
  slug: z.string(),
  uri: z.string(),
  outcome: z.enum(['fresh', 'unchanged', 'stale', 'failed']),
  /** Stable code of what went wrong; null where nothing did. */
  code: z.string().nullable(),
  /** The same as a sentence that an operator can act on. */
  reason: z.string().nullable(),
  /** When the origin last confirmed the data that is shown; null where there is none. */
  confirmedAt: z.iso.datetime().nullable(),
});

const lastBuildSchema = z.object({
  /** When the build ended, ISO 8601. */
  builtAt: z.iso.datetime(),
  repositories: z.array(outcomeSchema),
});

/** The outcome of the last build for each repository of the manifest. */
export type LastBuild = z.infer<typeof lastBuildSchema>;

// Beside the catalog and not in it: it changes with every build, the catalog only when the index does.
const outcomesPath = (state: string): string => path.join(state, 'outcomes.json');

/** The outcome of the last build, or undefined where there was none. */
export const readLastBuild = (state: string): LastBuild | undefined => {
  try {
    return lastBuildSchema.parse(JSON.parse(readFileSync(outcomesPath(state), 'utf8')));
  } catch {
    return undefined;
  }
};

export const writeLastBuild = (state: string, build: LastBuild): void => {
  const file = outcomesPath(state);
  writeFileSync(`${file}.next`, `${JSON.stringify(build, null, 1)}\n`);
  renameSync(`${file}.next`, file);
};
