import { createLog, type Log, type LogFormat } from './log.ts';
import type { LogLevel } from './log-line.ts';

/** The form for people if standard error is a terminal, otherwise the form for programs. */
const usualFormat = (): LogFormat => (process.stderr.isTTY ? 'text' : 'json');

// A full disk, or a reader that went away, must not end a program that can continue without a log.
const ignore = (): void => {};
const outliveErrors = (stream: NodeJS.WriteStream): void => {
  if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
};

// A reader that has seen enough (`| head -1`) goes away. Any other error that keeps output from its destination is a
// failure.
const outliveReader = (stream: NodeJS.WriteStream) => (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE' && !stream.listeners('error').includes(ignore)) throw error;
};
const ofReaders = [process.stdout, process.stderr].map((stream) => ({ stream, outlive: outliveReader(stream) }));

/** For a command without a log: it continues and ends as usual, even if nobody reads its output any more. */
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
 * The log of this process on standard error, as the operator configured it. A program with a log also continues if its
 * standard output, which is often the same file, cannot be written.
 */
export const openProgramLog = ({ level, format }: { level: LogLevel; format: LogFormat | undefined }): Log => {
  outliveErrors(process.stdout);
  return createLog({ level, format: format ?? usualFormat(), write });
};
