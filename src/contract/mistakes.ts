import type { z } from 'zod';

// In the terms of YAML, which may read a word as a number, a truth value or nothing.
const kinds: Readonly<Record<string, string>> = {
  string: 'text: put it in quotes',
  boolean: 'true or false, without quotes',
  array: 'a list',
  object: 'fields, each with its value',
};

const formats: Readonly<Record<string, string>> = {
  date: 'a day such as 2026-11-20',
  email: 'a mail address',
  url: 'an address that begins with https:// or http://',
};

/**
 * The message for a mistake in a file that people write, where the schema has none of its own. Zod's would be about
 * types. Passed to `safeParse` as `error`.
 */
export const sayMistake = (issue: z.core.$ZodRawIssue): string | undefined => {
  if (issue.input === undefined) return 'is missing';
  const words = issue.code === 'invalid_type' ? kinds[issue.expected] : undefined;
  const form = issue.code === 'invalid_format' ? formats[issue.format] : undefined;
  const must = words ?? form;
  return must && `must be ${must}`;
};
