import { z } from 'zod';

// Query parameters of the read API with the error texts of decisions, section 3. Each schema takes what the address
// held for that name: undefined, one string, or a list where the name came more than once.

const once = (name: string) =>
  z.union([z.string().optional(), z.array(z.string())]).transform((value, context) => {
    if (Array.isArray(value)) {
      context.addIssue({ code: 'custom', message: `Query parameter '${name}' must be given once` });
      return z.NEVER;
    }
    return value;
  });

const required = (name: string) =>
  once(name).transform((value, context) => {
    if (value === undefined) {
      context.addIssue({ code: 'custom', message: `Missing query parameter: '${name}'` });
      return z.NEVER;
    }
    return value;
  });

// Decimal digits alone: Number() would also take "1e2", "0x10" and blanks.
const integer = (name: string, fallback: number, minimum: number, maximum: number, bounds: string) =>
  once(name).transform((value, context) => {
    if (value === undefined) return fallback;
    // However many digits: beyond what can be counted there is nothing, and no page is too far behind to be asked for.
    const number = /^\d+$/.test(value) ? Math.min(Number(value), Number.MAX_SAFE_INTEGER) : Number.NaN;
    if (number >= minimum && number <= maximum) return number;
    context.addIssue({ code: 'custom', message: `Query parameter '${name}' must be an integer ${bounds}` });
    return z.NEVER;
  });

/** Bounds of a search text, in characters after trimming. */
export const searchLength = { minimum: 2, maximum: 256 } as const;
/** Bounds of a page of search results. */
export const searchLimit = { minimum: 1, maximum: 250, default: 100 } as const;
/** The most identifiers that one multi lookup may name. */
export const multiMaximum = 2000;
/** The most bytes of records in one computed answer: any page of a search fits, and any honest multi lookup. */
export const answerMaximum = 20 * 2 ** 20;
/** The most addresses that one safety check may name. */
export const safetyMaximum = 250;

export const searchParametersSchema = z.object({
  q: required('q').transform((value, context) => {
    const text = value.trim();
    // Characters as people count them are code points, not the UTF-16 units of String.length.
    const length = [...text].length;
    if (length < searchLength.minimum) {
      context.addIssue({ code: 'custom', message: "Query parameter 'q' must be at least 2 characters" });
      return z.NEVER;
    }
    if (length > searchLength.maximum) {
      context.addIssue({ code: 'custom', message: "Query parameter 'q' must be at most 256 characters" });
      return z.NEVER;
    }
    return text;
  }),
  limit: integer('limit', searchLimit.default, searchLimit.minimum, searchLimit.maximum, 'between 1 and 250'),
  page: integer('page', 1, 1, Number.MAX_SAFE_INTEGER, 'of at least 1'),
});

/** The values of `rank`; `*` lists every ranking. */
export const ranks = ['1', '2', '3', '4', '5', '*'] as const;
export type Rank = (typeof ranks)[number];

export const rankingParametersSchema = z.object({
  rank: required('rank').transform((value, context) => {
    const rank = ranks.find((candidate) => candidate === value);
    if (rank !== undefined) return rank;
    context.addIssue({ code: 'custom', message: "Query parameter 'rank' must be one of 1, 2, 3, 4, 5, *" });
    return z.NEVER;
  }),
});

export const multiParametersSchema = z.object({
  ids: required('ids').transform((value, context) => {
    const ids = [...new Set(value.split(',').map((id) => id.trim()))].filter((id) => id !== '');
    if (ids.length >= 1 && ids.length <= multiMaximum) return ids;
    context.addIssue({
      code: 'custom',
      message: "Query parameter 'ids' must be 1 to 2000 identifiers separated by commas",
    });
    return z.NEVER;
  }),
  priority: once('priority').transform((value, context) => {
    if (value === undefined || value === 'default') return 'default' as const;
    if (value === 'bootstrap') return 'bootstrap' as const;
    context.addIssue({ code: 'custom', message: "Query parameter 'priority' must be one of default, bootstrap" });
    return z.NEVER;
  }),
});

export const safetyParametersSchema = z.object({
  uris: once('uris').transform((value, context) => {
    const uris = value === undefined || value === '' ? [] : value.split(',');
    if (uris.length <= safetyMaximum) return uris;
    context.addIssue({
      code: 'custom',
      message: "Query parameter 'uris' must be at most 250 URIs separated by commas",
    });
    return z.NEVER;
  }),
});
