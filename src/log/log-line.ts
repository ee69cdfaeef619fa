import type { LoggedError } from './error-chain.ts';

/** From the least to the most urgent. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Further fields of a line besides its time, level, event and message. Undefined ones are left out. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined | readonly LoggedError[]>>;

/** A line before it is written. */
export interface LogRecord {
  /** ISO 8601. */
  readonly time: string;
  readonly level: LogLevel;
  /** The kind of line, by a name that programs can search for. */
  readonly event: string;
  /** The same in words. */
  readonly message: string;
  readonly fields: LogFields;
}

/** The most characters of a text, of a stack, and of a line. */
const longestText = 1000;
const longestFrames = 4000;
const longestLine = 16 * 1024;

// Characters that control a terminal, that change the direction of text, or that some programs take for a line end.
// JSON itself escapes those before the blank.
const unprintable = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;
const unprintableButBreaks = /(?!\n)[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

const escapeOne = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const cut = (text: string, longest: number): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

const cutField = (name: string, value: LogFields[string]): LogFields[string] | readonly LoggedError[] => {
  if (typeof value === 'string') return cut(value, name === 'stack' ? longestFrames : longestText);
  if (!Array.isArray(value)) return value;
  return (value as readonly LoggedError[]).map((error) => ({
    ...error,
    name: cut(error.name, longestText),
    message: cut(error.message, longestText),
    ...(error.code === undefined ? {} : { code: cut(error.code, longestText) }),
  }));
};

const cutFields = (fields: LogFields): [string, LogFields[string]][] =>
  Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, cutField(name, value)]]));

/**
 * A line as JSON, with its line break. Strangers' texts are escaped and shortened, so it is one line for any reader. If
 * it is still longer than 16 KB, its fields are left out.
 */
export const composeJson = ({ time, level, event, message, fields }: LogRecord): string => {
  const head = { time, level, event, message: cut(message, longestText) };
  const line = JSON.stringify({ ...head, ...Object.fromEntries(cutFields(fields)) }).replaceAll(unprintable, escapeOne);
  const whole =
    line.length <= longestLine ? line : JSON.stringify({ ...head, cut: true }).replaceAll(unprintable, escapeOne);
  return `${whole}\n`;
};

const plain = (text: string): string => text.replaceAll(unprintable, escapeOne);

/**
 * A text for a terminal: characters that would control it or change the direction of text are escaped, and line breaks
 * stay.
 */
export const printable = (text: string): string => text.replaceAll(unprintableButBreaks, escapeOne);

const describeError = ({ name, message, code }: LoggedError): string =>
  `${name}${code === undefined ? '' : ` ${code}`}: ${message}`;

/** The same for people: one line, and below it the causes and where in the source. */
export const composeText = ({ time, level, message, fields }: LogRecord): string => {
  const below: string[] = [];
  const beside: string[] = [];
  for (const [name, value] of cutFields(fields)) {
    if (Array.isArray(value)) {
      for (const cause of value as readonly LoggedError[]) below.push(`because ${plain(describeError(cause))}`);
    } else if (name === 'stack') below.push(printable(String(value)));
    else beside.push(`${name}=${plain(String(value))}`);
  }
  const first = `${time} ${level.padEnd(5)} ${plain(cut(message, longestText))}`;
  const line = beside.length === 0 ? first : `${first} (${beside.join(' ')})`;
  return cut([line, ...below.map((text) => `    ${text.replaceAll('\n', '\n      ')}`)].join('\n'), longestLine).concat(
    '\n',
  );
};
