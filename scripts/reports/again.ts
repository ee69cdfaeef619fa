import { hasFailed, readReports } from './read-reports.ts';

// More than so many files are not the doing of a busy machine.
const mostAgain = 5;

/**
 * The files of a report of the test runner that are worth a second run, alone: those that failed, if they are few. They run
 * from their beginning and in processes of their own, and not only the tests that failed: after half of a test a folder or
 * a server is no longer what it was, and what is broken could pass there.
 */
export const chooseAgain = (report: string): string[] => {
  const failed = [...readReports([report]).values()].filter(hasFailed).map(({ name }) => name);
  return failed.length <= mostAgain ? failed : [];
};
