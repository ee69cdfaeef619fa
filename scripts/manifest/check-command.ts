import { existsSync } from 'node:fs';
import path from 'node:path';
import { readLastBuild } from '../../src/catalog/last-build.ts';
import { checkEntries } from '../../src/crawl/check-entry.ts';
import { readManifest } from '../../src/crawl/read-manifest.ts';
import { Progress } from '../../src/pipeline/progress.ts';
import { createSafetyList } from '../../src/safety/safety-list.ts';
import { buildOptions } from '../build-options.ts';
import { exitCodes } from '../exit-codes.ts';
import { openFetcher } from '../open-fetcher.ts';
import { type Command, CommandFailure, type OptionValues, proxyVariables, runCommand, UsageError } from '../options.ts';
import { dataOption, manifestOf, readOwnUnsafe, readService } from '../read-service.ts';
import { readSlugs } from '../read-slugs.ts';
import { chooseEnding, countChecks, describeTold, tellChecks } from './check-report.ts';

const command = {
  name: 'manifest',
  action: 'check',
  summary:
    'Requests the Release and signature of each repository in the manifest, and prints which moved, disappeared or are signed differently, and what to write. Writes nothing.',
  options: {
    manifest: { ...buildOptions.manifest, help: 'The manifest. Without it: repositories/ in --data.' },
    data: dataOption,
    only: { ...buildOptions.only, help: 'Ask only these repositories (separated by commas).' },
    state: {
      ...buildOptions.state,
      help: 'State folder of builds, if there is one, which knows the former signatures.',
    },
    concurrency: {
      ...buildOptions.concurrency,
      help: 'Repositories asked at once; never more than two at any one host.',
    },
    'allow-private-networks': {
      ...buildOptions['allow-private-networks'],
      help: 'Ask loopback and private addresses too.',
    },
    json: { type: 'boolean', help: 'Print the results as JSON.' },
  },
  variables: [proxyVariables],
  endings: [
    [exitCodes.done, 'there is nothing to write'],
    [exitCodes.nothingUsable, 'there is something to write: the lines say what'],
    [exitCodes.usage, 'bad usage: a flag, the manifest or the safety list'],
    [exitCodes.unreachable, 'no repository could be asked: there is no network'],
  ],
} as const satisfies Command;

type Values = OptionValues<typeof command.options>;

const readEntries = async (values: Values) => {
  const all = await readManifest(manifestOf(values)).catch((error: Error) => {
    throw new UsageError(error.message);
  });
  if (values.only === undefined) return { all, asked: all };
  const slugs = new Set(readSlugs('only', values.only, new Set(all.map(({ slug }) => slug))));
  return { all, asked: all.filter(({ slug }) => slugs.has(slug)) };
};

/** The file of an entry; where the manifest is a list, the entry in it. */
const nameEntryIn =
  (manifest: string) =>
  (slug: string): string =>
    ['yaml', 'yml', 'json']
      .map((ending) => `${slug}.${ending}`)
      .find((name) => existsSync(path.join(manifest, name))) ?? `the entry of ${slug}`;

const run = async (values: Values): Promise<void> => {
  const { all, asked } = await readEntries(values);
  const safety = createSafetyList(readOwnUnsafe(values.data));
  const fetcher = openFetcher(values, readService(values.data).contact_email);
  const progress = new Progress();
  try {
    const checks = await progress.step('check', () =>
      checkEntries(asked, {
        fetcher,
        now: () => new Date(),
        concurrency: values.concurrency,
        onCheck: (_, done) => progress.update(done, asked.length, 'repositories'),
      }),
    );
    const before = new Map(readLastBuild(values.state)?.repositories.map((outcome) => [outcome.slug, outcome]));
    const naming = { nameEntry: nameEntryIn(manifestOf(values)), safety };
    const told = tellChecks(all, checks, before, naming);
    const ending = chooseEnding(checks, told);
    if (ending === exitCodes.unreachable)
      throw new CommandFailure('Not one repository could be asked: there is no network.', ending);
    if (values.json) process.stdout.write(`${JSON.stringify({ checks, told }, null, 1)}\n`);
    else process.stdout.write(`${told.map(describeTold).join('')}${countChecks(checks)}.\n`);
    process.exitCode = ending;
  } finally {
    await fetcher.close();
  }
};

/** `npm run manifest -- check`. */
export const checkManifest = {
  summary: command.summary,
  run: () => runCommand(command, run),
};
