import path from 'node:path';
import { RulesImpossible } from '../src/hosts/host-rules.ts';
import { hosts, isHost } from '../src/hosts/hosts.ts';
import { writeRules } from '../src/hosts/write-rules.ts';
import { buildOptions } from './build-options.ts';
import { plainEndings } from './exit-codes.ts';
import { letEverybodyRead } from './for-everybody.ts';
import { CommandFailure, runCommand, UsageError } from './options.ts';

const command = {
  name: 'rules',
  summary:
    `Writes the rules with which a static host answers the documented addresses. HOST is one of:\n` +
    `${Object.keys(hosts).join(', ')}. See docs/hosting.md.`,
  operand: 'HOST',
  options: {
    publication: {
      ...buildOptions.out,
      environment: 'DEBDEX_OUT',
      help: 'Folder of what the build published; the rules are for its public address.',
    },
    out: {
      type: 'string',
      value: 'DIR',
      environment: 'DEBDEX_RULES',
      help: 'Folder to write the rules into. Default: rules/HOST.',
    },
    function: {
      type: 'string',
      value: 'URL',
      help: 'Address of `npm run serve`, for operations that no file answers; without it the host answers them with 501.',
    },
  },
  endings: plainEndings('could not be written'),
} as const;

const readFunction = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  // It becomes part of rules, in which other characters have a meaning.
  if (url === null || !/^https?:\/\/[\w.:[\]-]+\/?$/.test(url.href)) {
    throw new UsageError(
      `--function must be an http or https address without a path, such as http://127.0.0.1:8080, not "${text}"`,
    );
  }
  return url.origin;
};

await runCommand(command, async (values, host) => {
  if (!isHost(host)) throw new UsageError(`There are rules for ${Object.keys(hosts).join(', ')}, not for "${host}"`);
  const { publication, out = path.join('rules', host) } = values;
  try {
    const functionUrl = readFunction(values.function);
    letEverybodyRead();
    const { next } = writeRules({ host, publication, out, functionUrl, now: new Date() });
    process.stdout.write(`The rules for ${host} are in ${out}. ${next}\n`);
  } catch (error) {
    if (error instanceof RulesImpossible) throw new CommandFailure(error.message);
    throw error;
  }
});
