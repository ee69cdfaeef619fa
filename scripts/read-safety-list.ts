import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { safetyEntriesSchema } from '../src/contract/safety.ts';
import { createSafetyList, type SafetyList } from '../src/safety/safety-list.ts';
import { CommandFailure } from './options.ts';

/** The safety list that ships with the project. */
export const safetyFile = new URL('../data/safety.yaml', import.meta.url);

/** The safety list of a YAML file. Throws a CommandFailure that names every mistake in it. */
export const readSafetyList = (file: URL): SafetyList => {
  const entries = safetyEntriesSchema.safeParse(parse(readFileSync(file, 'utf8')));
  if (entries.success) return createSafetyList(entries.data);
  const mistakes = entries.error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`);
  throw new CommandFailure(`The safety list has mistakes:\n${mistakes.join('\n')}`);
};
