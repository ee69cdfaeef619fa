import { cacheControl, openHeaders, pageMethods, preflightHeaders, readMethods } from '../contract/answer-headers.ts';
import { askedQuery } from '../contract/asked-query.ts';
import { cacheRules, openFiles, patternSource } from '../contract/file-headers.ts';
import { documentPath } from '../contract/paths.ts';
import { mostRepetitions, type Replacement, replacements } from './encoding.ts';
import { apiWords, exactNames, literally, type RuleInput, withAndWithoutRoot } from './host-rules.ts';
import { map, pattern, quoted } from './nginx-syntax.ts';
import { chosenRoutes, namedRoutes, pagedQuery } from './routes.ts';

// What nginx reads from a request and writes into an answer, as maps for its block "http".

const requestMaps = (): string[] => [
  '# The address as it was asked for, without its query.',
  ...map('$request_uri', 'asked', [
    ['default', '$request_uri'],
    ['"~^(?<debdex_path>[^?]*)\\?"', '$debdex_path'],
  ]),
  '# What time it is, as the API writes it; nginx tells the time of the place where it runs.',
  ...map('$time_iso8601', 'now', [
    ['default', '$time_iso8601'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of nginx
    ['"~^(?<debdex_second>[^+]+)\\+00:00$"', '"${debdex_second}.000Z"'],
  ]),
  ...map('$request_method', 'method', [
    ['default', 'other'],
    ['GET', 'read'],
    ['HEAD', 'read'],
    ['OPTIONS', 'ask'],
  ]),
];

/** The variable with a header of the answer to OPTIONS, which is empty in other answers. */
export const headerVariable = (name: string): string => `head_${name.toLowerCase().replaceAll('-', '_')}`;

/** The headers that only the answer to OPTIONS has. */
export const preflightOnly = (): [name: string, value: string][] =>
  Object.entries(preflightHeaders(readMethods)).filter(([name]) => name !== 'Cache-Control' && !(name in openHeaders));

const headerMaps = ({ below }: RuleInput): string[] => {
  const root = literally(below);
  return [
    '# How long an answer may be reused, by status and by the file that is answered with.',
    ...map('"$status:$uri"', 'cache', [
      ['"~^204:"', quoted(preflightHeaders(readMethods)['Cache-Control'] ?? '')],
      ['"~^308:"', quoted(cacheControl.moved)],
      ['"~^404:"', quoted(cacheControl.missing)],
      ['"~^(?:4|5)"', quoted(cacheControl.none)],
      ...cacheRules.map(({ files, cache }): [string, string] => [
        pattern(`^\\d+:${root}/(?:${files.map(patternSource).join('|')})$`),
        quoted(cache),
      ]),
    ]),
    '# What scripts of any site may read.',
    ...map('$uri', 'origin', [
      ['default', '""'],
      [pattern(`^${root}/(?:${apiWords})(?:/|$)`), quoted(openHeaders['Access-Control-Allow-Origin'])],
      [
        pattern(`^${root}/(?:${openFiles.map(patternSource).join('|')})$`),
        quoted(openHeaders['Access-Control-Allow-Origin']),
      ],
    ]),
    '# What a 405 says is answered.',
    ...map('$uri', 'methods', [
      ['default', quoted(pageMethods)],
      [pattern(`^${root}/(?:${apiWords})(?:/|$)`), quoted(readMethods)],
    ]),
    ...preflightOnly().flatMap(([name, value]) =>
      map('$request_method', headerVariable(name), [
        ['default', '""'],
        ['OPTIONS', quoted(value)],
      ]),
    ),
  ];
};

const siteMaps = ({ below, site }: RuleInput): string[] => [
  '# The front page, or the landing document for programs that ask for JSON by its name.',
  ...map('$http_accept', 'front', [
    ['default', quoted(site ? '/index.html' : `/${documentPath.landing}`)],
    ['"~*text/html"', quoted(site ? '/index.html' : `/${documentPath.landing}`)],
    ['"~*application/json"', quoted(`/${documentPath.landing}`)],
  ]),
  ...map('$http_accept', 'missing', [
    ['default', site ? '@debdex_missing_page' : '@debdex_missing'],
    ...(site ? [['"~*text/html"', `${below}/404.html`] as const] : []),
  ]),
];

const chosenMaps = (): string[] => [
  ...chosenRoutes.flatMap(({ parameter, files }) => {
    const rows = Object.entries(files).flatMap(([value, file]): [string, string][] => {
      const code = `%${value.charCodeAt(0).toString(16)}`;
      return [[`"~*^(?:${literally(value)}|${code})$"`, quoted(`/${file}`)]];
    });
    return map(`$arg_${parameter}`, `chosen_${parameter}`, [['default', '""'], ...rows]);
  }),
  ...chosenRoutes.flatMap(({ parameter, sentences }) => [
    ...map('$args', `mistake_${parameter}`, [
      [pattern(`(?:^|&)${parameter}=.*&${parameter}=`), quoted(sentences.repeated)],
      [pattern(`(?:^|&)${parameter}=`), quoted(sentences.other)],
      ['default', quoted(sentences.missing)],
    ]),
    ...map('$args', `repeated_${parameter}`, [
      [pattern(`(?:^|&)${parameter}=.*&${parameter}=`), '1'],
      ['default', '""'],
    ]),
  ]),
];

const functionMaps = ({ site, functionUrl }: RuleInput): string[] => [
  '# Whether a page of a list is asked for, which the function answers.',
  ...namedRoutes.flatMap(({ paged }) =>
    paged.length === 0
      ? []
      : map('$args', 'paged', [
          ['default', '""'],
          [pattern(pagedQuery(paged)), '1'],
        ]),
  ),
  ...(functionUrl === undefined || !site
    ? []
    : [
        '# Whether the page of the search is asked something, which the function answers.',
        ...map('$args', 'searched', [
          ['default', '""'],
          [pattern(askedQuery), '1'],
        ]),
      ]),
];

// One map for each character, with a row for each number of its repetitions, because a row replaces all of them at
// once.
const replacementRows = ({ character, written }: Replacement): [string, string][] => {
  const code = `\\x${character.charCodeAt(0).toString(16)}`;
  return Array.from({ length: mostRepetitions }, (_, index) => {
    const parts = Array.from({ length: index + 2 }, () => `([^${code}]*)`);
    const result = parts.map((_, at) => `$${at + 1}`).join(written);
    return [`"~^${parts.join(code)}$"`, `"${result}"`];
  });
};

const encodingMaps = (): string[] =>
  replacements.flatMap((replacement, index) => {
    const source = index === 0 ? '$debdex_name' : `$debdex_encoding${index - 1}`;
    return map(source, `encoding${index}`, [['default', source], ...replacementRows(replacement)]);
  });

// A map compares texts without regard to letter case, but identifiers are case-sensitive. Regular expressions
// distinguish them; the digits of an escape may be of either case.
const exactRows = (input: RuleInput): [string, string][] =>
  exactNames(input).flatMap(([address, file]) =>
    withAndWithoutRoot(input.below, address).map((one): [string, string] => [
      pattern(`^${literally(one).replaceAll(/%[0-9A-F]{2}/g, '(?i:$&)')}$`),
      quoted(`/${file}`),
    ]),
  );

const nameMaps = (input: RuleInput): string[] => [
  '# Identifiers that the maps below cannot encode.',
  ...map('$debdex_asked', 'exact', [['default', '""'], ...exactRows(input)]),
  '# Identifiers as they stand in the names of files.',
  ...map('$debdex_name', 'encoded', [
    ['default', `$debdex_encoding${replacements.length - 1}`],
    ['"~^[a-z0-9.+/-]*$"', '$debdex_name'],
  ]),
  ...encodingMaps(),
];

/** The lines of the block "http". */
export const httpMaps = (input: RuleInput): string[] => [
  ...requestMaps(),
  ...headerMaps(input),
  ...siteMaps(input),
  ...chosenMaps(),
  ...functionMaps(input),
  ...nameMaps(input),
];
