import { parseArgs } from 'node:util';
import { errorChain } from '../src/log/error-chain.ts';
import type { Log } from '../src/log/log.ts';
import { outliveReaders } from '../src/log/program-log.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { findNearest, tellUnknownVariables } from './known-variables.ts';

// Every command reads its flags from one table. Each flag is also an environment variable.

/** One flag of a command. */
export interface Option {
  /**
   * `part`: a percentage from 0% to 100%, or a count, as a text such as `40%` or `12`. `duration`: seconds, from a
   * number followed by s, m or h. `choice`: one of `choices`. `list`: any number of texts; the flag may be repeated,
   * and the variable separates them by white space.
   */
  readonly type: 'string' | 'integer' | 'boolean' | 'part' | 'duration' | 'choice' | 'list';
  readonly choices?: readonly string[];
  /** The placeholder for the value in the help, such as `DIR`. */
  readonly value?: string;
  readonly default?: string | number;
  /** Its variable, where that is not the name of the flag in capitals after `DEBDEX_`. */
  readonly environment?: `DEBDEX_${string}`;
  readonly help: string;
  /** Limits of an integer. */
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A command: its name as typed, what it does, and its flags by name. */
export interface Command<Options extends Record<string, Option> = Record<string, Option>> {
  readonly name: string;
  /** The first word after `--`, for a command that does several things. */
  readonly action?: string;
  readonly summary: string;
  /** The operand, such as `URL`, `[URL]` if it may be left out, or `URL DIR`. */
  readonly operand?: string;
  readonly options: Options;
  /** The exit code if the system refused something; `nothingUsable` by default. */
  readonly refusedCode?: ExitCode;
  /** What its help says about variables without a flag, a line for each. */
  readonly variables?: readonly (readonly [name: string, text: string])[];
  /** What its help says about its exit codes, a line for each. */
  readonly endings?: readonly (readonly [code: number, text: string])[];
  /** Opens the command's log, if it has one. In the format for programs a failure is a line, too. */
  readonly openLog?: (values: never) => Log;
}

type Typed<O> = O extends { type: 'boolean' }
  ? boolean
  : O extends { type: 'integer' | 'duration' }
    ? number
    : O extends { choices: readonly (infer Choice)[] }
      ? Choice
      : O extends { type: 'list' }
        ? readonly string[]
        : string;

/** The values of a command's flags: the given value, else the default, else undefined (false for a switch). */
export type OptionValues<Options extends Record<string, Option>> = {
  readonly [Name in keyof Options]: Options[Name] extends { default: unknown } | { type: 'boolean' | 'list' }
    ? Typed<Options[Name]>
    : Typed<Options[Name]> | undefined;
};

/** Thrown if the command line or the environment cannot be understood. The message says what to do. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Ends a command that failed, with this sentence and exit code. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.nothingUsable, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The variable that a flag is also read from. */
export const variableOf = (name: string, { environment }: Option): string =>
  environment ?? `DEBDEX_${name.toUpperCase().replaceAll('-', '_')}`;

const wordsForOn = ['1', 'true', 'yes'];
const wordsForOff = ['0', 'false', 'no', ''];

const readPart = (source: string, text: string): string => {
  const [, share] = /^(\d{1,3}(?:\.\d{1,2})?)%$/.exec(text) ?? [];
  if (share === undefined ? /^\d{1,9}$/.test(text) : Number(share) <= 100) return text;
  throw new UsageError(`${source} must be a share from 0% to 100%, or a count such as 12, not "${text}"`);
};

const readChoice = (source: string, text: string, choices: readonly string[]): string => {
  if (choices.includes(text)) return text;
  throw new UsageError(`${source} must be one of ${choices.join(', ')}, not "${text}"`);
};

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

const readDuration = (source: string, text: string): number => {
  const [, count, unit = 's'] = /^(\d{1,6})([smh])?$/.exec(text) ?? [];
  const seconds = Number(count) * (secondsOf[unit] ?? 1);
  if (seconds > 0 && seconds <= 7 * 86_400) return seconds;
  throw new UsageError(`${source} must be a time such as 90s, 10m or 2h, not "${text}"`);
};

/**
 * Throws a UsageError if a text cannot be meant as the path of a folder or file: an empty one, one that begins with ~, in
 * whose place only a shell puts the home folder, and only for a word of its own, or one with a blank at an end. A folder
 * of such a name would be made, and nothing found in it.
 */
export const assertPath = (source: string, text: string): void => {
  if (text === '') throw new UsageError(`${source} must not be empty`);
  if (/^~(?:\/|$)/.test(text))
    throw new UsageError(
      `${source} must be a path without ~, which means the home folder to a shell only, not "${text}"`,
    );
  if (text !== text.trim())
    throw new UsageError(
      `${source} must be a path without blanks or line breaks at its ends, not ${JSON.stringify(text)}`,
    );
};

const isPath = ({ value = '' }: Option): boolean => ['DIR', 'FILE', 'PATH'].includes(value);

const readValue = (option: Option, source: string, text: string): string | number | boolean => {
  if (option.type === 'boolean') {
    const word = text.toLowerCase();
    if (wordsForOn.includes(word)) return true;
    if (wordsForOff.includes(word)) return false;
    throw new UsageError(`${source} must be 1 or 0, not "${text}"`);
  }
  if (option.type === 'string') {
    if (text === '') throw new UsageError(`${source} must not be empty`);
    if (isPath(option)) assertPath(source, text);
    return text;
  }
  if (option.type === 'part') return readPart(source, text);
  if (option.type === 'choice') return readChoice(source, text, option.choices ?? []);
  if (option.type === 'duration') return readDuration(source, text);
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = option;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= minimum && number <= maximum) return number;
  const bounds = option.maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  throw new UsageError(`${source} must be a whole number ${bounds}, not "${text}"`);
};

/** For the help of commands that make requests: the variables with their proxies. */
export const proxyVariables = ['HTTP_PROXY, HTTPS_PROXY, NO_PROXY', 'Proxies (docs/builds.md).'] as const;

/** How a command is called: `npm run accept -- `. */
const callOf = ({ name, action }: Pick<Command, 'name' | 'action'>): string =>
  `npm run ${name} -- ${action === undefined ? '' : `${action} `}`;

// What nobody means as a value: `-h`, `--`, `--flag`, `--flag=value`, even if no such flag exists.
const flag = /^-(?:[a-z]|-[a-z-]*)(?:=|$)/;

/** Changes `--flag -value` to `--flag=-value`, as Node requires: one public key in 64 begins with a dash. */
const joinDashed = (options: Readonly<Record<string, Option>>, argv: readonly string[]): string[] => {
  const takesValue = (text: string) => {
    const name = text.slice(2);
    return text.startsWith('--') && Object.hasOwn(options, name) && options[name]?.type !== 'boolean';
  };
  const joined: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const [text = '', next = ''] = argv.slice(at, at + 2);
    // Everything after it is an operand.
    if (text === '--') return [...joined, ...argv.slice(at)];
    const isApart = takesValue(text) && /^-./.test(next) && !flag.test(next);
    joined.push(isApart ? `${text}=${next}` : text);
    if (isApart) at += 1;
  }
  return joined;
};

/**
 * What is wrong with a command line, from what Node refused and the names of the flags. Node explains how to begin an
 * operand with a dash, which is not what somebody who mistyped a flag wants.
 */
export const tellRefusal = (error: Error, flags: readonly string[]): string => {
  const [, typed] = /^Unknown option '--([\w-]+)'/.exec(error.message) ?? [];
  if (typed === undefined) return error.message;
  const nearest = findNearest(typed, flags);
  return `There is no flag --${typed}${nearest === undefined ? '' : ` (--${nearest}?)`}`;
};

const parse = ({ options, operand }: Command, argv: readonly string[]) => {
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { type }]) => [
      name,
      { type: type === 'boolean' ? ('boolean' as const) : ('string' as const), multiple: type === 'list' },
    ]),
  );
  try {
    return parseArgs({
      args: joinDashed(options, argv),
      options: { ...config, help: { type: 'boolean', short: 'h' } },
      allowPositionals: operand !== undefined,
    });
  } catch (error) {
    throw new UsageError(tellRefusal(error as Error, Object.keys(options)));
  }
};

type Operand<C> = C extends { operand: `[${string}]` }
  ? string | undefined
  : C extends { operand: `${string} ${string}` }
    ? readonly [string, string]
    : C extends { operand: string }
      ? string
      : undefined;

/** Reads the operand. Throws a UsageError if it is not given exactly once, or at most once. */
const readOperand = (command: Command, argv: readonly string[]): string | readonly string[] | undefined => {
  const positionals: readonly string[] = parse(command, argv).positionals;
  const [operand] = positionals;
  const names = command.operand?.split(' ') ?? [];
  // Probably a variable of a script that was never set. It would stand for the current folder.
  const empty = names[positionals.indexOf('')];
  if (empty !== undefined) throw new UsageError(`${empty.replaceAll(/[[\]]/g, '')} must not be empty`);
  for (const [at, name] of names.entries())
    if (['DIR', 'DESTINATION'].includes(name) && positionals[at] !== undefined) assertPath(name, positionals[at]);
  if (names.length > 1) {
    if (positionals.length === names.length) return positionals;
    throw new UsageError(`${command.name} needs ${names.join(' and ')}: ${callOf(command)}${command.operand}`);
  }
  const isOptional = command.operand === undefined || command.operand.startsWith('[');
  if (positionals.length === 1 || (positionals.length === 0 && isOptional)) return operand;
  const count = isOptional ? 'takes at most one' : 'needs one';
  throw new UsageError(
    `${command.action ?? command.name} ${count} ${command.operand}: ${callOf(command)}${command.operand}`,
  );
};

/**
 * The values of a command's flags, from its arguments and, for flags that are not among them, from the environment.
 * Undefined if the help is asked for. Throws a UsageError for what it does not understand.
 */
export const readOptions = <Options extends Record<string, Option>>(
  command: Command<Options>,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
): OptionValues<Options> | undefined => {
  const given: Record<string, string | boolean | (string | boolean)[] | undefined> = parse(command, argv).values;
  if (given.help === true) return undefined;
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(command.options)) {
    const argument = given[name];
    const variable = environment[variableOf(name, option)];
    if (option.type === 'list') {
      const list = Array.isArray(argument) ? argument.map(String) : (variable ?? '').split(/\s+/);
      values[name] = list.filter((text) => text !== '');
    } else if (Array.isArray(argument)) throw new UsageError(`--${name} may be given once`);
    else if (typeof argument === 'boolean') values[name] = argument;
    else if (argument !== undefined) values[name] = readValue(option, `--${name}`, argument);
    else if (variable !== undefined) values[name] = readValue(option, variableOf(name, option), variable);
    else values[name] = option.default ?? (option.type === 'boolean' ? false : undefined);
  }
  return values as OptionValues<Options>;
};

/**
 * The first of these flags that was typed; undefined if none was. The environment is shared by all commands, so a
 * command ignores variables that it has no use for, but refuses a typed flag that would do nothing.
 */
export const findTyped = (flags: readonly string[]): string | undefined =>
  flags.map((name) => `--${name}`).find((text) => process.argv.some((one) => one.split('=')[0] === text));

/** What --help prints. */
export const helpText = (command: Command): string => {
  const { summary, operand, options, variables = [], endings = [] } = command;
  const rows = Object.entries(options).map(([flag, option]) => ({
    left: `  --${flag}${option.value === undefined ? '' : ` ${option.value}`}`,
    right: [
      option.help,
      option.default === undefined ? '' : ` Default: ${option.default}.`,
      ` Environment: ${variableOf(flag, option)}.`,
    ].join(''),
  }));
  rows.push({ left: '  --help', right: 'Print this.' });
  const table = (title: string, lines: readonly (readonly [name: string | number, text: string])[]): string[] => {
    const widest = Math.max(...lines.map(([name]) => String(name).length));
    return lines.length === 0
      ? []
      : ['', title, ...lines.map(([name, text]) => `  ${String(name).padEnd(widest)}  ${text}`)];
  };
  const width = Math.max(...rows.map(({ left }) => left.length)) + 2;
  return [
    `Usage: ${callOf(command)}${operand === undefined ? '' : `${operand} `}[options]`,
    '',
    summary,
    '',
    ...rows.map(({ left, right }) => left.padEnd(width) + right),
    ...table('Variables without a flag:', variables),
    ...table('Exit codes:', endings),
    '',
  ].join('\n');
};

// A missing folder or file, missing permission, a full disk: the message says what and where.
const isOfSystem = (error: unknown): error is Error => error instanceof Error && 'syscall' in error;

/** What the system refused and, for a missing permission, what to do. */
export const describeRefusal = ({ code, message }: Error & { readonly code?: unknown }): string =>
  code === 'EACCES' || code === 'EPERM'
    ? `${message}: run this as the user whom it belongs to, or give it to this user with all that is in it (chown -R)`
    : message;

/**
 * The message about a flag, under the name of its variable where the value came from there: somebody who typed no such
 * flag would look for it in vain.
 */
const tellSource = (message: string, { options }: Command): string => {
  const sourceOf = (flag: string): string => {
    const option = Object.hasOwn(options, flag) ? options[flag] : undefined;
    if (option === undefined || findTyped([flag]) !== undefined) return `--${flag}`;
    const variable = variableOf(flag, option);
    return process.env[variable] === undefined ? `--${flag}` : variable;
  };
  // Flags further on are what to do.
  return message.replace(/^--([a-z\d-]+)(?:( and | \S+ is )--([a-z\d-]+))?/, (_, first, between, second) =>
    [sourceOf(first), ...(second === undefined ? [] : [between, sourceOf(second)])].join(''),
  );
};

// Operators install without what tests and drawings alone need (README.md).
const missingPackage = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
    ? /^Cannot find package '([^']+)'/.exec(error.message)?.[1]
    : undefined;

const endOf = (error: unknown, command: Command): [string, number] => {
  const { name, refusedCode = exitCodes.nothingUsable } = command;
  if (error instanceof UsageError)
    return [`${tellSource(error.message, command)}\nSee ${callOf(command)}--help`, exitCodes.usage];
  if (error instanceof CommandFailure) return [error.message, error.exitCode];
  if (isOfSystem(error)) return [`${name} could not go on: ${describeRefusal(error)}`, refusedCode];
  const missing = missingPackage(error);
  if (missing === undefined) throw error;
  return [
    `${missing}, which ${name} needs, is not installed here: install the development packages too, with npm ci, and run it again.`,
    refusedCode,
  ];
};

const tellFailure = (log: Log | undefined, message: string, exitCode: number, error: unknown): void => {
  const [, ...causes] = errorChain(error);
  // A usage error is for the person who typed the command.
  if (log?.format === 'json' && !(error instanceof UsageError)) {
    log.error('failed', message, { exit_code: exitCode, ...(causes.length === 0 ? {} : { causes }) });
    log.flush();
    return;
  }
  // The sentence already contains the first cause.
  const because = causes.slice(1).map((cause) => `  because ${cause.name}: ${cause.message}\n`);
  process.stderr.write(`${message}\n${because.join('')}`);
};

const warn = (log: Log | undefined, sentence: string): void => {
  if (log === undefined) process.stderr.write(`${sentence}\n`);
  else log.warn('unknown-setting', sentence);
};

/**
 * Runs a command: prints the help, or calls `main` with the values of its flags and its operand. Exit codes: 0 unless
 * `main` sets another, that of a CommandFailure, `refusedCode` if the system refused something or a package that `main`
 * imports is not installed, 2 for bad usage.
 */
export const runCommand = async <const C extends Command>(
  command: C,
  main: (values: OptionValues<C['options']>, operand: Operand<C>) => Promise<void>,
): Promise<void> => {
  let log: Log | undefined;
  outliveReaders();
  // An action is the first argument, and has been read already.
  const argv = process.argv.slice(command.action === undefined ? 2 : 3);
  try {
    const values = readOptions<C['options']>(command, argv, process.env);
    if (values !== undefined) log = command.openLog?.(values as never);
    const unknown = values === undefined ? undefined : tellUnknownVariables(process.env);
    if (unknown !== undefined) warn(log, unknown);
    if (values === undefined) process.stdout.write(helpText(command));
    else await main(values, readOperand(command, argv) as Operand<C>);
  } catch (error) {
    const [message, exitCode] = endOf(error, command);
    tellFailure(log, message, exitCode, error);
    process.exitCode = exitCode;
  }
};
