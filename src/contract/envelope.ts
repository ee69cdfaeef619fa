import { z } from 'zod';
import { dependencyClosureSchema } from './dependency-records.ts';
import * as records from './records.ts';
import { statusRecordSchema } from './status.ts';
import { successMessage } from './success-message.ts';

// Decisions, section 2: key order message (or status), date, refs, count, data. `count` is the number of items in data.

const message = z.literal(successMessage);
const date = z.iso.datetime({ precision: 3 }).describe('When the content last changed; in a computed answer, now.');
const pageUrl = z.url().optional();
const pages = z.strictObject({ nextPage: pageUrl, previousPage: pageUrl });
const count = z.number().int().min(0).describe('Number of items in data.');

const list = <T extends z.ZodType>(record: T) => z.strictObject({ message, date, count, data: z.array(record) });
const page = <T extends z.ZodType>(record: T) =>
  z.strictObject({ message, date, refs: pages, count, data: z.array(record) });

export const packageListSchema = list(records.packageRecordSchema);
export const packagePageSchema = page(records.packageRecordSchema);
export const dependenciesSchema = z.strictObject({ message, date, data: dependencyClosureSchema });
export const repositorySchema = z.strictObject({ message, date, data: records.repositoryRecordSchema });
export const repositoryFindingsSchema = z.strictObject({ message, date, data: records.findingsRecordSchema });
export const divergencesSchema = z.strictObject({ message, date, data: records.divergencesRecordSchema });
export const statusSchema = z.strictObject({ message, date, data: statusRecordSchema });
export const repositoryListSchema = list(records.repositoryRecordSchema);
export const repositoryPageSchema = page(records.repositoryRecordSchema);
export const safetyListSchema = list(records.safetyRecordSchema);
export const landingSchema = z.strictObject({ status: z.literal('200 OK'), date, data: records.landingRecordSchema });
export const healthSchema = z.strictObject({
  status: z.enum(['200 OK', '503 Service Unavailable']),
  date,
  data: records.healthRecordSchema,
});
export const livenessSchema = z.strictObject({ status: z.literal('200 OK'), date });
export const readinessSchema = z.strictObject({ status: z.enum(['200 OK', '503 Service Unavailable']), date });
export const downloadCountAnswerSchema = z.strictObject({ message, date, data: records.downloadCountSchema });
export const downloadListSchema = list(records.downloadTotalSchema);
export const ingestSchema = z.strictObject({
  message,
  date,
  count: z
    .number()
    .int()
    .min(0)
    .describe(
      'Number of downloads counted: those of known packages and versions, once for each network, version and day.',
    ),
});
