import path from 'node:path';
import { documentPath } from '../contract/paths.ts';
import { type StatusRecord, statusRecordSchema } from '../contract/status.ts';
import { writeWholeFile } from '../disk/whole-file.ts';
import { dateOf, documentText, objectDocument } from '../documents/document.ts';
import type { OutputFolder } from './output-folder.ts';
import { readText } from './read-text.ts';

/** For how long, in milliseconds, the published status may stay the same while builds continue. */
const longestMs = 86_400_000;

// The status without what only says that there was another build: its time, and a letter for each.
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
 * Publishes `v2/status.json`. If there is no other news than one more build, it stays as it is for a day at most, so
 * that a build that changed nothing makes no new generation (decisions, section 8). Returns whether it was written.
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
  // It may have been dated by a clock that was ahead.
  const isRecent = age >= 0 && age < longestMs;
  if (!force && before !== undefined && isRecent && factsOf(before) === factsOf(status)) return false;
  const text = documentText(objectDocument(documentPath.status, JSON.stringify(status)), now.toISOString());
  if (text === published) return false;
  output.write(documentPath.status, text);
  writeWholeFile(kept, text);
  return true;
};
