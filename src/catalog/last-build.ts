import path from 'node:path';
import { z } from 'zod';
import type { FindingCode } from '../contract/finding-texts.ts';
import type { ManifestEntry } from '../contract/manifest.ts';
import { signingStates } from '../contract/signing-states.ts';
import { type StatusRecord, visitOutcomeSchema } from '../contract/status.ts';
import { readJsonFile } from '../disk/json-file.ts';
import { writeWholeFile } from '../disk/whole-file.ts';
import type { GrowthDay } from './build-record.ts';

const moment = z.iso.datetime();

const findingSchema = z.strictObject({
  code: z.string().describe('Stable code of what is wrong.'),
  count: z.int().min(1).describe('Number of occurrences.'),
  example: z
    .string()
    .describe('The first occurrence, in words or as the offending text; of redirects one to each address.'),
  since: moment.optional().describe('Since when every build has found it; not written by earlier versions.'),
});

const outcomeSchema = z.strictObject({
  slug: z.string(),
  uri: z.string().describe('The address that the manifest named.'),
  outcome: visitOutcomeSchema,
  code: z.string().nullable().describe('Stable code of what went wrong; null if nothing did.'),
  earlier: z
    .string()
    .optional()
    .describe('With code backing-off: the code of the failure because of which the origin is left alone.'),
  reason: z.string().nullable().describe('The reason as a sentence that an operator can act on.'),
  detail: z.string().nullable().describe('The evidence in that sentence, by itself.'),
  since: moment.describe('Since when it has been in order (fresh, unchanged) or not (stale, failed).'),
  visitedAt: moment
    .nullable()
    .describe(
      'When the last build that visited it ended; null if none has. Earlier than builtAt if this build did not visit it.',
    ),
  confirmedAt: moment.nullable().describe('When the origin last confirmed the published data; null if there is none.'),
  signing: z
    .strictObject({ state: z.enum(signingStates), signers: z.array(z.string()) })
    .nullable()
    .describe('How the Release of the published data is signed; null if there is none.'),
  heldBack: z
    .array(z.strictObject({ code: z.string(), reason: z.string() }))
    .describe("What waits for the operator's confirmation, such as a changed or lost key; see npm run accept."),
  findings: z.array(findingSchema).describe('What is wrong with the published data, by code.'),
});

/** No build ran before. A machine without a battery begins in 1970, until it has asked what time it is. */
export const firstBuild = '2026-01-01T00:00:00.000Z';

/** The format of `outcomes.json` in the state folder, also published as docs/outcomes.schema.json. */
export const lastBuildSchema = z.strictObject({
  format: z.literal(2).describe('Raised when a field changes its meaning or goes.'),
  builtAt: moment.describe('When the build ended.'),
  repositories: z.array(outcomeSchema).describe('Every repository of the manifest, by slug.'),
});

/** The outcome of the last build for each repository of the manifest. */
export type LastBuild = Readonly<z.infer<typeof lastBuildSchema>>;
export type RepositoryOutcome = LastBuild['repositories'][number];

interface ShownOutcome
  extends Pick<RepositoryOutcome, 'slug' | 'uri' | 'outcome' | 'code' | 'earlier' | 'reason' | 'confirmedAt'> {
  /** Which index the manifest names; undefined where that is not known. */
  readonly index?: Pick<ManifestEntry, 'suite' | 'component' | 'binary'> | undefined;
  /** Codes of what waits for the operator's decision. */
  readonly heldBack?: readonly { readonly code: string }[] | undefined;
  /** As `RepositoryOutcome` has it; undefined where that is not known. */
  readonly since?: string | undefined;
  /** Since when each finding has been there; undefined where that is not known. */
  readonly findings?: readonly { readonly code: string; readonly since?: string | undefined }[] | undefined;
  /** A letter for each of the last builds, as in `/v2/status.json`; undefined if no build is on record. */
  readonly history?: string | undefined;
}

type Fate = Pick<ShownOutcome, 'outcome' | 'code' | 'heldBack'>;

/** Whether the origin answered, but what it has waits for the operator's decision, so that the earlier data stays. */
export const isHeldBack = ({ outcome, code, heldBack = [] }: Fate): boolean =>
  outcome === 'stale' && heldBack.some((one) => one.code === code);

const codesOfTrust: ReadonlySet<string> = new Set<FindingCode>(['signature-lost', 'signature-key-changed']);

/**
 * Whether only the trust in a repository waits for the operator's decision, while its packages are taken
 * (docs/builds.md).
 */
export const isTrust = ({ code }: { readonly code: string }): boolean => codesOfTrust.has(code);

/** Whether the visit gave nothing usable. What is held back is usable: it was read, but not taken yet. */
export const isUnreadable = (fate: Fate): boolean =>
  (fate.outcome === 'stale' || fate.outcome === 'failed') && !isHeldBack(fate);

/** A package that a repository no longer has. */
export interface VanishedPackage {
  readonly id: string;
  /** The newest version that the repository had. */
  readonly version: string | null;
}

/** How many vanished packages of one repository its page lists: as many as a person reads. */
export const vanishedShown = 24;

/** What the pages show of this build and the last ones. */
export interface ShownBuild {
  readonly builtAt: string;
  readonly repositories: readonly ShownOutcome[];
  /** The last builds, as in `/v2/status.json`; undefined if none is on record. */
  readonly builds?: StatusRecord['builds'] | undefined;
  /** How many packages the index held at the end of each day on record, the oldest first. */
  readonly growth?: readonly GrowthDay[] | undefined;
  /** Packages that vanished from repositories recently, by slug, the latest first: one more than is shown, if there are. */
  readonly vanished?: Readonly<Record<string, readonly VanishedPackage[]>> | undefined;
}

/**
 * Where a state folder keeps the outcomes. They are beside the catalog, not in it, because they change with every
 * build, and the catalog only when the index does.
 */
export const outcomesPath = (state: string): string => path.join(state, 'outcomes.json');

/** The outcome of the last build; undefined if there was none in this format. */
export const readLastBuild = (state: string): LastBuild | undefined =>
  readJsonFile(outcomesPath(state), lastBuildSchema);

/** Keeps the outcomes of a build, flushed to the disk. Throws if they do not fit the schema, and errors of the disk. */
export const writeLastBuild = (state: string, build: LastBuild): void =>
  writeWholeFile(outcomesPath(state), `${JSON.stringify(lastBuildSchema.parse(build), null, 1)}\n`, { durable: true });
