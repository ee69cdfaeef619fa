import {
  missingParameter,
  type Query,
  type QueryName,
  type QueryParameter,
  queryParameters,
} from '../../src/contract/parameters.ts';
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

const parameterOf = (name: QueryName): QueryParameter<unknown> => queryParameters[name];

const refuse = (name: string, complaint: string): never => {
  throw new HttpError(400, `Query parameter '${name}' ${complaint}`);
};

// One string for each name, or a list where it came more than once.
const readPairs = (url: string, names: ReadonlySet<string>): Map<string, string | readonly string[]> => {
  const values = new Map<string, string | readonly string[]>();
  const start = url.indexOf('?');
  const fragment = url.indexOf('#');
  const query = start < 0 ? '' : url.slice(start + 1, fragment < start ? undefined : fragment);
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=');
    const name = decodeName(equals < 0 ? pair : pair.slice(0, equals)) as QueryName;
    if (!names.has(name)) continue;
    const known = values.get(name);
    // Twice is as wrong as a thousand times.
    if (known !== undefined && typeof known !== 'string') continue;
    const text = equals < 0 ? '' : pair.slice(equals + 1);
    const value = decode(parameterOf(name).words ? text.replaceAll('+', ' ') : text);
    if (value === undefined) return refuse(name, 'must be percent-encoded UTF-8');
    values.set(name, known === undefined ? value : [known, value]);
  }
  return values;
};

/**
 * The parameters of these names in the query of a URL. Throws an HttpError (400) with the sentence of the first thing
 * wrong: a value that is not UTF-8, or else the first in the order of the names.
 */
export const readQuery = <Name extends QueryName>(url: string, names: readonly Name[]): Query<Name> => {
  const values = readPairs(url, new Set(names));
  const read = names.map((name) => {
    const value = values.get(name);
    if (value !== undefined && typeof value !== 'string') return refuse(name, 'must be given once');
    const { required, read } = parameterOf(name);
    if (value === undefined && required) throw new HttpError(400, missingParameter(name));
    return [name, read(value, (complaint: string) => refuse(name, complaint))];
  });
  return Object.fromEntries(read) as Query<Name>;
};
