import { readFileSync } from 'node:fs';
import { z } from 'zod';

// The parts of vitest's JSON report that are used here.
const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

/** One run of a test file. */
export type FileResult = z.infer<typeof reportSchema>['testResults'][number];

/**
 * The test files in several reports, by path. If a file ran again, a later report wins.
 *
 * @throws Error if a file is not such a report
 */
export const readReports = (files: readonly string[]): Map<string, FileResult> =>
  new Map(
    files
      .flatMap((file) => reportSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).testResults)
      .map((result) => [result.name, result]),
  );

/** The titles of the failed tests in a file. */
export const failedTests = ({ assertionResults }: FileResult): string[] =>
  assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);

/** Whether a file failed: one of its tests, a hook, or loading it. */
export const hasFailed = (file: FileResult): boolean => file.status === 'failed' || failedTests(file).length > 0;
