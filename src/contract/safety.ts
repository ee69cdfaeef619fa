import { z } from 'zod';

// A host name as in the address bar. src/safety normalises it, and what it is compared with.
const host = z
  .string()
  .regex(/^[^\s/\\?#@:[\]]+$|^\[[0-9a-f:.]+\]$/i, 'must be a host name or address alone, without scheme, port or path');

const path = z
  .string()
  .regex(/^\/[^\s?#\\]*[^\s?#\\/]$/, 'must begin with "/", must not end with "/", and must hold no query or fragment');

/**
 * One entry of the safety list: a host, or a path of a host, that is not safe to add as a repository. Strict, so that a
 * misspelt field is an error. A host covers the names below it, a path everything below it.
 */
export const safetyEntrySchema = z.strictObject({
  host: host.describe('The name alone; it covers every name below it.'),
  path: path.optional().describe('Covers what lies below it, where others share the host.'),
  reason: z
    .string()
    .min(10, 'must say what is wrong, in 10 characters or more')
    .describe('What is wrong with it, in a sentence.'),
  date: z.iso.date().describe('Day on which it was entered.'),
  source: z.url({ protocol: /^https?$/ }).describe('Where that is documented.'),
});
export type SafetyEntry = z.infer<typeof safetyEntrySchema>;

/** The whole safety list. With an empty one, every address would count as safe. */
export const safetyEntriesSchema = z.array(safetyEntrySchema).min(1);
