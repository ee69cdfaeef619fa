import { outliveReaders } from '../src/log/program-log.ts';
import { exitCodes } from './exit-codes.ts';
import { checkManifest } from './manifest/check-command.ts';
import { importList } from './manifest/import-command.ts';

const actions = { check: checkManifest, import: importList } as const;

const usage = (): string =>
  [
    'Usage: npm run manifest -- ACTION [options]',
    '',
    ...Object.entries(actions).map(([name, { summary }]) => `  ${name.padEnd(8)}${summary}`),
    '',
    'npm run manifest -- ACTION --help lists the options of each.',
    '',
  ].join('\n');

outliveReaders();
const [name = ''] = process.argv.slice(2);
if (Object.hasOwn(actions, name)) await actions[name as keyof typeof actions].run();
else if (name === '--help' || name === '-h') process.stdout.write(usage());
else {
  process.stderr.write(`${name === '' ? 'An ACTION is missing.' : `There is no action ${name}.`}\n${usage()}`);
  process.exitCode = exitCodes.usage;
}
