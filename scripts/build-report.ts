import { rmSync, statSync } from 'node:fs';
import { inWords } from '../src/log/error-chain.ts';
import type { Log } from '../src/log/log.ts';
import { type BuildReport, writeReport } from '../src/pipeline/report.ts';

/**
 * What a build leaves at the `file` of `--report`, where one is named: its own report, or none. Whoever reads it goes by
 * what stands there, and an older one may tell of a success.
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
      // The build has ended, and an upload after it goes by how.
      this.#log.error(
        'report-unwritten',
        `The report could not be written, and the build ended as ever: ${inWords(error)}`,
      );
    }
  }

  /** Removes an older report, if this build wrote none: not before it ends, since meanwhile that is of the last one. */
  end(): void {
    if (this.#file === undefined || this.#isWritten) return;
    try {
      // No folder or device, which may be named by mistake.
      if (statSync(this.#file, { throwIfNoEntry: false })?.isFile() === true) rmSync(this.#file, { force: true });
    } catch (error) {
      this.#log.error('report-outdated', `The report of an earlier build could not be removed: ${inWords(error)}`);
    }
  }
}
