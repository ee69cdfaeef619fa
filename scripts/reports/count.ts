import { type FileResult, failedTests, hasFailed, readReports } from './read-reports.ts';

/** The results of the tests. */
export interface Count {
  /** The last line that `.ci/run` prints. */
  readonly line: string;
  readonly isGreen: boolean;
  /** Tests that passed only in the second run of their file, to be fixed: `file: title`. */
  readonly unsteady: readonly string[];
}

const countOf = (files: Iterable<FileResult>, status: string): number => {
  let count = 0;
  for (const { assertionResults } of files) count += assertionResults.filter((test) => test.status === status).length;
  return count;
};

const failuresOf = (file: FileResult): string[] => {
  const failed = failedTests(file);
  return failed.length > 0 || !hasFailed(file) ? failed : ['the file itself'];
};

/**
 * Adds up reports of the test runner, in the order in which they were written. Of a file's runs only the last counts.
 */
export const countReports = (reports: readonly string[]): Count => {
  const last = readReports(reports);
  const passed = countOf(last.values(), 'passed');
  const failed = [...last.values()].reduce((sum, file) => sum + failuresOf(file).length, 0);
  const skipped = countOf(last.values(), 'pending') + countOf(last.values(), 'skipped');
  const unsteady = reports
    .flatMap((report) => [...readReports([report]).values()])
    .filter((file) => hasFailed(file) && !hasFailed(last.get(file.name) ?? file))
    .flatMap((file) => failuresOf(file).map((title) => `${file.name}: ${title}`));
  return {
    line: `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
    isGreen: failed === 0 && passed > 0,
    unsteady,
  };
};
