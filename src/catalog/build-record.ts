import { constants, fsyncSync, ftruncateSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { makeFolder } from '../disk/make-folder.ts';
import { openFile } from '../disk/open-file.ts';
import { writeWholeFile } from '../disk/whole-file.ts';
import {
  type BuildLine,
  type BuildRecord,
  buildLineSchema,
  type DayLine,
  dayLineSchema,
  foldBuilds,
  mayFold,
} from './build-lines.ts';

const dayStart = /^\{"format":1,"day":/;

const recordPath = (state: string): string => path.join(state, 'builds.jsonl');

const readBytes = (state: string): Buffer => {
  try {
    return readFileSync(recordPath(state));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
};

/** The number of bytes in complete lines. What follows the last line feed was cut off while it was written. */
const wholeBytes = (bytes: Buffer): number => bytes.lastIndexOf(10) + 1;

const parseLine = (text: string): BuildLine | DayLine | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return buildLineSchema.safeParse(value).data ?? dayLineSchema.safeParse(value).data;
  } catch {
    return undefined;
  }
};

const linesOf = (bytes: Buffer): string[] => bytes.toString('utf8', 0, wholeBytes(bytes)).split('\n');

const parseRecord = (lines: readonly string[]): BuildRecord => {
  const days: DayLine[] = [];
  const builds: BuildLine[] = [];
  for (const text of lines) {
    const line = text === '' ? undefined : parseLine(text);
    if (line === undefined) continue;
    if ('day' in line) days.push(line);
    else builds.push(line);
  }
  return { days, builds };
};

/** The record of builds in a state folder. Lines that cannot be read are left out. */
export const readBuildRecord = (state: string): BuildRecord => parseRecord(linesOf(readBytes(state)));

/** The last builds, at most `count`, the newest last. */
export const readLastBuilds = (state: string, count: number): BuildLine[] => {
  const lines = linesOf(readBytes(state));
  const builds: BuildLine[] = [];
  // From the end: reading all lines would take as long as the rest of a small build.
  for (let index = lines.length - 1; index >= 0 && builds.length < count; index--) {
    const line = lines[index] === '' ? undefined : parseLine(lines[index] ?? '');
    if (line !== undefined && !('day' in line)) builds.push(line);
  }
  return builds.reverse();
};

/** How many packages the index held at the end of a day. */
export interface GrowthDay {
  /** `YYYY-MM-DD` in UTC. */
  readonly day: string;
  readonly packages: number;
}

const totalIn = /^\{"format":1,"(?:at|day)":"(\d{4}-\d\d-\d\d)[^"]*","total":(\d{1,15})[,}]/;

/**
 * How many packages the index held at the end of each day, if that is recorded, the oldest first. It is cut out of the
 * beginning of each line without parsing, because every build calls this.
 */
export const readGrowth = (state: string): GrowthDay[] => {
  const days = new Map<string, number>();
  for (const text of linesOf(readBytes(state))) {
    const [, day, total] = totalIn.exec(text) ?? [];
    if (day !== undefined) days.set(day, Number(total));
  }
  return [...days].map(([day, packages]) => ({ day, packages })).sort((a, b) => (a.day < b.day ? -1 : 1));
};

/** The new content of the file if lines are to be merged; undefined if not, which the first lines show. */
const foldLines = (lines: readonly string[], line: BuildLine, known: Iterable<string>): BuildRecord | undefined => {
  const first = lines.findIndex((text) => text !== '' && !dayStart.test(text));
  const oldest = first < 0 ? undefined : parseLine(lines[first] ?? '');
  const isReadable = oldest !== undefined && !('day' in oldest);
  if (isReadable && !mayFold(lines.length - first, oldest.at, line.at)) return undefined;
  return foldBuilds(parseRecord(lines), line, known);
};

const writeAll = (descriptor: number, bytes: Buffer, position: number): void => {
  for (let done = 0; done < bytes.length; )
    done += writeSync(descriptor, bytes, done, bytes.length - done, position + done);
  fsyncSync(descriptor);
};

const lineBytes = (line: BuildLine | DayLine): Buffer => Buffer.from(`${JSON.stringify(line)}\n`);

/**
 * Records a build, and occasionally merges old lines. `known` are the repositories of the manifest. Only the holder of
 * the lock of the state folder may call this. A line that a power cut left incomplete is removed by the next call.
 *
 * @throws any error of the system, such as a full disk; what was recorded before stays
 */
export const appendBuild = (state: string, line: BuildLine, known: Iterable<string>): void => {
  makeFolder(state);
  const file = recordPath(state);
  const bytes = readBytes(state);
  const folded = foldLines(linesOf(bytes), line, known);
  if (folded === undefined) {
    // Appending would write after an incomplete line.
    using opened = openFile(file, constants.O_RDWR | constants.O_CREAT, 0o644);
    const end = wholeBytes(bytes);
    ftruncateSync(opened.descriptor, end);
    writeAll(opened.descriptor, lineBytes(line), end);
    return;
  }
  const lines = [...folded.days, ...folded.builds, line].map(lineBytes);
  writeWholeFile(file, Buffer.concat(lines), { durable: true });
};
