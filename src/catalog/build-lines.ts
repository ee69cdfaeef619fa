import { z } from 'zod';
import {
  buildEndings,
  type HistoryOutcome,
  historyLetters,
  type OutcomeCounts,
  outcomeCountsSchema,
  packageCountsSchema,
} from '../contract/status.ts';

// The record of builds: one line of JSON for each. A line states what became of every repository and can be read
// without any other line, so a lost or torn line affects nothing else. To stay small, it names the most common outcome
// once, and lists the repositories with any other outcome: 1.5 KB for 460 repositories. After some weeks the lines of a
// day are merged into one, with counts and with the repositories that were in trouble: about 2 MB for a year of hourly
// builds.

const slugs = z.array(z.string()).optional();
const outcome = z.enum(Object.keys(historyLetters) as HistoryOutcome[]);

export const buildLineSchema = z.strictObject({
  format: z.literal(1),
  /** When the build ended. */
  at: z.iso.datetime(),
  /**
   * How many packages the index held then, if it was published. It comes here so that it can be found without parsing.
   */
  total: z.int().min(0).optional(),
  ended: z.enum(buildEndings),
  /** Why it failed, in the words of the system, shortened to `longestReason` characters. */
  reason: z.string().optional(),
  repositories: outcomeCountsSchema,
  packages: packageCountsSchema,
  /** The outcome of the repositories that are not listed. */
  rest: outcome,
  fresh: slugs,
  unchanged: slugs,
  stale: slugs,
  failed: slugs,
  unvisited: slugs,
  /** Repositories that the build before did not know. They have no history before this line. */
  added: slugs,
});
export type BuildLine = Readonly<z.infer<typeof buildLineSchema>>;

export const dayLineSchema = z.strictObject({
  format: z.literal(1),
  day: z.iso.date(),
  /** The total of the last build of the day that states one. */
  total: z.int().min(0).optional(),
  /** How many builds there were, and how many of them did not publish. */
  builds: z.int().min(1),
  unpublished: z.int().min(0),
  /** Sums over these builds. */
  repositories: outcomeCountsSchema,
  packages: packageCountsSchema,
  /** In how many builds each repository was stale or failed. Repositories that never were are left out. */
  down: z.record(z.string(), z.int().min(1)),
});
export type DayLine = Readonly<z.infer<typeof dayLineSchema>>;

/** What is remembered of builds: merged days, then single builds, both with the oldest first. */
export interface BuildRecord {
  readonly days: readonly DayLine[];
  readonly builds: readonly BuildLine[];
}

/** For how many days builds are remembered individually, and how many at most, whatever the schedule. */
const singleDays = 35;
const mostSingle = 2000;
/** How many days with builds are remembered. */
const keptDays = 366;
/**
 * Ages are measured from the build that was this many builds ago, so that a clock that was far ahead for a few builds
 * makes nothing old. What is dropped for good is decided by number, whatever any clock says.
 */
const unaged = 12;
const longestReason = 500;
const dayMs = 86_400_000;

const outcomesIn = (line: BuildLine): Map<string, HistoryOutcome> =>
  new Map(
    (Object.keys(historyLetters) as HistoryOutcome[]).flatMap((name) =>
      (line[name] ?? []).map((slug) => [slug, name] as const),
    ),
  );

/**
 * The history of each repository in these builds, as a letter for each build, under any of its slugs; `-` before it was
 * known.
 */
export const computeHistories = (
  repositories: readonly { readonly slug: string; readonly aliases?: readonly string[] }[],
  builds: readonly BuildLine[],
): Map<string, string> => {
  const first = new Map<string, number>();
  builds.forEach((line, index) => {
    for (const slug of line.added ?? []) first.set(slug, index);
  });
  const named = builds.map(outcomesIn);
  return new Map(
    repositories.map(({ slug, aliases = [] }) => {
      const names = [slug, ...aliases];
      const added = names.flatMap((name) => first.get(name) ?? []);
      const known = added.length === 0 ? 0 : Math.min(...added);
      const letters = builds.map(({ rest = 'unvisited' }, index) => {
        if (index < known) return historyLetters.unvisited;
        const name = names.find((one) => named[index]?.has(one)) ?? slug;
        return historyLetters[named[index]?.get(name) ?? rest];
      });
      return [slug, letters.join('')];
    }),
  );
};

/** What is recorded of a build. */
export interface BuildEvent extends Pick<BuildLine, 'at' | 'ended' | 'packages'> {
  readonly total?: number | undefined;
  readonly reason?: string | undefined;
  /** The outcome of each repository of the manifest; empty if the build ended before that was known. */
  readonly outcomes: ReadonlyMap<string, HistoryOutcome>;
  readonly added: readonly string[];
}

/** The line for a build. */
export const composeBuildLine = ({ at, total, ended, packages, reason, outcomes, added }: BuildEvent): BuildLine => {
  const named = Map.groupBy(outcomes.keys(), (slug) => outcomes.get(slug) ?? 'unvisited');
  const countOf = (name: HistoryOutcome): number => named.get(name)?.length ?? 0;
  const names = Object.keys(historyLetters) as HistoryOutcome[];
  const rest =
    outcomes.size === 0 ? 'unvisited' : names.reduce((one, other) => (countOf(other) > countOf(one) ? other : one));
  const others = names.flatMap((name) => {
    const list = named.get(name);
    return list === undefined || name === rest ? [] : [[name, list] as const];
  });
  return buildLineSchema.parse({
    format: 1,
    at,
    ...(total === undefined ? {} : { total }),
    ended,
    ...(reason === undefined ? {} : { reason: reason.slice(0, longestReason) }),
    repositories: Object.fromEntries(names.map((name) => [name, countOf(name)])),
    packages,
    rest,
    ...Object.fromEntries(others),
    ...(added.length === 0 ? {} : { added }),
  });
};

const sum = <Counts extends Readonly<Record<string, number>>>(one: Counts, other: Counts): Counts =>
  Object.fromEntries(Object.keys(one).map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)])) as Counts;

const isDown = (name: HistoryOutcome): boolean => name === 'stale' || name === 'failed';

const downIn = (line: BuildLine, known: Iterable<string>): string[] => {
  // If the unlisted repositories are in trouble, their names come from the newer lines.
  const named = outcomesIn(line);
  const all = isDown(line.rest) ? new Set([...known, ...named.keys()]) : named.keys();
  return [...all].filter((slug) => isDown(named.get(slug) ?? line.rest));
};

const noCounts: OutcomeCounts = { fresh: 0, unchanged: 0, stale: 0, failed: 0, unvisited: 0 };

const foldInto = (days: Map<string, DayLine>, line: BuildLine, known: Iterable<string>): void => {
  const day = line.at.slice(0, 10);
  const before = days.get(day);
  // A Map, because a slug may be the name of a property that every object has, such as "constructor".
  const down = new Map(Object.entries(before?.down ?? {}));
  const total = line.total ?? before?.total;
  for (const slug of downIn(line, known)) down.set(slug, (down.get(slug) ?? 0) + 1);
  days.set(day, {
    format: 1,
    day,
    ...(total === undefined ? {} : { total }),
    builds: (before?.builds ?? 0) + 1,
    unpublished: (before?.unpublished ?? 0) + (line.ended === 'published' ? 0 : 1),
    repositories: sum(before?.repositories ?? noCounts, line.repositories),
    packages: sum(before?.packages ?? { added: 0, updated: 0, removed: 0 }, line.packages),
    down: Object.fromEntries(down),
  });
};

const oldestSingle = (at: string): string => new Date(Date.parse(at) - singleDays * dayMs).toISOString();

const isOverdue = (first: string, at: string): boolean => Date.parse(first) < Date.parse(oldestSingle(at)) - dayMs;

/**
 * Whether days may have to be merged when a build of this time is added to `count` others, the first of them made at
 * `firstAt`. Not for every build, because merging rewrites the file. If the first one has a time in the future, it says
 * nothing about the others.
 */
export const mayFold = (count: number, firstAt: string, at: string): boolean =>
  count >= mostSingle || isOverdue(firstAt, at) || firstAt > at;

/**
 * The record when this line is added, with older builds merged into days; undefined if there is nothing to merge yet.
 */
export const foldBuilds = (
  { days, builds }: BuildRecord,
  line: BuildLine,
  known: Iterable<string>,
): BuildRecord | undefined => {
  const before = builds.at(-unaged)?.at;
  if (before === undefined) return undefined;
  const now = before < line.at ? before : line.at;
  if (builds.length < mostSingle && !builds.some(({ at }) => isOverdue(at, now))) return undefined;
  const oldest = oldestSingle(now);
  const overdue = builds.length >= mostSingle ? builds.length - mostSingle / 2 : 0;
  const isFolded = ({ at }: BuildLine, index: number) => index < overdue || at < oldest;
  const folded = new Map(days.map((one) => [one.day, one]));
  for (const one of builds.filter(isFolded)) foldInto(folded, one, known);
  const kept = [...folded.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
  return { days: kept.slice(-keptDays), builds: builds.filter((one, index) => !isFolded(one, index)) };
};
