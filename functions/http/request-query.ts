import type { QueryParameter } from '../../src/contract/parameter-kinds.ts';
import { givenTwice, missingParameter, queryParameters, wrongParameter } from '../../src/contract/parameters.ts';
import { HttpError } from './answers.ts';

// Percent-decoding of a query. It follows the URL standard (a "%" that begins no escape stands for itself), except that
// bytes that are not UTF-8 are refused: they could not be echoed.
const decode = (text: string): string | undefined => {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text.replace(/%(?![0-9a-f]{2})/gi, '%25'));
  } catch {
    return undefined;
  }
};

const hexDigit = (code: number): number => {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  // A lower-case letter is the upper-case one with one more bit set.
  const letter = (code | 0x20) - 0x61;
  return letter >= 0 && letter < 6 ? letter + 10 : -1;
};

/**
 * The name among these that a text spells, with or without escapes; undefined if it is none. It stops at the first
 * character that fits no name, because a query may contain tens of thousands of parameters.
 */
const findName = (text: string, names: readonly string[]): string | undefined => {
  let decoded = '';
  for (let at = 0; at < text.length; at++) {
    let code = text.charCodeAt(at);
    if (code === 0x25) {
      const [high, low] = [hexDigit(text.charCodeAt(at + 1)), hexDigit(text.charCodeAt(at + 2))];
      if (high >= 0 && low >= 0) {
        code = high * 16 + low;
        at += 2;
      }
    }
    decoded += String.fromCharCode(code);
    if (!names.some((name) => name.startsWith(decoded))) return undefined;
  }
  return names.find((name) => name === decoded);
};

/** Query parameters by name, such as those of the read API or of older addresses. */
type ParameterTable = Readonly<Record<string, QueryParameter<unknown>>>;

/** The values of the parameters in a query, by name. */
type Asked<Table extends ParameterTable, Name extends keyof Table> = {
  readonly [Each in Name]: ReturnType<Table[Each]['read']>;
};

interface QueryReader<Table extends ParameterTable> {
  /** Whether the query of a URL has any of these parameters. Throws an HttpError (400) where one is not UTF-8. */
  hasQuery(url: string, names: readonly (keyof Table & string)[]): boolean;
  /**
   * The values of these parameters in the query of a URL. Throws an HttpError (400) with a sentence about the first
   * mistake: a value that is not UTF-8, or else the first in the order of the names.
   */
  readQuery<Name extends keyof Table & string>(url: string, names: readonly Name[]): Asked<Table, Name>;
}

/** A reader of queries with the parameters of this table. */
export const createQueryReader = <Table extends ParameterTable>(table: Table): QueryReader<Table> => {
  const parameterOf = (name: string): QueryParameter<unknown> => {
    const parameter = table[name];
    if (parameter === undefined) throw new TypeError(`There is no parameter ${name}`);
    return parameter;
  };
  const writtenName = (name: string): string => parameterOf(name).written ?? name;
  const refuse = (name: string, complaint: string): never => {
    throw new HttpError(400, wrongParameter(writtenName(name), complaint));
  };

  // A string for each name, or a list if the parameter was repeated.
  const readPairs = (url: string, asked: readonly string[]): Map<string, string | readonly string[]> => {
    const names = new Map(asked.map((name) => [writtenName(name), name]));
    const written = [...names.keys()];
    const values = new Map<string, string | readonly string[]>();
    const start = url.indexOf('?');
    const fragment = url.indexOf('#');
    const query = start < 0 ? '' : url.slice(start + 1, fragment < start ? undefined : fragment);
    for (const pair of query.split('&')) {
      const equals = pair.indexOf('=');
      const found = findName(equals < 0 ? pair : pair.slice(0, equals), written);
      const name = found === undefined ? undefined : names.get(found);
      if (name === undefined) continue;
      const known = values.get(name);
      // A parameter that is given twice is as wrong as one that is given a thousand times.
      if (known !== undefined && typeof known !== 'string') continue;
      const text = equals < 0 ? '' : pair.slice(equals + 1);
      const value = decode(parameterOf(name).words ? text.replaceAll('+', ' ') : text);
      if (value === undefined) return refuse(name, 'must be percent-encoded UTF-8');
      values.set(name, known === undefined ? value : [known, value]);
    }
    return values;
  };

  return {
    hasQuery: (url, names) => readPairs(url, names).size > 0,
    readQuery: <Name extends keyof Table & string>(url: string, names: readonly Name[]) => {
      const values = readPairs(url, names);
      const read = names.map((name) => {
        const value = values.get(name);
        if (value !== undefined && typeof value !== 'string') return refuse(name, givenTwice);
        const { required, read } = parameterOf(name);
        if (value === undefined && required) throw new HttpError(400, missingParameter(writtenName(name)));
        return [name, read(value, (complaint: string) => refuse(name, complaint))];
      });
      return Object.fromEntries(read) as Asked<Table, Name>;
    },
  };
};

/** The queries of the read API. */
export const { hasQuery, readQuery } = createQueryReader(queryParameters);
