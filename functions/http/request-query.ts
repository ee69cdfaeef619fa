import type { z } from 'zod';
import { HttpError } from './answers.ts';

// Percent-decoding of a query. What clients send is read as the URL standard reads it (a "%" that begins no escape
// stands for itself), but bytes that are not UTF-8 are refused: they could not be echoed.
const decode = (text: string): string | undefined => {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text.replace(/%(?![0-9a-f]{2})/gi, '%25'));
  } catch {
    return undefined;
  }
};

// The names that there are hold nothing but ASCII, so escapes of other bytes may stay.
const decodeName = (text: string): string =>
  text.includes('%')
    ? text.replace(/%[0-7][0-9a-f]/gi, (byte) => String.fromCharCode(Number.parseInt(byte.slice(1), 16)))
    : text;

/**
 * Names whose values hold words as a form writes them, where "+" is a blank. In identifiers and addresses a plus is a
 * plus, because clients send both without encoding them.
 */
const formNames: ReadonlySet<string> = new Set(['q']);

/**
 * The parameters of a URL's query that a schema names: one string, or a list where the name came more than once.
 * Throws an HttpError (400) with the sentence of the first thing wrong, in the order of the schema.
 */
export const readQuery = <T extends z.ZodObject>(url: string, schema: T): z.infer<T> => {
  const values: Record<string, string | string[]> = {};
  const start = url.indexOf('?');
  const fragment = url.indexOf('#');
  const query = start < 0 ? '' : url.slice(start + 1, fragment < start ? undefined : fragment);
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=');
    const name = decodeName(equals < 0 ? pair : pair.slice(0, equals));
    if (!Object.hasOwn(schema.shape, name)) continue;
    const known = values[name];
    // Twice is as wrong as a thousand times.
    if (Array.isArray(known)) continue;
    const text = equals < 0 ? '' : pair.slice(equals + 1);
    const value = decode(formNames.has(name) ? text.replaceAll('+', ' ') : text);
    if (value === undefined) throw new HttpError(400, `Query parameter '${name}' must be percent-encoded UTF-8`);
    values[name] = known === undefined ? value : [known, value];
  }
  const result = schema.safeParse(values);
  if (!result.success) throw new HttpError(400, result.error.issues[0]?.message ?? 'The query is not valid');
  return result.data;
};
