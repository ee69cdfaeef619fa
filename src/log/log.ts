import { errorChain, framesOf } from './error-chain.ts';
import { type Allowance, createLineBudget } from './line-budget.ts';
import { composeJson, composeText, type LogFields, type LogLevel, logLevels } from './log-line.ts';

/** `json` is one object on each line, for programs; `text` is for people. */
export const logFormats = ['json', 'text'] as const;
export type LogFormat = (typeof logFormats)[number];

/**
 * What a program reports to its operator, line by line. `event` names the kind of line. It comes from the source, never
 * from a stranger, and each kind has an allowance of its own.
 */
export interface Log {
  readonly format: LogFormat;
  debug(event: string, message: string, fields?: LogFields): void;
  info(event: string, message: string, fields?: LogFields): void;
  warn(event: string, message: string, fields?: LogFields): void;
  error(event: string, message: string, fields?: LogFields): void;
  /** Reports a fault of ours with the whole chain of its causes and where it was thrown. */
  fault(error: unknown, fields?: LogFields): void;
  /** Writes the lines that are still held back, and how many were left out. */
  flush(): void;
}

export interface LogOptions {
  /** Lines with a lower level are not written. */
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Receives whole lines, each with its line break. */
  readonly write: (lines: string) => void;
  readonly now?: () => Date;
  /** Milliseconds that never go back. */
  readonly clock?: () => number;
}

// One line a second in the long run is 86,400 a day for each kind: a gigabyte with the longest lines, usually a tenth
// of that.
const usual: Allowance = { atOnce: 60, perSecond: 1 };

/** Lines of the access log are many more. They are held back for a moment, so that they are written together. */
const accessEvent = 'request';
const ofAccess: Allowance = { atOnce: 4000, perSecond: 2000 };
const longestHeldBack = 64 * 1024;
const heldBackFor = 200;

/** How many milliseconds after lines were left out that is reported. */
const leftOutAfter = 10_000;

/** A log that writes to `write`. */
export const createLog = (options: LogOptions): Log => {
  const { level: least, format, write, now = () => new Date(), clock = () => performance.now() } = options;
  const compose = format === 'json' ? composeJson : composeText;
  const budget = createLineBudget(clock);
  let heldBack = '';
  let release: NodeJS.Timeout | undefined;
  let summary: NodeJS.Timeout | undefined;

  const writeHeldBack = (): void => {
    clearTimeout(release);
    release = undefined;
    if (heldBack === '') return;
    const lines = heldBack;
    heldBack = '';
    write(lines);
  };

  const put = (level: LogLevel, event: string, message: string, fields: LogFields): void => {
    const line = compose({ time: now().toISOString(), level, event, message, fields });
    heldBack += line;
    if (event !== accessEvent || heldBack.length > longestHeldBack) writeHeldBack();
    else release ??= setTimeout(writeHeldBack, heldBackFor).unref();
  };

  const tellLeftOut = (): void => {
    clearTimeout(summary);
    summary = undefined;
    for (const [kind, count] of budget.takeLeftOut()) {
      put('warn', 'lines-left-out', 'So many lines of this kind were left out, because there were too many', {
        kind,
        count,
      });
    }
  };

  const isTold = (level: LogLevel): boolean => logLevels.indexOf(level) >= logLevels.indexOf(least);

  /** Whether one more line of this kind may be written. */
  const admit = (kind: string, allowance: Allowance): boolean => {
    const isAdmitted = budget.take(kind, allowance);
    if (!isAdmitted) summary ??= setTimeout(tellLeftOut, leftOutAfter).unref();
    return isAdmitted;
  };

  const tell = (level: LogLevel, event: string, message: string, fields: LogFields = {}): void => {
    if (!isTold(level) || !admit(event, event === accessEvent ? ofAccess : usual)) return;
    put(level, event, message, fields);
  };

  return {
    format,
    debug: (event, message, fields) => tell('debug', event, message, fields),
    info: (event, message, fields) => tell('info', event, message, fields),
    warn: (event, message, fields) => tell('warn', event, message, fields),
    error: (event, message, fields) => tell('error', event, message, fields),
    fault: (error, fields = {}) => {
      const [{ name, message, code }, ...causes] = errorChain(error);
      // Names and codes come from the source and the system; messages may contain anything.
      const kind = ['fault', ...[{ name, code }, ...causes].map((one) => one.code ?? one.name)].join(' ');
      // Expensive work is done only for lines that are written. Otherwise a flood would cost time even without filling
      // the log.
      if (!isTold('error') || !admit(kind, usual)) return;
      const told = { ...fields, name, code, ...(causes.length === 0 ? {} : { causes }), stack: framesOf(error) };
      put('error', 'fault', message || name, told);
    },
    flush: () => {
      tellLeftOut();
      writeHeldBack();
    },
  };
};
