import { gatewayWords } from '../contract/gateway-schemas.ts';
import { laterRoot, olderFiles, olderRoot, olderTable } from '../contract/older-addresses/operations.ts';
import {
  fillPlaceholders,
  givenTwice,
  missingParameter,
  parameterOf,
  type QueryName,
  queryParameters,
  writtenName,
  wrongParameter,
} from '../contract/parameters.ts';
import { apiRoot, type Operation, operations } from '../contract/paths.ts';
import { wordsBelow } from '../contract/public-addresses.ts';

// The table of operations in the form that rules need: which files answer which addresses, and what the function
// answers.

/** The text before and after a name. */
type Around = readonly [before: string, after: string];

/** Addresses with a name, and the files that answer them: `…/package/{name}` is `…/package/{encoded name}.json`. */
export interface NamedRoute {
  /** Below the API's root, with the slash at its beginning. */
  readonly address: Around;
  /** Below the output folder. */
  readonly file: Around;
  /** The text between the two names of an address; empty if it has only one. */
  readonly between: string;
  /** Names that are words of the API there and cannot be looked up. */
  readonly words: readonly string[];
  /**
   * Parameters with which the function answers one page of the file. Without a function the whole file is the answer.
   */
  readonly paged: readonly string[];
}

/** An address whose file depends on a parameter of its query. */
export interface ChosenRoute {
  readonly address: string;
  readonly parameter: string;
  /** The file for each value of the parameter. */
  readonly files: Readonly<Record<string, string>>;
  /** The sentence of the 400 if the parameter is missing, repeated, or has another value. */
  readonly sentences: { readonly missing: string; readonly repeated: string; readonly other: string };
}

/** Addresses that the function answers. `{…}` stands for any segment, and `/*` at the end for everything below. */
export interface ComputedRoute {
  readonly address: string;
  readonly methods: string;
}

const placeholder = /\{(\w+)\}/;

const around = (text: string): Around => {
  const parts = text.split(placeholder);
  return [parts[0] ?? '', parts.at(-1) ?? ''];
};

const betweenIn = (text: string): string => {
  const parts = text.split(placeholder);
  return parts.length > 3 ? (parts[2] ?? '') : '';
};

const table: readonly Operation[] = Object.values(operations as Record<string, Operation>);

/** A query that requests a page, as a regular expression. */
export const pagedQuery = (parameters: readonly string[]): string => `(?:^|&)(?:${parameters.join('|')})(?:=|&|$)`;

/** Addresses that one file answers, by address below the API's root. */
export const fixedRoutes: Readonly<Record<string, string>> = Object.fromEntries(
  table.flatMap(({ address, file }) =>
    file === undefined || placeholder.test(file) ? [] : [[address, `${apiRoot}/${file}`]],
  ),
);

export const namedRoutes: readonly NamedRoute[] = table.flatMap(({ address, file, paged }) => {
  if (file === undefined || !placeholder.test(address)) return [];
  const [before] = around(address);
  const between = betweenIn(address);
  const words = /\}$/.test(address) && between === '' ? [...wordsBelow(before)] : [];
  return [
    {
      address: around(address),
      file: around(`${apiRoot}/${file}`),
      between,
      words,
      paged: (paged?.query ?? []).map(writtenName),
    },
  ];
});

/** The names of a route as a regular expression. `quote` escapes a text. */
export const namePattern = ({ between }: NamedRoute, quote: (text: string) => string): string =>
  between === '' ? '[^/]+' : `[^/]+${quote(between)}[^/]+`;

// The complaint of a parameter's reader about a value; undefined if it accepts the value.
const complaintOf = (parameter: QueryName, value: string): string | undefined => {
  const complaints: string[] = [];
  try {
    queryParameters[parameter].read(value, (complaint: string): never => {
      complaints.push(complaint);
      throw new RangeError(complaint);
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return complaints[0];
};

const fileOf = (file: string, value: string): string =>
  `${apiRoot}/${fillPlaceholders(file, (name) => parameterOf(name).inFile?.spell?.(value) ?? value)}`;

export const chosenRoutes: readonly ChosenRoute[] = table.flatMap(({ address, file, query = [] }) => {
  const parameter = query.find((name) => file?.includes(`{${name}}`));
  if (file === undefined || parameter === undefined) return [];
  const values = parameterOf(parameter).schema.enum ?? [];
  const sentences = {
    missing: missingParameter(parameter),
    repeated: wrongParameter(parameter, givenTwice),
    other: wrongParameter(parameter, complaintOf(parameter, '') ?? ''),
  };
  return [
    { address, parameter, files: Object.fromEntries(values.map((value) => [value, fileOf(file, value)])), sentences },
  ];
});

/** In the order in which they have to be tried: words before names. */
export const computedRoutes: readonly ComputedRoute[] = [
  ...table
    .filter(({ file }) => file === undefined)
    .map(({ address, method }) => ({
      address,
      methods: method === 'GET' ? 'GET, HEAD, OPTIONS' : `${method}, OPTIONS`,
    }))
    .sort((one, other) => Number(placeholder.test(one.address)) - Number(placeholder.test(other.address))),
  ...gatewayWords.flatMap((word) => [
    { address: `/${word}`, methods: 'GET, HEAD, POST, OPTIONS' },
    { address: `/${word}/*`, methods: 'GET, HEAD, POST, OPTIONS' },
  ]),
];

/** A part of the addresses from before /v2 that the function answers, with everything below it. */
export interface OlderRoute {
  /** With a slash at its beginning and none at its end. */
  readonly folder: string;
  /** Files below it, which any host can answer. */
  readonly files: readonly string[];
  /** The folders in it. Beside them there are only those files. */
  readonly parts: readonly string[];
}

const olderParts = olderTable.flatMap(([, { address, file }]) => {
  const [, root, part] = address.split('/');
  return root === olderRoot && file === undefined && part ? [part] : [];
});

export const olderRoutes: readonly OlderRoute[] = [
  {
    folder: `/${olderRoot}`,
    files: [...olderFiles].filter((file) => file.startsWith(`${olderRoot}/`)),
    parts: [...new Set(olderParts)],
  },
  { folder: `/${[...laterRoot, 'jailbreak'].join('/')}`, files: [], parts: [] },
];
