import { rmSync, statSync } from 'node:fs';
import { inWords } from '../src/log/error-chain.ts';
import type { Log } from '../src/log/log.ts';
import { type BuildReport, writeReport } from '../src/pipeline/report.ts';

/**
 * The file of `--report`: after a build it holds that build's report, or does not exist. Whoever reads it relies on its
 * content, and an older report could claim a success.
 */
export class ReportFile {
  readonly #file: string | undefined;
  readonly #log: Log;
  #isWritten = false;

  constructor(file: string | undefined, log: Log) {
    this.#file = file;
    this.#log = log;
  }

  write(compose: () => BuildReport): void {
    if (this.#file === undefined) return;
    try {
      writeReport(this.#file, compose());
      this.#isWritten = true;
    } catch (error) {
      // The build has ended, and its exit code says how.
      this.#log.error(
        'report-unwritten',
        `The report could not be written, and the build ended as ever: ${inWords(error)}`,
      );
    }
  }

  /**
   * Removes an older report, if this build wrote none. Only at the end, because until then the report of the last build
   * is right.
   */
  end(): void {
    if (this.#file === undefined || this.#isWritten) return;
    try {
      // A folder or device may be named by mistake, and is left alone.
      if (statSync(this.#file, { throwIfNoEntry: false })?.isFile() === true) rmSync(this.#file, { force: true });
    } catch (error) {
      this.#log.error('report-outdated', `The report of an earlier build could not be removed: ${inWords(error)}`);
    }
  }
}
