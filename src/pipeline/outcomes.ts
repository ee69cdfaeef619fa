import { firstBuild, type LastBuild, type RepositoryOutcome } from '../catalog/last-build.ts';
import type { RepositoryFindings } from '../catalog/reading.ts';
import { isFindingCode } from '../contract/finding-texts.ts';
import type { Failure, Finding } from '../contract/findings.ts';
import { type ManifestEntry, slugKey } from '../contract/manifest.ts';
import type { CrawlOutcome } from '../crawl/crawl.ts';
import type { Waiting } from '../crawl/operator-word.ts';
import type { SeenSince } from '../documents/documents.ts';

/** Whether nothing new could be taken from a repository. */
export const isDown = ({ outcome }: Pick<RepositoryOutcome, 'outcome'>): boolean =>
  outcome === 'stale' || outcome === 'failed';

/** What waits for the operator's decision, also if only an earlier build, with codes of its own, could read it. */
export type StillWaiting = Pick<Waiting, 'slug' | 'reason'> & { readonly code: string };

interface Sources {
  readonly entries: readonly ManifestEntry[];
  /** The repositories that this build visited. */
  readonly visited: readonly CrawlOutcome[];
  readonly waiting: readonly StillWaiting[];
  /** The repositories of the catalog. */
  readonly found: readonly RepositoryFindings[];
  readonly previous: LastBuild | undefined;
  readonly now: Date;
}

type Fate = Pick<RepositoryOutcome, 'outcome' | 'code' | 'earlier' | 'reason' | 'detail' | 'visitedAt' | 'confirmedAt'>;

// For a repository that no build has visited, as far as is remembered.
const unvisited = (isKnown: boolean): Fate => ({
  outcome: isKnown ? 'stale' : 'failed',
  code: null,
  reason: 'Not visited yet.',
  detail: null,
  visitedAt: null,
  confirmedAt: null,
});

/**
 * The outcome of a build, with each repository under its present slug: a renamed one is neither gone nor new, and has
 * not been in order only since then.
 */
export const renameFormerSlugs = (build: LastBuild, entries: readonly ManifestEntry[]): LastBuild => {
  const told = new Map(build.repositories.map(({ slug }) => [slugKey(slug), slug]));
  const owners = new Map(entries.map(({ slug }) => [slugKey(slug), slug]));
  // Including a slug in other letter case, which no other repository can have.
  const present = new Map(
    entries.flatMap(({ slug, aliases }) => {
      const former = [slug, ...aliases].find(
        (name) => told.has(slugKey(name)) && (owners.get(slugKey(name)) ?? slug) === slug,
      );
      return former === undefined ? [] : [[told.get(slugKey(former)), slug] as const];
    }),
  );
  const repositories = build.repositories.map((one) => ({ ...one, slug: present.get(one.slug) ?? one.slug }));
  return { ...build, repositories };
};

/**
 * A time that an earlier build noted, or that of the build before this one if it was noted under a clock of before any
 * build, under which no build begins any more.
 */
const mendPast = (since: string, before: string, builtAt: string): string => {
  if (since >= firstBuild || builtAt < firstBuild) return since;
  return before >= firstBuild ? before : builtAt;
};

/**
 * Findings with since when they have been there. An earlier version did not write that, and the build before had found
 * them already. A time in the future was recorded under a clock that was ahead.
 */
const dateFindings = (
  findings: readonly Finding[],
  then: RepositoryOutcome | undefined,
  [before = '', builtAt]: readonly [before: string | undefined, builtAt: string],
): RepositoryOutcome['findings'] =>
  findings.map((finding) => {
    const known = then?.findings.find(({ code }) => code === finding.code);
    const since = known === undefined ? builtAt : mendPast(known.since ?? before, before, builtAt);
    return { ...finding, since: since > builtAt ? builtAt : since };
  });

/** The outcome of every entry: that of this build, or that of an earlier one if this build did not visit it. */
export const composeLastBuild = ({ entries, visited, waiting, found, previous, now }: Sources): LastBuild => {
  const builtAt = now.toISOString();
  const outcomes = new Map(visited.map((outcome) => [outcome.slug, outcome]));
  const before = new Map(previous?.repositories.map((outcome) => [outcome.slug, outcome]));
  const known = new Map(found.map((one) => [one.slug, one]));
  const held = Map.groupBy(waiting, ({ slug }) => slug);
  const repositories = entries.map(({ slug, uri }): RepositoryOutcome => {
    const then = before.get(slug);
    const visit = outcomes.get(slug);
    // One that is left alone for a while has an outcome, too, though its origin was not asked.
    const isAsked = visit?.code !== 'backing-off';
    const fate: Fate = visit
      ? { ...visit, visitedAt: isAsked ? builtAt : (then?.visitedAt ?? null) }
      : (then ?? unvisited(known.has(slug)));
    const { outcome, code, earlier, reason, detail, visitedAt } = fate;
    const { signing = null, findings = [] } = known.get(slug) ?? {};
    // A time in the future was recorded under a clock that was ahead.
    const isAsBefore = then !== undefined && isDown(then) === isDown(fate) && then.since <= builtAt;
    const since = isAsBefore ? mendPast(then.since, previous?.builtAt ?? '', builtAt) : builtAt;
    // Such a confirmation came before the trouble began.
    const confirmedAt = fate.confirmedAt !== null && fate.confirmedAt > builtAt ? since : fate.confirmedAt;
    const heldBack = (held.get(slug) ?? []).map((one) => ({ code: one.code, reason: one.reason }));
    return {
      ...{ slug, uri, outcome, code, earlier, reason, detail, since, visitedAt, confirmedAt, heldBack },
      signing: signing && { state: signing.state, signers: [...signing.signers] },
      findings: dateFindings(findings, then, [previous?.builtAt, builtAt]),
    };
  });
  return { format: 2, builtAt, repositories };
};

/** What changed for the repositories between two builds, as slugs. */
export interface RepositoryChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** In order before, and not now; or new and never in order. */
  readonly failing: readonly string[];
  readonly recovered: readonly string[];
  /** With something that waits for the operator's decision, and nothing of that kind before. */
  readonly heldBack: readonly string[];
}

/** Whether a visit took nothing new. Of a repository that was never visited nothing can be said. */
const hasFailed = (one: RepositoryOutcome): boolean => isDown(one) && one.visitedAt !== null;

/** Compares two builds. Without an earlier one nothing has changed. */
export const compareBuilds = (previous: LastBuild | undefined, { repositories }: LastBuild): RepositoryChanges => {
  if (previous === undefined) return { added: [], removed: [], failing: [], recovered: [], heldBack: [] };
  const before = new Map(previous.repositories.map((outcome) => [outcome.slug, outcome]));
  const slugs = new Set(repositories.map(({ slug }) => slug));
  const slugsOf = (isMeant: (now: RepositoryOutcome, then: RepositoryOutcome | undefined) => boolean) =>
    repositories.filter((now) => isMeant(now, before.get(now.slug))).map(({ slug }) => slug);
  return {
    added: slugsOf((_, then) => then === undefined),
    removed: previous.repositories.map(({ slug }) => slug).filter((slug) => !slugs.has(slug)),
    failing: slugsOf((now, then) => hasFailed(now) && (then === undefined || !hasFailed(then))),
    recovered: slugsOf((now, then) => !isDown(now) && then !== undefined && hasFailed(then)),
    heldBack: slugsOf((now, then) => now.heldBack.some(({ code }) => !then?.heldBack.some((one) => one.code === code))),
  };
};

/** Since when every build has found what it found of a repository. */
export const recallFindings = ({ repositories }: LastBuild): SeenSince => {
  const bySlug = new Map(repositories.map(({ slug, findings }) => [slug, findings]));
  return (slug, code) => bySlug.get(slug)?.find((one) => one.code === code)?.since;
};

/** Why the last visit to each repository took nothing, by slug. */
export const composeFailures = ({ repositories }: LastBuild): Map<string, Failure> =>
  new Map(
    repositories.flatMap(({ slug, code, earlier, detail, since }) =>
      code === null || !isFindingCode(code) ? [] : [[slug, { code, earlier, count: 1, example: detail ?? '', since }]],
    ),
  );
