import { type BuildLine, computeHistories } from '../catalog/build-lines.ts';
import { type GrowthDay, readGrowth, readLastBuilds } from '../catalog/build-record.ts';
import { firstBuild, type LastBuild, type ShownBuild } from '../catalog/last-build.ts';
import { findingText, isFindingCode } from '../contract/finding-texts.ts';
import type { ManifestEntry } from '../contract/manifest.ts';
import { type StatusRecord, shownBuilds } from '../contract/status.ts';
import type { OutputFolder } from '../publication/output-folder.ts';
import { writeStatus } from '../publication/status.ts';
import { readVanished } from '../publication/vanished.ts';
import type { BuildInput } from './build-input.ts';
import type { BuildResult } from './build-result.ts';
import { composeLine } from './memory-step.ts';

/** What these builds did (the newest last), and the state of each repository after the last one. */
const composeStatus = (
  { repositories }: LastBuild,
  entries: readonly ManifestEntry[],
  builds: readonly BuildLine[],
): StatusRecord => {
  const histories = computeHistories(entries, builds);
  return {
    builds: builds.map(({ at, ended, repositories, packages }) => ({ date: at, ended, repositories, packages })),
    repositories: repositories.map((one) => ({
      repository_id: one.slug,
      outcome: one.outcome,
      since: one.since,
      visited: one.visitedAt,
      confirmed: one.confirmedAt,
      code: one.code,
      reason: one.reason,
      held_back: one.heldBack.map(({ code }) => code),
      findings: one.findings.flatMap(({ code, count }) =>
        isFindingCode(code) ? [{ code, weight: findingText(code).weight, count }] : [],
      ),
      history: histories.get(one.slug) ?? '',
    })),
  };
};

/** The status up to this build, which is not recorded yet. */
export const statusOf = (
  { state, entries }: Pick<BuildInput, 'state' | 'entries'>,
  result: BuildResult,
): StatusRecord =>
  composeStatus(result.lastBuild, entries, [...readLastBuilds(state, shownBuilds - 1), composeLine(result)]);

/** What the pages show of this build and earlier ones. */
export const composeShown = (
  { state, out, entries }: Pick<BuildInput, 'state' | 'out' | 'entries'>,
  { lastBuild, packageChanges, statistics }: BuildResult,
  { builds, repositories }: StatusRecord,
): ShownBuild => {
  const histories = new Map(repositories.map(({ repository_id: slug, history }) => [slug, history]));
  const indexes = new Map(
    entries.map(({ slug, suite, component, binary }) => [slug, { suite, component, binary }] as const),
  );
  return {
    builtAt: lastBuild.builtAt,
    repositories: lastBuild.repositories.map((one) => ({
      ...one,
      index: indexes.get(one.slug),
      history: histories.get(one.slug),
    })),
    builds,
    growth: withToday(readGrowth(state), lastBuild.builtAt, statistics?.packages),
    vanished: readVanished(out, packageChanges),
  };
};

/** The recorded days, and the size of the index with this build, which is not recorded yet. */
const withToday = (days: readonly GrowthDay[], builtAt: string, packages: number | undefined): GrowthDay[] => {
  const day = builtAt.slice(0, 'YYYY-MM-DD'.length);
  // Other days were recorded under a clock that was wrong, and would stretch the chart for a year.
  const first = firstBuild < builtAt ? firstBuild.slice(0, 'YYYY-MM-DD'.length) : '';
  const past = days.filter((one) => one.day >= first && one.day < day);
  return packages === undefined ? past : [...past, { day, packages }];
};

/** What is published of this build so far. */
interface StatusSources {
  readonly status: StatusRecord;
  /** Whether anything else that is published has changed. */
  readonly changed: boolean;
}

/** Publishes what the last builds did, if there is news (decisions, section 8). Returns whether it was written. */
export const publishStatus = (
  input: Pick<BuildInput, 'state' | 'now' | 'verify'>,
  output: OutputFolder,
  { status, changed }: StatusSources,
): boolean =>
  writeStatus(output, input.state, status, {
    now: input.now(),
    force: changed || input.verify === true,
  });
