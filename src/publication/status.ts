import path from 'node:path';
import { documentPath } from '../contract/paths.ts';
import { type StatusRecord, statusRecordSchema } from '../contract/status.ts';
import { writeWholeFile } from '../disk/whole-file.ts';
import { dateOf, documentText, objectDocument } from '../documents/document.ts';
import type { OutputFolder } from './output-folder.ts';
import { readText } from './read-text.ts';

/** For how long what is published of builds may stay as it is though builds went on. */
const longestMs = 86_400_000;

// Without what says no more than that there was another build: its time, and a letter for each.
const factsOf = ({ builds, repositories }: StatusRecord): string =>
  JSON.stringify([
    builds.filter(({ ended }) => ended !== 'published'),
    repositories.map(({ visited: _visited, confirmed: _confirmed, history: _history, outcome, ...facts }) => ({
      ...facts,
      outcome: outcome === 'fresh' ? 'unchanged' : outcome,
    })),
  ]);

const parseStatus = (text: string): StatusRecord | undefined => {
  try {
    return statusRecordSchema.safeParse((JSON.parse(text) as { data?: unknown }).data).data;
  } catch {
    return undefined;
  }
};

interface Writing {
  readonly now: Date;
  /** Whether to write it in any case. */
  readonly force: boolean;
}

/**
 * Publishes `v2/status.json`. Where nothing is told but that there was another build it stays as it is, for a day at
 * most: a build that changed nothing then makes no new generation (decisions, section 8). Returns whether it was written.
 */
export const writeStatus = (
  output: OutputFolder,
  state: string,
  status: StatusRecord,
  { now, force }: Writing,
): boolean => {
  const kept = path.join(state, 'publication', 'status.json');
  const published = readText(output.resolve(documentPath.status));
  const before = published !== undefined && published === readText(kept) ? parseStatus(published) : undefined;
  const age = now.getTime() - Date.parse(dateOf(published ?? '') ?? '');
  // A clock that was ahead may have dated it.
  const isRecent = age >= 0 && age < longestMs;
  if (!force && before !== undefined && isRecent && factsOf(before) === factsOf(status)) return false;
  const text = documentText(objectDocument(documentPath.status, JSON.stringify(status)), now.toISOString());
  if (text === published) return false;
  output.write(documentPath.status, text);
  writeWholeFile(kept, text);
  return true;
};
