import { createLog, type Log, type LogFormat } from './log.ts';
import type { LogLevel } from './log-line.ts';

/** The form for people where standard error is a terminal, the one for programs elsewhere. */
const usualFormat = (): LogFormat => (process.stderr.isTTY ? 'text' : 'json');

// A full disk or a reader that went away must not end what goes on without a log.
const ignore = (): void => {};
const write = (lines: string): void => {
  if (!process.stderr.listeners('error').includes(ignore)) process.stderr.on('error', ignore);
  process.stderr.write(lines);
};

/** The log of this process, on standard error, as its operator wants it. */
export const openProgramLog = ({
  level = 'info',
  format,
}: {
  level?: LogLevel;
  format?: LogFormat | undefined;
} = {}): Log => createLog({ level, format: format ?? usualFormat(), write });
