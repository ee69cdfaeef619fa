import { z } from 'zod';
import { lastBuildSchema } from '../catalog/last-build.ts';
import { packageChangeSchema } from '../contract/generation.ts';
import { writeWholeFile } from '../disk/whole-file.ts';
import type { BuildResult } from './build-result.ts';

const count = z.int().min(0);
const slugs = z.array(z.string());

/** The format of the file of `npm run build -- --report FILE`, also published as docs/report.schema.json. */
export const reportSchema = z.strictObject({
  format: z.literal(1).describe('Raised when a field changes its meaning or goes.'),
  builtAt: z.iso.datetime().describe('When the build ended.'),
  exitCode: count.describe('How the build ends; docs/builds.md says what each code means.'),
  dryRun: z.boolean().describe('Whether nothing was published or kept.'),
  stoppedBy: z
    .string()
    .nullable()
    .describe(
      'What ended the crawl before every repository was visited: a signal, or the time budget; null where nothing did.',
    ),
  visited: count.describe('Repositories that this build visited.'),
  requests: count,
  bytes: count.describe('Bytes received in bodies.'),
  statistics: z
    .strictObject({ repositories: count, packages: count, versions: count, updated: z.iso.datetime() })
    .nullable()
    .describe('What the index holds; null if it is empty.'),
  repositories: lastBuildSchema.shape.repositories.describe('As in outcomes.json.'),
  repositoryChanges: z
    .strictObject({
      added: slugs.describe('New in the manifest.'),
      removed: slugs.describe('No longer in the manifest.'),
      failing: slugs.describe('In order in the last build, but not in this one.'),
      recovered: slugs.describe('In order in this build, but not in the last one.'),
      heldBack: slugs.describe("With something new that waits for the operator's confirmation."),
    })
    .describe('Compared with the build before.'),
  packageChanges: z
    .array(packageChangeSchema)
    .describe('Packages of repositories that were in the index before, by identifier.'),
  isUncompared: z
    .boolean()
    .describe('Whether there was no sound catalog to compare with, so that nobody knows which packages changed.'),
  repairs: z.array(z.string()).describe('What was damaged and repaired, as sentences.'),
  unreadable: slugs.describe(
    'Not visited, with a stored snapshot that could not be read; the next visit fetches it again.',
  ),
  documents: z.strictObject({ written: count, unchanged: count, removed: count }),
  site: z
    .strictObject({ rendered: count, searchable: count, written: count, unchanged: count, removed: count })
    .nullable()
    .describe('Pages rendered, packages in the search index, files; null without pages.'),
  seconds: z.record(z.string(), z.number()).describe('How long each step took.'),
});

/** What a build did, for programs. */
export type BuildReport = z.infer<typeof reportSchema>;

interface Ending {
  readonly exitCode: number;
  readonly dryRun: boolean;
  readonly stoppedBy: string | null;
  /** By step, in the order in which they ran. */
  readonly seconds: ReadonlyMap<string, number>;
}

/** The report of a build. */
export const composeReport = (built: BuildResult, { seconds, ...ending }: Ending): BuildReport => {
  const { lastBuild, outcomes, site } = built;
  const counts = site && {
    ...{ rendered: site.rendered, searchable: site.searchable },
    ...{ written: site.written, unchanged: site.unchanged, removed: site.removed },
  };
  return reportSchema.parse({
    format: 1,
    builtAt: lastBuild.builtAt,
    ...ending,
    visited: outcomes.length,
    requests: outcomes.reduce((sum, outcome) => sum + outcome.requests, 0),
    bytes: outcomes.reduce((sum, outcome) => sum + outcome.bytes, 0),
    statistics: built.statistics ?? null,
    repositories: lastBuild.repositories,
    repositoryChanges: built.repositoryChanges,
    packageChanges: built.packageChanges,
    isUncompared: built.isUncompared ?? false,
    repairs: built.repairs,
    unreadable: built.unreadable,
    documents: built.documents,
    site: counts ?? null,
    seconds: Object.fromEntries(seconds),
  });
};

/** Writes a report, whole. */
export const writeReport = (file: string, report: BuildReport): void =>
  writeWholeFile(file, `${JSON.stringify(report, null, 1)}\n`);
