import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readManifest } from '../src/crawl/manifest.ts';
import { holdsPublication } from '../src/emit/owner.ts';
import { createFetcher } from '../src/net/fetcher.ts';
import { composeUserAgent } from '../src/net/user-agent.ts';
import { computeExitCode, emptyBuildFailure, toCommandFailure } from './build-end.ts';
import { buildOptions } from './build-options.ts';
import { assertRoom } from './disk.ts';
import { type OptionValues, runCommand, UsageError } from './options.ts';
import { runBuild } from './pipeline.ts';
import { Progress } from './progress.ts';
import { readService } from './read-service.ts';
import { publishSample, removeSample } from './sample.ts';
import { describeBuild } from './summary.ts';

const project = path.join(import.meta.dirname, '..');

const readBase = (text: string): string => {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new UsageError(
      `--base-url must be an http or https address such as https://index.example.org, not "${text}"`,
    );
  }
  return url.href.replace(/\/+$/, '');
};

// Reproducible builds take the time from outside (reproducible-builds.org, SOURCE_DATE_EPOCH, in seconds).
const readClock = (): (() => Date) => {
  const epoch = process.env.SOURCE_DATE_EPOCH;
  if (epoch === undefined) return () => new Date();
  if (!/^\d{1,12}$/.test(epoch)) throw new UsageError('SOURCE_DATE_EPOCH must be a number of seconds');
  return () => new Date(Number(epoch) * 1000);
};

const readSource = async (values: OptionValues<typeof buildOptions>, base: string, userAgent: string) => {
  if (values.sample) {
    const out = path.resolve(values.out);
    // Its addresses would replace those of real repositories, for whoever reads them.
    if (holdsPublication(out))
      throw new UsageError(`${values.out} holds what was published from a manifest: name another --out for the sample`);
    return publishSample(out, base);
  }
  const entries = await readManifest(values.manifest);
  if (entries.length === 0)
    throw new UsageError(`${values.manifest} names no repository: add an entry (see README.md)`);
  const fetcher = createFetcher({ allowPrivateNetworks: values['allow-private-networks'], userAgent });
  return { entries, fetcher };
};

const build = async (values: OptionValues<typeof buildOptions>): Promise<void> => {
  const base = readBase(values['base-url']);
  const now = readClock();
  const service = readService();
  const { version } = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8')) as { version: string };
  const { entries, fetcher } = await readSource(values, base, composeUserAgent(version, service.contact_email));
  const progress = new Progress();
  try {
    const { state, out } = values;
    const site = !values['no-site'];
    assertRoom(state, out);
    const source = values.sample ? 'sample' : 'manifest';
    const result = await runBuild({
      entries,
      source,
      fetcher,
      state,
      out,
      base,
      service,
      version,
      now,
      progress,
      site,
    });
    process.stdout.write(describeBuild(result, progress));
    if (result.statistics === undefined) throw emptyBuildFailure(result);
    if (!values.sample) removeSample(path.resolve(out));
    process.exitCode = computeExitCode(result, values['fail-on-stale']);
  } finally {
    await fetcher.close();
  }
};

await runCommand(
  {
    name: 'build',
    summary: 'Crawls the repositories of the manifest and publishes what changed.',
    options: buildOptions,
  },
  async (values) => {
    try {
      await build(values);
    } catch (error) {
      throw toCommandFailure(error);
    }
  },
);
