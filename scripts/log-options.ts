import { type Log, logFormats } from '../src/log/log.ts';
import { logLevels } from '../src/log/log-line.ts';
import { openProgramLog } from '../src/log/program-log.ts';
import type { Option, OptionValues } from './options.ts';

/** The flags of every command that writes a log. */
export const logOptions = {
  'log-level': {
    type: 'choice',
    value: 'LEVEL',
    choices: logLevels,
    default: 'info',
    help: `Least urgent lines to write to standard error: ${logLevels.join(', ')}.`,
  },
  'log-format': {
    type: 'choice',
    value: 'FORM',
    choices: logFormats,
    help: 'Format of these lines: json, one object per line, or text, for people. Default: text on a terminal, else json.',
  },
} as const satisfies Record<string, Option>;

/** A log with the settings of these flags. */
export const openLog = (values: OptionValues<typeof logOptions>): Log =>
  openProgramLog({ level: values['log-level'], format: values['log-format'] });
