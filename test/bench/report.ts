import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

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

/** Other load on the machine: the average of the last minute and, if it is known, the share of time spent waiting. */
export const describeLoad = (): string => `load ${(loadavg()[0] ?? 0).toFixed(2)}${describePressure()}`;

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
