import { z } from 'zod';
import {
  buildEndings,
  type HistoryOutcome,
  historyLetters,
  type OutcomeCounts,
  outcomeCountsSchema,
  packageCountsSchema,
} from '../contract/status.ts';

// The memory of builds: a line for each, in JSON. A line says of each repository what became of it and needs no other
// line to be understood, so that one which is lost or torn takes nothing with it. To stay small it names the outcome
// that most repositories had once, and the others by name: with 460 repositories some 1.5 KB. After some weeks the lines
// of a day become one, with counts and with those that were in trouble: in a year of hourly builds some 2 MB.

const slugs = z.array(z.string()).optional();
const outcome = z.enum(Object.keys(historyLetters) as HistoryOutcome[]);

export const buildLineSchema = z.strictObject({
  format: z.literal(1),
  /** When the build ended. */
  at: z.iso.datetime(),
  /** How many packages the index held then, where it was published. Stands here to be found without parsing. */
  total: z.int().min(0).optional(),
  ended: z.enum(buildEndings),
  /** Why it failed; a text of the system's, of which no more than so much is kept. */
  reason: z.string().optional(),
  repositories: outcomeCountsSchema,
  packages: packageCountsSchema,
  /** What became of those that are not named. */
  rest: outcome,
  fresh: slugs,
  unchanged: slugs,
  stale: slugs,
  failed: slugs,
  unvisited: slugs,
  /** Those that the build before did not know: they have no history before this line. */
  added: slugs,
});
export type BuildLine = Readonly<z.infer<typeof buildLineSchema>>;

export const dayLineSchema = z.strictObject({
  format: z.literal(1),
  day: z.iso.date(),
  /** That of the last of its builds that says. */
  total: z.int().min(0).optional(),
  /** How many builds, and how many of them did not publish. */
  builds: z.int().min(1),
  unpublished: z.int().min(0),
  /** Sums over these builds. */
  repositories: outcomeCountsSchema,
  packages: packageCountsSchema,
  /** In how many of them a repository was stale or failed; those that never were are left out. */
  down: z.record(z.string(), z.int().min(1)),
});
export type DayLine = Readonly<z.infer<typeof dayLineSchema>>;

/** What is remembered of builds: days that are folded, then builds, each the oldest first. */
export interface BuildRecord {
  readonly days: readonly DayLine[];
  readonly builds: readonly BuildLine[];
}

/** For how long builds are remembered one by one, and how many at most, whatever the schedule. */
const singleDays = 35;
const mostSingle = 2000;
/** How many days are remembered at all, of those on which there was a build. */
const keptDays = 366;
/**
 * Ages are what they were so many builds ago: a clock that was far ahead at a few of them makes nothing old. What is
 * forgotten for good is so by number, whatever any clock says.
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
 * What became of each of these repositories in each of these builds, as letters, under whichever of its slugs; `-` before
 * it was known.
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

/** What a build is remembered by. */
export interface BuildEvent extends Pick<BuildLine, 'at' | 'ended' | 'packages'> {
  readonly total?: number | undefined;
  readonly reason?: string | undefined;
  /** What became of each repository of the manifest; empty where the build ended before that was known. */
  readonly outcomes: ReadonlyMap<string, HistoryOutcome>;
  readonly added: readonly string[];
}

/** The line of a build. */
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
  // Where the rest is in trouble it has no names; those are what the newer lines know.
  const named = outcomesIn(line);
  const all = isDown(line.rest) ? new Set([...known, ...named.keys()]) : named.keys();
  return [...all].filter((slug) => isDown(named.get(slug) ?? line.rest));
};

const noCounts: OutcomeCounts = { fresh: 0, unchanged: 0, stale: 0, failed: 0, unvisited: 0 };

const foldInto = (days: Map<string, DayLine>, line: BuildLine, known: Iterable<string>): void => {
  const day = line.at.slice(0, 10);
  const before = days.get(day);
  // By a map: a slug may be a name that every object has, such as "constructor".
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
 * Whether there may be something to fold when a build of this time is added to so many, the first of them of that time: not
 * at each, because the file is written anew for it. One that is still to come tells nothing of those behind it.
 */
export const mayFold = (count: number, firstAt: string, at: string): boolean =>
  count >= mostSingle || isOverdue(firstAt, at) || firstAt > at;

/**
 * What is left to be remembered one by one when this line is added, and what of it as days; undefined where nothing is to
 * be folded yet.
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
