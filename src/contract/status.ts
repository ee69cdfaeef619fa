import { z } from 'zod';
import { type FindingCode, findingTexts } from './finding-texts.ts';

// What the last builds did: `/v2/status.json` for programs, and the part of it on pages and badges.

/** How many builds `/v2/status.json` and the pages list. */
export const shownBuilds = 30;

/** The outcome of a repository in a build, as a letter of its history. */
export const historyLetters = {
  /** Its data changed. */
  fresh: 'f',
  /** The origin confirmed it. */
  unchanged: 'u',
  /** Nothing usable arrived, and the earlier data stays. */
  stale: 's',
  /** Nothing usable arrived, and there is no earlier data. */
  failed: 'x',
  /** The build did not visit it, it was not in the manifest yet, or the build ended before. */
  unvisited: '-',
} as const;
export type HistoryOutcome = keyof typeof historyLetters;
export type HistoryLetter = (typeof historyLetters)[HistoryOutcome];

const count = z.int().min(0);
const moment = z.iso.datetime({ precision: 3 });

/** How many repositories of a build had each outcome. */
export const outcomeCountsSchema = z.strictObject({
  fresh: count.describe('Repositories whose data changed.'),
  unchanged: count.describe('Repositories whose origin confirmed the data.'),
  stale: count.describe('Repositories that gave nothing usable and keep their former data.'),
  failed: count.describe('Repositories that gave nothing usable and have no former data.'),
  unvisited: count.describe('Repositories that the build did not visit.'),
});
export type OutcomeCounts = Readonly<z.infer<typeof outcomeCountsSchema>>;

/** How many packages a build added, updated and removed. */
export const packageCountsSchema = z.strictObject({ added: count, updated: count, removed: count });

/** How a build ended. */
export const buildEndings = ['published', 'nothing', 'failed'] as const;

const statusBuildSchema = z.strictObject({
  date: moment.describe('When the build ended.'),
  ended: z
    .enum(buildEndings)
    .describe(
      'published: the build was published. nothing: no repository gave anything usable. failed: the build ended before it was published. What was published before still stands, unless the build ended while files were put in place: then documents may be new and pages old.',
    ),
  repositories: outcomeCountsSchema,
  packages: packageCountsSchema,
});

const statusFindingSchema = z.strictObject({
  code: z.enum(Object.keys(findingTexts) as FindingCode[]).describe('Code of what is wrong; stable.'),
  weight: z.enum(['broken', 'weak', 'note']),
  count: z.int().min(1).describe('Number of occurrences.'),
});

/** The outcome of a visit to a repository. */
export const visitOutcomeSchema = z
  .enum(['fresh', 'unchanged', 'stale', 'failed'])
  .describe(
    'Outcome of the last visit. fresh: the data changed. unchanged: the origin confirmed it. stale: nothing usable came, and the former data stays. failed: nothing usable came, and there is no former data.',
  );
export type VisitOutcome = z.infer<typeof visitOutcomeSchema>;

const statusRepositorySchema = z.strictObject({
  repository_id: z.string(),
  outcome: visitOutcomeSchema,
  since: moment.describe('Since when it has been in order (fresh, unchanged) or not (stale, failed).'),
  visited: moment.nullable().describe('When the last build that visited it ended; null if none has.'),
  confirmed: moment.nullable().describe('When the origin last confirmed the published data; null if there is none.'),
  code: z.string().nullable().describe('Stable code of what went wrong; null if nothing did.'),
  reason: z.string().nullable().describe('The same as a sentence.'),
  held_back: z
    .array(z.string())
    .describe(
      "Codes of what waits for the operator's confirmation: an index that shrank, another key, an older Release.",
    ),
  findings: z
    .array(statusFindingSchema)
    .describe('What is wrong with the published data; the findings document of the repository explains it.'),
  history: z
    .string()
    .regex(/^[fusx-]*$/)
    .describe(
      'One letter for each build, in their order: f fresh, u unchanged, s stale, x failed, - not visited (or not in the index yet, or the build ended before).',
    ),
});

/** What the last builds did, and the outcomes of each repository. */
export const statusRecordSchema = z.strictObject({
  builds: z
    .array(statusBuildSchema)
    .max(shownBuilds)
    .describe(`The last builds, at most ${shownBuilds}, the newest last.`),
  repositories: z.array(statusRepositorySchema).describe('Every repository of the manifest, by slug.'),
});
export type StatusRecord = z.infer<typeof statusRecordSchema>;
