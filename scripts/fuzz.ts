import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { IRawProperty } from 'fast-check';
import { Progress } from '../src/pipeline/progress.ts';
import { type Command, CommandFailure, runCommand, UsageError } from './options.ts';

const command = {
  name: 'fuzz',
  summary: 'Looks for inputs that break a property, or for requests that cost too much, and keeps what it finds.',
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
    mode: {
      type: 'string',
      value: 'MODE',
      default: 'properties',
      environment: 'DEBDEX_FUZZ_MODE',
      help: 'properties: inputs of every parser. costs: the largest requests that a server takes, and how long they hold it.',
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

const keepInput = (folder: string, name: string, input: object): void => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${name}.json`), `${JSON.stringify(input, null, 1)}\n`);
};

/** How a run reports its progress. */
const watchClock = (progress: Progress, minutes: number) => {
  const until = performance.now() + minutes * 60_000;
  const update = () =>
    progress.update(Math.round(minutes * 60 - (until - performance.now()) / 1000), minutes * 60, 'seconds');
  return { until, update };
};

// What both modes need is imported when it is used: it may not be installed, which a command can say.
const fuzzProperties = async (minutes: number, keep: string): Promise<void> => {
  const [{ default: fc }, { properties }] = await Promise.all([
    import('fast-check'),
    import('../test/fuzz/properties.ts'),
  ]);
  const progress = new Progress();
  const names = Object.keys(properties) as (keyof typeof properties)[];
  const { until, update } = watchClock(progress, minutes);
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
      const result = await fc.check(properties[name] as IRawProperty<unknown>, { numRuns: runsAtOnce, seed });
      runs += result.numRuns;
      if (result.failed) {
        failed.add(name);
        const { counterexample, counterexamplePath, errorInstance } = result;
        keepInput(keep, `${name}-${seed}`, {
          name,
          seed,
          path: counterexamplePath,
          input: fc.stringify(counterexample),
          error: String(errorInstance),
        });
      }
      update();
    }
  });
  process.stdout.write(`${runs.toLocaleString('en')} inputs, ${names.length} properties, ${failed.size} broken\n`);
  if (failed.size > 0) throw new CommandFailure(`Broken: ${[...failed].join(', ')}. The inputs are in ${keep}.`);
};

const fuzzCosts = async (minutes: number, keep: string): Promise<void> => {
  const { costlyRequests, findCosts, longestStretch, startMeasuredServer } = await import(
    '../test/fuzz/measure-costs.ts'
  );
  const progress = new Progress();
  const server = await progress.step('start', startMeasuredServer);
  const { until, update } = watchClock(progress, minutes);
  try {
    const { measured, costs } = await progress.step('fuzz', () =>
      findCosts(server, costlyRequests(server), until, update),
    );
    for (const [index, { name, sent, stretch }] of costs.entries()) {
      process.stdout.write(`${stretch.toFixed(0)} ms: ${name}\n`);
      keepInput(keep, `cost-${index}`, { name, stretch, ...sent });
    }
    process.stdout.write(
      `${measured.toLocaleString('en')} requests, ${costs.length} held the process for ${longestStretch} ms or longer\n`,
    );
    if (costs.length > 0) throw new CommandFailure(`Costly: ${costs.length}. The requests are in ${keep}.`);
  } finally {
    server.stop();
  }
};

const modes = { properties: fuzzProperties, costs: fuzzCosts } as const;

await runCommand(command, async ({ minutes, mode, keep }) => {
  if (!Object.hasOwn(modes, mode)) throw new UsageError(`--mode must be one of ${Object.keys(modes).join(', ')}`);
  await modes[mode as keyof typeof modes](minutes, keep);
});
