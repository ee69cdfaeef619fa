import { expect, it } from 'vitest';
import { type StatusRecord, statusRecordSchema } from '../../src/contract/status.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { writeStatus } from '../../src/publication/status.ts';
import { temporaryFolder } from '../support/folder.ts';

const day = 86_400_000;
const moment = (past: number): string => new Date(1_780_000_000_000 + past * day).toISOString();

/** What is told by builds of one repository that ended like this, which was last asked for on that day. */
const statusOf = (past: number, ...endings: readonly StatusRecord['builds'][number]['ended'][]): StatusRecord =>
  // In the order of the schema, by which two are compared.
  statusRecordSchema.parse({
    builds: endings.map((ended, place) => ({
      date: moment(place / 10),
      ended,
      repositories: { fresh: 0, unchanged: 1, stale: 0, failed: 0, unvisited: 0 },
      packages: { added: 0, updated: 0, removed: 0 },
    })),
    repositories: [
      {
        ...{ repository_id: 'one', outcome: 'unchanged', code: null, reason: null, held_back: [], findings: [] },
        ...{ since: moment(0), visited: moment(past), confirmed: moment(past), history: 'u'.repeat(endings.length) },
      },
    ],
  });

const begin = () => {
  const [output, state] = [new OutputFolder(temporaryFolder()), temporaryFolder()];
  const write = (status: StatusRecord, past: number, from = state) =>
    writeStatus(output, from, status, { now: new Date(moment(past)), force: false });
  return { write };
};

it('C12: what a clock dated that was ahead is not taken for recent, though nothing else is to be told', () => {
  const { write } = begin();
  const years = 5 * 365;
  expect(write(statusOf(years, 'published'), years)).toBe(true);
  expect(write(statusOf(1, 'published'), 1)).toBe(true);
  expect(write(statusOf(1.5, 'published', 'published'), 1.5)).toBe(false);
  expect(write(statusOf(2, 'published', 'published'), 2)).toBe(true);
});

it('C4: that a build failed is told at once, and so is what was published from another state folder', () => {
  const { write } = begin();
  expect(write(statusOf(1, 'published'), 1)).toBe(true);
  expect(write(statusOf(1.1, 'published', 'published'), 1.1)).toBe(false);
  expect(write(statusOf(1.2, 'published', 'failed', 'published'), 1.2)).toBe(true);
  expect(write(statusOf(1.3, 'published', 'failed', 'published', 'published'), 1.3)).toBe(false);
  expect(write(statusOf(1.4, 'published', 'failed', 'published'), 1.4, temporaryFolder())).toBe(true);
});

it('C13: that a repository was asked and has changed is no news of it, and what stands there is not written again', () => {
  const output = new OutputFolder(temporaryFolder());
  const state = temporaryFolder();
  const write = (status: StatusRecord, past: number, force = false) =>
    writeStatus(output, state, status, { now: new Date(moment(past)), force });
  const withOutcome = (outcome: 'fresh' | 'unchanged' | 'stale') => {
    const { builds, repositories } = statusOf(1, 'published');
    return { builds, repositories: repositories.map((one) => ({ ...one, outcome })) };
  };
  expect(write(withOutcome('fresh'), 1)).toBe(true);
  expect(write(withOutcome('unchanged'), 1.1)).toBe(false);
  expect(write(withOutcome('stale'), 1.2)).toBe(true);
  expect(write(withOutcome('stale'), 1.2, true)).toBe(false);
  expect(write(withOutcome('stale'), 1.3, true)).toBe(true);
});
