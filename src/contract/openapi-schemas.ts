import type { z } from 'zod';
import { badgeSchema } from './badge.ts';
import { dependencyClosureSchema } from './dependency-records.ts';
import {
  dependenciesSchema,
  divergencesSchema,
  downloadCountAnswerSchema,
  downloadListSchema,
  healthSchema,
  ingestSchema,
  landingSchema,
  livenessSchema,
  packageListSchema,
  packagePageSchema,
  readinessSchema,
  repositoryFindingsSchema,
  repositoryListSchema,
  repositoryPageSchema,
  repositorySchema,
  safetyListSchema,
  statusSchema,
} from './envelope.ts';
import { errorSchema, notFoundSchema } from './errors.ts';
import { gatewayAnswers, gatewayBodies } from './gateway-schemas.ts';
import { changeListSchema, generationSchema, packageChangeSchema } from './generation.ts';
import { jsonFeedSchema } from './openapi-documents.ts';
import { type Json, schemaPrefix } from './openapi-parts.ts';
import {
  divergencesRecordSchema,
  downloadCountSchema,
  downloadSchema,
  downloadsSchema,
  downloadTotalSchema,
  embeddedRepositorySchema,
  findingSchema,
  findingsRecordSchema,
  healthRecordSchema,
  landingRecordSchema,
  packageRecordSchema,
  repositoryRecordSchema,
  safetyRecordSchema,
} from './records.ts';
import { statusRecordSchema } from './status.ts';

/** The schemas of answers that have a name in the description. */
export const answerSchemas = {
  PackageRecord: packageRecordSchema,
  EmbeddedRepository: embeddedRepositorySchema,
  RepositoryRecord: repositoryRecordSchema,
  Finding: findingSchema,
  FindingsRecord: findingsRecordSchema,
  SafetyRecord: safetyRecordSchema,
  HealthRecord: healthRecordSchema,
  LandingRecord: landingRecordSchema,
  DependencyClosure: dependencyClosureSchema,
  Dependencies: dependenciesSchema,
  PackageList: packageListSchema,
  PackagePage: packagePageSchema,
  Repository: repositorySchema,
  RepositoryList: repositoryListSchema,
  RepositoryPage: repositoryPageSchema,
  RepositoryFindings: repositoryFindingsSchema,
  SafetyList: safetyListSchema,
  DivergencesRecord: divergencesRecordSchema,
  Divergences: divergencesSchema,
  StatusRecord: statusRecordSchema,
  Status: statusSchema,
  Landing: landingSchema,
  Health: healthSchema,
  Liveness: livenessSchema,
  Readiness: readinessSchema,
  Ingest: ingestSchema,
  DownloadCount: downloadCountSchema,
  DownloadCountAnswer: downloadCountAnswerSchema,
  DownloadTotal: downloadTotalSchema,
  DownloadList: downloadListSchema,
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
  Download: downloadSchema,
  Downloads: downloadsSchema,
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
