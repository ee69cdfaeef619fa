import path from 'node:path';
import { askTotals } from '../functions/downloads/asked-totals.ts';
import { readDownloads } from '../functions/node/computed.ts';
import { LockedError } from '../src/catalog/lock.ts';
import { isExampleAddress, isReachable } from '../src/contract/service-file.ts';
import { readManifest } from '../src/crawl/read-manifest.ts';
import { inWords } from '../src/log/error-chain.ts';
import type { Log } from '../src/log/log.ts';
import { runBuild } from '../src/pipeline/build.ts';
import { rememberMistake } from '../src/pipeline/memory-step.ts';
import { assertUsableState } from '../src/pipeline/notify-step.ts';
import { Progress } from '../src/pipeline/progress.ts';
import { composeReport } from '../src/pipeline/report.ts';
import { listenForStop, type Stopping } from '../src/pipeline/stopping.ts';
import { describeBuild, describeStop } from '../src/pipeline/summary.ts';
import { holdsPublication, whileClaimed } from '../src/publication/owner.ts';
import { assertApart } from './assert-apart.ts';
import { readClock } from './build-clock.ts';
import { computeExitCode, emptyBuildFailure, toCommandFailure } from './build-end.ts';
import { buildOptions, buildVariables } from './build-options.ts';
import { ReportFile } from './build-report.ts';
import { assertDownloadsDatabase, readDownloadsAt } from './downloads-option.ts';
import { collectExamples } from './examples/collect.ts';
import { buildEndings } from './exit-codes.ts';
import { letEverybodyRead } from './for-everybody.ts';
import { openLog } from './log-options.ts';
import { openFetcher } from './open-fetcher.ts';
import { CommandFailure, type OptionValues, runCommand, UsageError } from './options.ts';
import { readBase } from './read-base.ts';
import { readNotifier } from './read-notifier.ts';
import { manifestOf, readService, readUnsafe, safetyFileOf, serviceFileOf } from './read-service.ts';
import { readSigner, warnOfLostSignature } from './read-signing-key.ts';
import { readSlugs } from './read-slugs.ts';
import { readVersion } from './read-version.ts';
import { publishSample, removeSample } from './sample.ts';
import { warnOfUnsafe, warnOfUnsafeTargets } from './warn-of-unsafe.ts';

const readSource = async (values: OptionValues<typeof buildOptions>, base: string, contact: string) => {
  if (values.sample) {
    const out = path.resolve(values.out);
    // The sample's addresses would replace those of real repositories for all readers.
    if (holdsPublication(out))
      throw new UsageError(`${values.out} holds what was published from a manifest: name another --out for the sample`);
    letEverybodyRead(values.state);
    return await whileClaimed(out, values.state, 'sample', () => publishSample(out, base));
  }
  const manifest = manifestOf(values);
  const entries = await readManifest(manifest);
  if (entries.length === 0) throw new UsageError(`${manifest} names no repository: add an entry (see README.md)`);
  return { entries, fetcher: openFetcher(values, contact) };
};

/** The safety list and the manifest, which people change long after they have set up the schedule of builds. */
const readWritten = async (...[values, ...rest]: Parameters<typeof readSource>) => ({
  unsafe: readUnsafe(values.data),
  ...(await readSource(values, ...rest)),
});

interface Started {
  readonly stopping: Stopping;
  readonly log: Log;
  readonly report: ReportFile;
}

const build = async (values: OptionValues<typeof buildOptions>, { stopping, log, report }: Started): Promise<void> => {
  const { state, out, 'dry-run': dryRun } = values;
  assertApart(values);
  const base = readBase(values['base-url']);
  const now = readClock(process.env.SOURCE_DATE_EPOCH);
  const service = readService(values.data);
  if (!values.sample && isReachable(base) && isExampleAddress(service.contact_email)) {
    throw new UsageError(
      `${serviceFileOf(values.data)} still names ${service.contact_email}, which reaches nobody, and ${base} can be reached by everybody: name your own contact_email there, or in a service.yaml of your own (--data DIR)`,
    );
  }
  const notifier = values.sample ? undefined : readNotifier(values.notify, { name: service.name, base }, log);
  if (values.sample && dryRun) throw new UsageError('--sample publishes files to begin with: leave out --dry-run');
  await assertUsableState({ state, now, notifier: dryRun ? undefined : notifier });
  const { 'downloads-database': downloadsDatabase } = values;
  assertDownloadsDatabase(downloadsDatabase);
  const downloadsAt = readDownloadsAt(values['downloads-at'], downloadsDatabase);
  const { unsafe, entries, fetcher } = await readWritten(values, base, service.contact_email).catch(
    async (error: unknown) => {
      if (!dryRun && !values.sample) await rememberMistake({ state, now, notifier }, error);
      throw error;
    },
  );
  const known = new Set(entries.map(({ slug }) => slug));
  const only = values.only === undefined ? undefined : readSlugs('only', values.only, known);
  const retryNow = values['retry-now'] === undefined ? undefined : readSlugs('retry-now', values['retry-now'], known);
  const signer = await readSigner();
  if (!dryRun) warnOfLostSignature(out, signer, log);
  warnOfUnsafe(entries, unsafe, log);
  const progress = new Progress(process.stderr, log);
  try {
    if (!dryRun) letEverybodyRead(state);
    const result = await runBuild({
      entries,
      fetcher,
      state,
      out,
      base,
      service,
      unsafe,
      version: readVersion(),
      now,
      progress,
      dryRun,
      signer,
      notifier,
      collectExamples: (source) => collectExamples(source, safetyFileOf(values.data)),
      readDownloads: async (at) => {
        try {
          if (downloadsAt !== undefined) return await askTotals(downloadsAt.address, downloadsAt.operatorKey);
          return await readDownloads(state, downloadsDatabase, at);
        } catch (error) {
          log.warn('downloads-unread', `The download counters could not be read: ${inWords(error)}`);
          return undefined;
        }
      },
      source: values.sample ? 'sample' : 'manifest',
      site: !values['no-site'],
      precompress: values.precompress,
      portions: values.portions,
      staticRefs: values['static-refs'],
      only: only && new Set(only),
      retryNow: retryNow && new Set(retryNow),
      concurrency: values.concurrency,
      stop: stopping.signal,
      verify: values.verify,
    });
    warnOfUnsafeTargets(result.lastBuild.repositories, unsafe, log);
    process.stdout.write(describeBuild(result, progress, dryRun ? undefined : values.state));
    // If every repository was visited, the signal to stop came too late to stop anything.
    const stopped = result.outcomes.length < (only ?? entries).length ? stopping.by() : undefined;
    const failure = result.statistics === undefined ? emptyBuildFailure(result, stopped) : undefined;
    const ended = failure?.exitCode ?? computeExitCode(result, values['fail-on-stale']);
    const exitCode = (stopped === undefined ? undefined : stopping.exitCode()) ?? ended;
    const how = { exitCode, dryRun, stoppedBy: stopped ?? null, seconds: progress.seconds };
    report.write(() => composeReport(result, how));
    if (dryRun) process.stdout.write('Nothing was kept or published (--dry-run).\n');
    if (stopped) process.stdout.write(describeStop(result, stopped));
    if (failure) throw new CommandFailure(failure.message, exitCode);
    if (!values.sample && !dryRun) removeSample(path.resolve(out));
    process.exitCode = exitCode;
  } finally {
    await fetcher.close();
  }
};

await runCommand(
  {
    name: 'build',
    summary: 'Crawls the repositories of the manifest and publishes what changed.',
    options: buildOptions,
    variables: buildVariables,
    endings: buildEndings,
    openLog,
  },
  async (values) => {
    const log = openLog(values);
    const stopping = listenForStop(values['time-budget'], (words) => log.warn('stopping', words));
    const report = new ReportFile(values.report, log);
    try {
      await build(values, { stopping, log, report });
      report.end();
    } catch (error) {
      // The other build writes its own report, and may just have done so.
      if (!(error instanceof LockedError)) report.end();
      throw toCommandFailure(error, stopping.exitCode());
    } finally {
      stopping.end();
    }
  },
);
