import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import path from 'node:path';

/** A row of a table of figures. */
export interface Figure {
  readonly figure: string;
  readonly input: string;
  readonly measured: string;
  /** The target; left out if there is none. */
  readonly target?: string;
  /** Whether the target is met; left out if that cannot be said. */
  readonly met?: boolean;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** A Markdown table. */
export const composeTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |\n`).join('');

const verdict = ({ met }: Figure): string => (met === undefined ? '' : met ? 'yes' : 'no');

export const composeFigures = (figures: readonly Figure[]): string =>
  composeTable(
    ['figure', 'input', 'measured', 'target', 'met'],
    figures.map((one) => [one.figure, one.input, one.measured, one.target ?? '', verdict(one)]),
  );

/** The machine, in one line. */
export const describeMachine = (): string => {
  const cores = availableParallelism();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${cores} cores, ${memory} GiB, Node ${process.version}`;
};

/**
 * What a figure depends on besides the program: other load on the machine (the average of the last minute and, if it is
 * known, the share of time spent waiting), and how long the disk below `folder` takes to make a folder. That is what
 * builds do a hundred thousand times, and ext4 without a journal takes up to ten times as long for minutes after many
 * files were deleted.
 */
export const describeConditions = (folder: string): string =>
  `load ${(loadavg()[0] ?? 0).toFixed(2)}${describePressure()}, ${describeFolders(folder)}`;

/** The folders stay where they are, because to delete them would slow what is measured next. */
const describeFolders = (folder: string): string => {
  const made = mkdtempSync(path.join(folder, 'new-'));
  const count = 1000;
  const started = performance.now();
  for (let index = 0; index < count; index++) mkdirSync(path.join(made, String(index)));
  return `a new folder takes ${Math.round(((performance.now() - started) * 1000) / count)} µs`;
};

const describePressure = (): string => {
  try {
    const share = /some avg10=([\d.]+)/.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1];
    return share === undefined ? '' : `, ${share} % of the last ten seconds some process waited for a processor`;
  } catch {
    return '';
  }
};

export const milliseconds = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
export const seconds = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} s`;
export const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`;
export const count = (value: number): string => Math.round(value).toLocaleString('en');
