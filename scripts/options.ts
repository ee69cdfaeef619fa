import { parseArgs } from 'node:util';

// Every command reads its flags from one table; each flag is also an environment variable.

/** One flag of a command. */
export interface Option {
  readonly type: 'string' | 'integer' | 'boolean';
  /** What stands for the value in the help, such as `DIR`. */
  readonly value?: string;
  readonly default?: string | number;
  readonly environment: `DEBDEX_${string}`;
  readonly help: string;
  /** Bounds of an integer. */
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A command: its name as typed, what it does, and its flags by name. */
export interface Command<Options extends Record<string, Option> = Record<string, Option>> {
  readonly name: string;
  readonly summary: string;
  /** What the command is about, such as `URL`, where it needs one besides its flags. */
  readonly operand?: string;
  readonly options: Options;
}

type Typed<O> = O extends { type: 'boolean' } ? boolean : O extends { type: 'integer' } ? number : string;

/** The values of a command's flags: what was given, else the default, else undefined (false for a switch). */
export type OptionValues<Options extends Record<string, Option>> = {
  readonly [Name in keyof Options]: Options[Name] extends { default: unknown } | { type: 'boolean' }
    ? Typed<Options[Name]>
    : Typed<Options[Name]> | undefined;
};

/** Thrown where the command line or environment cannot be understood; the message says what to do. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** What the command has to tell and could not do: ends it with exit code 1 and this sentence. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
}

const switches = new Map([
  ['1', true],
  ['true', true],
  ['yes', true],
  ['0', false],
  ['false', false],
  ['no', false],
  ['', false],
]);

const readValue = (option: Option, source: string, text: string): string | number | boolean => {
  if (option.type === 'boolean') {
    const value = switches.get(text.toLowerCase());
    if (value === undefined) throw new UsageError(`${source} must be 1 or 0, not "${text}"`);
    return value;
  }
  if (option.type === 'string') {
    if (text === '') throw new UsageError(`${source} must not be empty`);
    return text;
  }
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = option;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= minimum && number <= maximum) return number;
  const bounds = option.maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  throw new UsageError(`${source} must be a whole number ${bounds}, not "${text}"`);
};

const parse = ({ options, operand }: Command, argv: readonly string[]) => {
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { type }]) => [
      name,
      { type: type === 'boolean' ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  try {
    return parseArgs({
      args: [...argv],
      options: { ...config, help: { type: 'boolean', short: 'h' } },
      allowPositionals: operand !== undefined,
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
};

/** What the command is about. Throws a UsageError where it is not given exactly once. */
const readOperand = (command: Command, argv: readonly string[]): string => {
  const { positionals } = parse(command, argv);
  const [operand] = positionals;
  if (operand !== undefined && positionals.length === 1) return operand;
  throw new UsageError(`${command.name} needs one ${command.operand}: npm run ${command.name} -- ${command.operand}`);
};

/**
 * The values of a command's flags, from its arguments and, where a flag is not among them, from the environment.
 * Undefined where the help is asked for. Throws a UsageError for what it does not understand.
 */
export const readOptions = <Options extends Record<string, Option>>(
  command: Command<Options>,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
): OptionValues<Options> | undefined => {
  const given: Record<string, string | boolean | undefined> = parse(command, argv).values;
  if (given.help === true) return undefined;
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(command.options)) {
    const argument = given[name];
    const variable = environment[option.environment];
    if (typeof argument === 'boolean') values[name] = argument;
    else if (argument !== undefined) values[name] = readValue(option, `--${name}`, argument);
    else if (variable !== undefined) values[name] = readValue(option, option.environment, variable);
    else values[name] = option.default ?? (option.type === 'boolean' ? false : undefined);
  }
  return values as OptionValues<Options>;
};

/** What --help prints. */
export const helpText = ({ name, summary, operand, options }: Command): string => {
  const rows = Object.entries(options).map(([flag, option]) => ({
    left: `  --${flag}${option.value === undefined ? '' : ` ${option.value}`}`,
    right: [
      option.help,
      option.default === undefined ? '' : ` Default: ${option.default}.`,
      ` Environment: ${option.environment}.`,
    ].join(''),
  }));
  rows.push({ left: '  --help', right: 'Print this.' });
  const width = Math.max(...rows.map(({ left }) => left.length)) + 2;
  return [
    `Usage: npm run ${name} -- ${operand === undefined ? '' : `${operand} `}[options]`,
    '',
    summary,
    '',
    ...rows.map(({ left, right }) => left.padEnd(width) + right),
    '',
  ].join('\n');
};

// A folder that is missing or a file; no permission; a disk without room: the message says what and where.
const isOfSystem = (error: unknown): error is Error => error instanceof Error && 'syscall' in error;

/**
 * Runs a command: prints the help, or calls `main` with the values of its flags. Exit codes: 0 done, 1 what `main` threw
 * as CommandFailure or what the system refused, 2 bad usage.
 */
export const runCommand = async <Options extends Record<string, Option>>(
  command: Command<Options>,
  main: (values: OptionValues<Options>, operand: string) => Promise<void>,
): Promise<void> => {
  try {
    const values = readOptions(command, process.argv.slice(2), process.env);
    if (values === undefined) process.stdout.write(helpText(command));
    else await main(values, command.operand === undefined ? '' : readOperand(command, process.argv.slice(2)));
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\nSee npm run ${command.name} -- --help\n`);
      process.exitCode = 2;
    } else if (error instanceof CommandFailure) {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
    } else if (isOfSystem(error)) {
      process.stderr.write(`${command.name} could not go on: ${error.message}\n`);
      process.exitCode = 1;
    } else throw error;
  }
};
