import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { properties } from '../test/fuzz/properties.ts';
import { type Command, CommandFailure, runCommand } from './options.ts';
import { Progress } from './progress.ts';

const command = {
  name: 'fuzz',
  summary: 'Looks for inputs that break a property, for a while, and keeps those that do.',
  options: {
    minutes: {
      type: 'integer',
      value: 'N',
      default: 10,
      minimum: 1,
      maximum: 10_000,
      environment: 'DEBDEX_FUZZ_MINUTES',
      help: 'How long.',
    },
    keep: {
      type: 'string',
      value: 'DIR',
      default: 'state/fuzz',
      environment: 'DEBDEX_FUZZ_KEEP',
      help: 'Folder for the inputs that break something, each with its seed.',
    },
  },
} as const satisfies Command;

const runsAtOnce = 500;

await runCommand(command, async ({ minutes, keep }) => {
  const progress = new Progress();
  const names = Object.keys(properties) as (keyof typeof properties)[];
  const until = performance.now() + minutes * 60_000;
  const failed = new Set<string>();
  let runs = 0;
  await progress.step('fuzz', async () => {
    for (let turn = 0; performance.now() < until; turn++) {
      const name = names[turn % names.length];
      if (name === undefined || failed.has(name)) {
        if (failed.size === names.length) break;
        continue;
      }
      const seed = Math.floor(Math.random() * 2 ** 31);
      const result = await fc.check(properties[name] as fc.IRawProperty<unknown>, { numRuns: runsAtOnce, seed });
      runs += result.numRuns;
      if (result.failed) {
        failed.add(name);
        mkdirSync(keep, { recursive: true });
        const { counterexample, counterexamplePath, errorInstance } = result;
        const kept = {
          name,
          seed,
          path: counterexamplePath,
          input: fc.stringify(counterexample),
          error: String(errorInstance),
        };
        writeFileSync(path.join(keep, `${name}-${seed}.json`), `${JSON.stringify(kept, null, 1)}\n`);
      }
      progress.update(Math.round(minutes * 60 - (until - performance.now()) / 1000), minutes * 60, 'seconds');
    }
  });
  process.stdout.write(`${runs.toLocaleString('en')} inputs, ${names.length} properties, ${failed.size} broken\n`);
  if (failed.size > 0) throw new CommandFailure(`Broken: ${[...failed].join(', ')}. The inputs are in ${keep}.`);
});
