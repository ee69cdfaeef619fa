import { readFileSync } from 'node:fs';
import { z } from 'zod';

// What the JSON reporter of vitest writes, as far as it is read here.
const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

/** A file of tests, as one run of it went. */
export type FileResult = z.infer<typeof reportSchema>['testResults'][number];

/**
 * The files of reports of the test runner, by path. One that ran again, in a later report, is as it was the last time.
 *
 * @throws Error where a file is no such report
 */
export const readReports = (files: readonly string[]): Map<string, FileResult> =>
  new Map(
    files
      .flatMap((file) => reportSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).testResults)
      .map((result) => [result.name, result]),
  );

/** The titles of the tests of a file that failed. */
export const failedTests = ({ assertionResults }: FileResult): string[] =>
  assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);

/** Whether a file failed: a test of it, or a hook, or it could not even be loaded. */
export const hasFailed = (file: FileResult): boolean => file.status === 'failed' || failedTests(file).length > 0;
