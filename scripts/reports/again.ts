import { hasFailed, readReports } from './read-reports.ts';

// If more files than this failed, a busy machine is not the reason.
const mostAgain = 5;

/**
 * The test files in a report that should run again, alone: those that failed, if they are few. Whole files run, in
 * processes of their own, not just the failed tests: after half of a test a folder or a server is no longer in its
 * initial state, and a fault could go unnoticed.
 */
export const chooseAgain = (report: string): string[] => {
  const failed = [...readReports([report]).values()].filter(hasFailed).map(({ name }) => name);
  return failed.length <= mostAgain ? failed : [];
};
