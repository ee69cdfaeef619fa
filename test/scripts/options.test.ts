import { describe, expect, it, vi } from 'vitest';
import { type Command, CommandFailure, helpText, readOptions, runCommand, UsageError } from '../../scripts/options.ts';
import type { Log } from '../../src/log/log.ts';
import { temporaryFolder } from '../support/folder.ts';
import { runScript } from '../support/run-script.ts';

const command = {
  name: 'fetch',
  summary: 'Fetches.',
  options: {
    state: { type: 'string', value: 'DIR', default: 'state', environment: 'DEBDEX_STATE', help: 'Folder.' },
    port: { type: 'integer', value: 'N', maximum: 65535, default: 80, environment: 'DEBDEX_PORT', help: 'Port.' },
    limit: { type: 'integer', environment: 'DEBDEX_LIMIT', help: 'Limit.' },
    quiet: { type: 'boolean', environment: 'DEBDEX_QUIET', help: 'Says less.' },
    tell: { type: 'list', value: 'URL', environment: 'DEBDEX_TELL', help: 'Tell.' },
    part: { type: 'part', value: 'PART', environment: 'DEBDEX_PART', help: 'Part.' },
    time: { type: 'duration', value: 'TIME', environment: 'DEBDEX_TIME', help: 'Time.' },
  },
  endings: [
    [0, 'fetched'],
    [9, 'tired'],
    [143, 'told to stop'],
  ],
  variables: [['NO_PROXY', 'Asked directly.']],
} as const satisfies Command;

describe('readOptions', () => {
  it('takes an argument before the environment, and that before the default', () => {
    expect(readOptions(command, [], {})).toEqual({
      state: 'state',
      port: 80,
      limit: undefined,
      quiet: false,
      tell: [],
    });
    const environment = { DEBDEX_STATE: 'a', DEBDEX_PORT: '81', DEBDEX_QUIET: '1' };
    expect(readOptions(command, [], environment)).toEqual({
      state: 'a',
      port: 81,
      limit: undefined,
      quiet: true,
      tell: [],
    });
    expect(readOptions(command, ['--state', 'b', '--port=0', '--limit', '7'], environment)).toEqual({
      state: 'b',
      port: 0,
      limit: 7,
      quiet: true,
      tell: [],
    });
  });

  it.each([
    [['--unknown'], {}, /^There is no flag --unknown$/],
    [['--stat', 'a'], {}, /^There is no flag --stat \(--state\?\)$/],
    [['stray'], {}, /stray/],
    [['--port', 'http'], {}, /--port must be a whole number from 0 to 65535, not "http"/],
    [['--port', '65536'], {}, /--port/],
    [['--port', '-1'], {}, /--port/],
    [['--limit', '1e3'], {}, /--limit must be a whole number of at least 0/],
    [['--state', ''], {}, /--state must not be empty/],
    [['--state', '~/state'], {}, /--state must be a path without ~/],
    [[], { DEBDEX_STATE: '~' }, /DEBDEX_STATE must be a path without ~/],
    [[], { DEBDEX_STATE: '/srv/state\n' }, /DEBDEX_STATE must be a path without blanks .*, not "\/srv\/state\\n"/],
    [['--state', ' state'], {}, /--state must be a path without blanks/],
    [['--part', '101%'], {}, /--part must be a share from 0% to 100%, or a count such as 12, not "101%"/],
    [['--part', '1.5'], {}, /--part must be a share/],
    [['--part', 'half'], {}, /--part must be a share/],
    [['--time', '0s'], {}, /--time must be a time such as 90s, 10m or 2h, not "0s"/],
    [['--time', '169h'], {}, /--time must be a time/],
    [['--time', '2d'], {}, /--time must be a time/],
    [[], { DEBDEX_QUIET: 'perhaps' }, /DEBDEX_QUIET must be 1 or 0/],
  ])('refuses %j with %j', (argv, environment, message) => {
    expect(() => readOptions(command, argv, environment)).toThrow(UsageError);
    expect(() => readOptions(command, argv, environment)).toThrow(message);
  });

  it('takes a value that begins with a dash, as one public key in 64 does, and no flag for a value', () => {
    const stateOf = (...argv: string[]) => readOptions(command, argv, {})?.state;
    for (const key of ['-pYq2bJ', '--pYq2bJ', '-', '-h1', '-=', '--0']) {
      expect(stateOf('--state', key), key).toBe(key);
      expect(stateOf('--quiet', '--state', key, '--limit', '1'), key).toBe(key);
    }
    for (const next of ['--quiet', '--limit=1', '--unknown', '-h', '--help', '--']) {
      expect(() => stateOf('--state', next), next).toThrow(UsageError);
    }
    expect(() => stateOf('--quiet', '-pYq2bJ')).toThrow(UsageError);
    expect(() => stateOf('--', '--state', '-pYq2bJ')).toThrow("'--state'");
  });

  it('takes a path with blanks or ~ inside, and leaves what is no path as it is', () => {
    for (const state of ['my state', '~state', 'a/~/b', './~']) {
      expect(readOptions(command, ['--state', state], {})?.state).toBe(state);
    }
    const options = { word: { type: 'string', value: 'WORD', help: 'Word.' } } as const;
    expect(readOptions({ ...command, options }, ['--word', '~/a '], {})?.word).toBe('~/a ');
  });

  it('takes whole numbers from the least to the most', () => {
    const portOf = (...argv: string[]) => readOptions(command, argv, {})?.port;
    expect([portOf('--port', '0'), portOf('--port', '65535')]).toEqual([0, 65535]);
    expect(() => portOf('--port', '65536')).toThrow('from 0 to 65535');
  });

  it('takes a list from a flag that is given again, else from a variable with white space', () => {
    const listOf = (argv: string[], environment = {}) => readOptions(command, argv, environment)?.tell;
    expect(listOf(['--tell', 'a b', '--tell=c'])).toEqual(['a b', 'c']);
    expect(listOf([], { DEBDEX_TELL: ' a\n b ' })).toEqual(['a', 'b']);
    expect(listOf(['--tell', 'a'], { DEBDEX_TELL: 'b' })).toEqual(['a']);
    expect(listOf([])).toEqual([]);
  });

  it('reads a share up to all of it, and a time as seconds up to a week', () => {
    const read = (...argv: string[]) => readOptions(command, argv, {});
    for (const part of ['0%', '12.5%', '100%', '12', '120']) expect(read('--part', part)?.part).toBe(part);
    const times = ['90', '90s', '10m', '2h', '168h'].map((time) => read('--time', time)?.time);
    expect(times).toEqual([90, 90, 600, 7200, 604_800]);
  });

  it('switches on by a variable that says so, and by no other', () => {
    const isQuiet = (text: string) => readOptions(command, [], { DEBDEX_QUIET: text })?.quiet;
    for (const text of ['1', 'true', 'yes', 'YES']) expect(isQuiet(text), text).toBe(true);
    for (const text of ['0', 'false', 'no', '']) expect(isQuiet(text), text).toBe(false);
  });

  it('explains every flag, its default and its variable', () => {
    expect(readOptions(command, ['--help'], {})).toBeUndefined();
    const help = helpText(command);
    expect(help).toContain('Exit codes:\n  0    fetched\n  9    tired\n  143  told to stop\n');
    expect(help).toContain('Variables without a flag:\n  NO_PROXY  Asked directly.\n');
    for (const part of ['--state DIR', 'Folder. Default: state. Environment: DEBDEX_STATE.', '--quiet', '--help']) {
      expect(help).toContain(part);
    }
  });
});

describe('runCommand', () => {
  it('says what failed in a sentence, and below it each cause that is not in the sentence', async () => {
    const { argv, exitCode } = process;
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    process.argv = ['node', 'fetch'];
    try {
      await runCommand({ name: 'fetch', summary: 'Fetches.', options: {} }, async () => {
        const cause = new Error('in the sentence', { cause: new Error('below', { cause: new RangeError('deeper') }) });
        throw new CommandFailure('It is in the sentence.', 7, { cause });
      });
      expect(process.exitCode).toBe(7);
      expect(write.mock.calls.join('')).toBe(
        'It is in the sentence.\n  because Error: below\n  because RangeError: deeper\n',
      );
    } finally {
      write.mockRestore();
      process.argv = argv;
      process.exitCode = exitCode;
    }
  });

  it('puts a failure into the log of a program, whole before the process ends, and a mistake before people', async () => {
    const { argv, exitCode } = process;
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const logged: unknown[][] = [];
    const log = {
      format: 'json',
      error: (...line: unknown[]) => logged.push(line),
      flush: () => logged.push(['flushed']),
    } as unknown as Log;
    const run = (error: Error) =>
      runCommand({ name: 'fetch', summary: 'Fetches.', options: {}, openLog: () => log }, async () => {
        throw error;
      });
    process.argv = ['node', 'fetch'];
    try {
      await run(new CommandFailure('It failed.', 7, { cause: new Error('below') }));
      expect(process.exitCode).toBe(7);
      expect(write).not.toHaveBeenCalled();
      const causes = [expect.objectContaining({ message: 'below' })];
      expect(logged).toEqual([['failed', 'It failed.', { exit_code: 7, causes }], ['flushed']]);
      await run(new UsageError('It is mistyped.'));
      expect(process.exitCode).toBe(2);
      expect(logged).toHaveLength(2);
      expect(write.mock.calls.join('')).toBe('It is mistyped.\nSee npm run fetch -- --help\n');
    } finally {
      write.mockRestore();
      process.argv = argv;
      process.exitCode = exitCode;
    }
  });

  it.each([
    [[], { DEBDEX_BASE_URL: 'x' }, 'DEBDEX_BASE_URL must be an http'],
    [['--base-url', 'y'], { DEBDEX_BASE_URL: 'x' }, '--base-url must be an http'],
    [['--base-url=y'], {}, '--base-url must be an http'],
    [['--state', 'x'], { DEBDEX_OUT: 'x' }, '--state x is DEBDEX_OUT x or lies in it'],
    [[], { DEBDEX_OUT: 'x', DEBDEX_STATE: 'x/y' }, 'DEBDEX_STATE x/y is DEBDEX_OUT x or lies in it'],
    // What to do about it is about a flag also where that has a variable.
    [[], { DEBDEX_DATA: 'nowhere' }, /^There is no nowhere\S+: name another --data/],
  ])('names where a value came from (%j, %j)', async (flags, environment: Record<string, string>, sentence) => {
    const places = { DEBDEX_STATE: temporaryFolder(), DEBDEX_OUT: 'out', ...environment };
    const { status, error } = await runScript('build', ['--sample', ...flags], { environment: places });
    expect(status).toBe(2);
    expect(error).toMatch(sentence instanceof RegExp ? sentence : new RegExp(`^${sentence}`));
  });
});
