import type { z } from 'zod';
import { badgeSchema } from './badge.ts';
import { dependencyClosureSchema } from './dependency-records.ts';
import * as envelope from './envelope.ts';
import { errorSchema, notFoundSchema } from './errors.ts';
import { gatewayAnswers, gatewayBodies } from './gateway-schemas.ts';
import { changeListSchema, generationSchema, packageChangeSchema } from './generation.ts';
import { jsonFeedSchema } from './openapi-documents.ts';
import { type Json, schemaPrefix } from './openapi-parts.ts';
import * as records from './records.ts';
import { statusRecordSchema } from './status.ts';

/** The schemas of answers that have a name in the description. */
export const answerSchemas = {
  PackageRecord: records.packageRecordSchema,
  EmbeddedRepository: records.embeddedRepositorySchema,
  RepositoryRecord: records.repositoryRecordSchema,
  Finding: records.findingSchema,
  FindingsRecord: records.findingsRecordSchema,
  SafetyRecord: records.safetyRecordSchema,
  HealthRecord: records.healthRecordSchema,
  LandingRecord: records.landingRecordSchema,
  DependencyClosure: dependencyClosureSchema,
  Dependencies: envelope.dependenciesSchema,
  PackageList: envelope.packageListSchema,
  PackagePage: envelope.packagePageSchema,
  Repository: envelope.repositorySchema,
  RepositoryList: envelope.repositoryListSchema,
  RepositoryPage: envelope.repositoryPageSchema,
  RepositoryFindings: envelope.repositoryFindingsSchema,
  SafetyList: envelope.safetyListSchema,
  DivergencesRecord: records.divergencesRecordSchema,
  Divergences: envelope.divergencesSchema,
  StatusRecord: statusRecordSchema,
  Status: envelope.statusSchema,
  Landing: envelope.landingSchema,
  Health: envelope.healthSchema,
  Liveness: envelope.livenessSchema,
  Readiness: envelope.readinessSchema,
  Ingest: envelope.ingestSchema,
  DownloadCount: records.downloadCountSchema,
  DownloadCountAnswer: envelope.downloadCountAnswerSchema,
  DownloadTotal: records.downloadTotalSchema,
  DownloadList: envelope.downloadListSchema,
  Generation: generationSchema,
  PackageChange: packageChangeSchema,
  ChangeList: changeListSchema,
  Error: errorSchema,
  NotFound: notFoundSchema,
  ...gatewayAnswers,
} as const satisfies Record<string, z.ZodType>;

/** Schemas that exist only with the site. */
export const siteSchemas = { JsonFeed: jsonFeedSchema, Badge: badgeSchema } as const satisfies Record<
  string,
  z.ZodType
>;

/** The schemas of requests. */
export const requestSchemas = {
  Download: records.downloadSchema,
  Downloads: records.downloadsSchema,
  ...gatewayBodies,
} as const satisfies Record<string, z.ZodType>;

/** The reference to a schema in the description. Throws a TypeError if the schema has no name. */
export const schemaOf = (schema: z.ZodType): Json => {
  const name = Object.entries({ ...answerSchemas, ...requestSchemas, ...siteSchemas }).find(
    ([, candidate]) => candidate === schema,
  )?.[0];
  if (name === undefined) throw new TypeError('A schema of an operation has no name in the description');
  return { $ref: schemaPrefix + name };
};
