import { createLog, type Log, type LogFormat } from './log.ts';
import type { LogLevel } from './log-line.ts';

/** The form for people where standard error is a terminal, the one for programs elsewhere. */
const usualFormat = (): LogFormat => (process.stderr.isTTY ? 'text' : 'json');

// A full disk or a reader that went away must not end what goes on without a log.
const ignore = (): void => {};
const outliveErrors = (stream: NodeJS.WriteStream): void => {
  if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
};

// Whoever has read enough (`| head -1`) goes away. Whatever else keeps words from where they are to be is a failure.
const outliveReader = (stream: NodeJS.WriteStream) => (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE' && !stream.listeners('error').includes(ignore)) throw error;
};
const ofReaders = [process.stdout, process.stderr].map((stream) => ({ stream, outlive: outliveReader(stream) }));

/** For a command without a log: it ends as it does where somebody listens to it, also if nobody does any more. */
export const outliveReaders = (): void => {
  for (const { stream, outlive } of ofReaders) {
    if (!stream.listeners('error').includes(outlive)) stream.on('error', outlive);
  }
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
