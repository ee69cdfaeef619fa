import { z } from 'zod';
import { type FindingCode, findingTexts } from './finding-texts.ts';

// What the last builds did, for programs: `/v2/status.json`, and what the pages and badges show of it.

/** How many builds `/v2/status.json` and the pages tell of. */
export const shownBuilds = 30;

/** What became of a repository in a build: a letter for each, of which its history is made. */
export const historyLetters = {
  /** Its data changed. */
  fresh: 'f',
  /** The origin confirmed it. */
  unchanged: 'u',
  /** Nothing usable came, and the data from before stays. */
  stale: 's',
  /** And there is none. */
  failed: 'x',
  /** The build did not visit it, or it was not in the manifest yet, or the build ended before. */
  unvisited: '-',
} as const;
export type HistoryOutcome = keyof typeof historyLetters;
export type HistoryLetter = (typeof historyLetters)[HistoryOutcome];

const count = z.int().min(0);
const moment = z.iso.datetime({ precision: 3 });

/** Repositories of a build by what became of them. */
export const outcomeCountsSchema = z.strictObject({
  fresh: count.describe('Their data changed.'),
  unchanged: count.describe('Their origins confirmed it.'),
  stale: count.describe('Nothing usable came, and the data from before stays.'),
  failed: count.describe('And there is none.'),
  unvisited: count.describe('The build did not visit them.'),
});
export type OutcomeCounts = Readonly<z.infer<typeof outcomeCountsSchema>>;

/** Packages of a build by what became of them. */
export const packageCountsSchema = z.strictObject({ added: count, updated: count, removed: count });

/** How a build ended. */
export const buildEndings = ['published', 'nothing', 'failed'] as const;

const statusBuildSchema = z.strictObject({
  date: moment.describe('When it ended.'),
  ended: z
    .enum(buildEndings)
    .describe(
      'published: what is published is of it. nothing: no repository gave anything usable. failed: it ended before all of it was published. What was published before then still stands, unless it ended when files were given their names: then documents may be of it and pages of the one before.',
    ),
  repositories: outcomeCountsSchema,
  packages: packageCountsSchema,
});

const statusFindingSchema = z.strictObject({
  code: z.enum(Object.keys(findingTexts) as FindingCode[]).describe('What is wrong; stable.'),
  weight: z.enum(['broken', 'weak', 'note']),
  count: z.int().min(1).describe('How often it was found.'),
});

const statusRepositorySchema = z.strictObject({
  repository_id: z.string(),
  outcome: z
    .enum(['fresh', 'unchanged', 'stale', 'failed'])
    .describe(
      'Of the last visit. fresh: its data changed. unchanged: the origin confirmed it. stale: nothing usable came, and the data from before stays. failed: and there is none.',
    ),
  since: moment.describe('Since when builds have found it in order (fresh, unchanged) or not (stale, failed).'),
  visited: moment.nullable().describe('When the last build that visited it ended; null where none has.'),
  confirmed: moment
    .nullable()
    .describe('When the origin last confirmed the data that is published; null where there is none.'),
  code: z.string().nullable().describe('Stable code of what went wrong; null where nothing did.'),
  reason: z.string().nullable().describe('The same as a sentence.'),
  held_back: z
    .array(z.string())
    .describe("Codes of what waits for the operator's word: an index that shrank, another key, an older Release."),
  findings: z
    .array(statusFindingSchema)
    .describe('What is wrong with the data that is published; the findings document of the repository has the words.'),
  history: z
    .string()
    .regex(/^[fusx-]*$/)
    .describe(
      'A letter for each of the builds, in their order: f fresh, u unchanged, s stale, x failed, - not visited (or not in the index yet, or the build ended before).',
    ),
});

/** What the last builds did, and how each repository fares. */
export const statusRecordSchema = z.strictObject({
  builds: z
    .array(statusBuildSchema)
    .max(shownBuilds)
    .describe(`The last builds, ${shownBuilds} at most, the newest last.`),
  repositories: z.array(statusRepositorySchema).describe('Every repository of the manifest, by slug.'),
});
export type StatusRecord = z.infer<typeof statusRecordSchema>;
