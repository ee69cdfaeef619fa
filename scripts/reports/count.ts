import { type FileResult, failedTests, hasFailed, readReports } from './read-reports.ts';

/** What the tests came to. */
export interface Count {
  /** The one line that ends `.ci/run`. */
  readonly line: string;
  readonly isGreen: boolean;
  /** What passed only when its file ran again, to be mended: `file: title`. */
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

/** Adds up reports of the test runner, in the order in which they were written: a file counts as it went the last time. */
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
