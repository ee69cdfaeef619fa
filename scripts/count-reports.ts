import { readFiles } from './help-asked.ts';
import { countReports } from './reports/count.ts';

// The last step of .ci/run: sums up the reports of the test runner, which are given in the order of the runs.
const reports = readFiles('npm run ci:count -- REPORT...');
if (reports !== undefined) {
  const { line, isGreen, unsteady } = countReports(reports);
  for (const test of unsteady) process.stderr.write(`Passed only when it ran again, alone: ${test}\n`);
  process.stdout.write(`${line}\n`);
  process.exitCode = isGreen ? 0 : 1;
}
