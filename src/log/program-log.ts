import { createLog, type Log, type LogFormat } from './log.ts';
import type { LogLevel } from './log-line.ts';

/** The form for people where standard error is a terminal, the one for programs elsewhere. */
const usualFormat = (): LogFormat => (process.stderr.isTTY ? 'text' : 'json');

// A full disk or a reader that went away must not end what goes on without a log.
const ignore = (): void => {};
const outliveErrors = (stream: NodeJS.WriteStream): void => {
  if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
};
const write = (lines: string): void => {
  outliveErrors(process.stderr);
  process.stderr.write(lines);
};

/**
 * The log of this process, on standard error, as its operator wants it. What has a log goes on where nothing can be written
 * to its standard output either, which is often one file with it.
 */
export const openProgramLog = ({
  level = 'info',
  format,
}: {
  level?: LogLevel;
  format?: LogFormat | undefined;
} = {}): Log => {
  outliveErrors(process.stdout);
  return createLog({ level, format: format ?? usualFormat(), write });
};
