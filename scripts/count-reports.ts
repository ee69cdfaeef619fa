import { readFileSync } from 'node:fs';

// Adds up the reports of the test runner (vitest's json reporter) into the one line that ends .ci/run.
let passed = 0;
let failed = 0;
let skipped = 0;
for (const file of process.argv.slice(2)) {
  const report = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
  passed += report.numPassedTests ?? 0;
  failed += report.numFailedTests ?? 0;
  skipped += report.numPendingTests ?? 0;
  // A file that could not even be loaded has no tests to count, and is a failure all the same.
  if (report.numFailedTests === 0 && (report.numFailedTestSuites ?? 0) > 0) failed += report.numFailedTestSuites ?? 0;
}
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
