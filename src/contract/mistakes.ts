import type { z } from 'zod';

/** The message for a value that has to be text. YAML may read a word as a number, a truth value or nothing. */
export const mustBeText = 'must be text: put it in quotes';

// In the terms of YAML.
const kinds: Readonly<Record<string, string>> = {
  string: mustBeText,
  boolean: 'must be true or false, without quotes',
  array: 'must be a list',
  object: 'must be fields, each with its value',
};

const formats: Readonly<Record<string, string>> = {
  date: 'must be a day such as 2026-11-20',
  email: 'must be a mail address',
  url: 'must be an address that begins with https:// or http://',
};

/**
 * The message for a mistake in a file that people write, where the schema has none of its own. Zod's would be about
 * types. Passed to `safeParse` as `error`.
 */
export const sayMistake = (issue: z.core.$ZodRawIssue): string | undefined => {
  if (issue.input === undefined) return 'is missing';
  if (issue.code === 'invalid_type') return kinds[issue.expected];
  if (issue.code === 'unrecognized_keys') return `has fields that are none here: ${issue.keys.join(', ')}`;
  if (issue.code === 'invalid_value') return `must be ${issue.values.join(' or ')}`;
  if (issue.code === 'invalid_format') return formats[issue.format];
  if (issue.code === 'too_small' && issue.origin === 'string') return 'must not be empty';
  if (issue.code === 'too_big' && issue.origin === 'string') return `must be at most ${issue.maximum} characters`;
  return undefined;
};

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ENOTDIR: 'is not there',
  EISDIR: 'is a folder',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8',
};

/**
 * Why such a file cannot be read, after its name, where the words of the system or of a decoder would be about what they
 * did; undefined for any other error.
 */
export const sayUnreadable = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? unreadable[String(error.code)] : undefined;
