import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { composeClientTypes } from './client-types/compose-types.ts';
import { CommandFailure, runCommand, UsageError } from './options.ts';

const file = path.join(import.meta.dirname, '..', 'clients', 'typescript', 'src', 'types.ts');

await runCommand(
  {
    name: 'client-types',
    summary:
      'Writes the types of clients/typescript from the description of the API; with "check" it says whether they are current.',
    operand: '[check]',
    options: {},
  },
  async (_, what) => {
    if (what !== undefined && what !== 'check') throw new UsageError(`client-types knows check, not "${what}"`);
    const text = composeClientTypes();
    if (what === undefined) writeFileSync(file, text);
    else if (readFileSync(file, 'utf8') !== text) {
      throw new CommandFailure('The types of the client are not those of the API: run npm run client-types');
    }
  },
);
