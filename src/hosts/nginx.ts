import { cacheControl, openHeaders, preflightHeaders, readMethods } from '../contract/answer-headers.ts';
import { phrases } from '../contract/errors.ts';
import {
  cacheRules,
  contentTypes,
  isCompressible,
  openFiles,
  patternSource,
  unknownType,
} from '../contract/file-headers.ts';
import { apiRoot, documentPath } from '../contract/paths.ts';
import { askedQuery, searchPage } from '../contract/search-page.ts';
import { mostRepetitions, type Replacement, replacements } from './encoding.ts';
import {
  emptySegment,
  exactNames,
  fixedAddresses,
  type HostRules,
  indent,
  literally,
  noFunction,
  origin,
  otherMethod,
  type RuleInput,
  withAndWithoutRoot,
} from './host-rules.ts';
import {
  chosenRoutes,
  computedRoutes,
  fixedRoutes,
  namedRoutes,
  namePattern,
  olderRoutes,
  pagedQuery,
  rootlessWords,
} from './routes.ts';

// nginx 1.18 or later, without any module that distributions leave out. Everything hangs on three things: regular
// expressions that find the name in an address, a chain of maps that encodes it, and `try_files`. Headers are variables,
// because a location that sets one header of its own inherits none.

const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
const pattern = (text: string): string => `"~${text.replaceAll('"', '\\"')}"`;
const indented = (lines: readonly string[]): string[] => indent(lines, '    ');

const map = (source: string, target: string, rows: readonly (readonly [string, string])[]): string[] => [
  `map ${source} $debdex_${target} {`,
  ...indented(rows.map(([value, result]) => `${value} ${result};`)),
  '}',
];

const splitType = (type: string): readonly [string, boolean] => {
  const [plain = '', ...parameters] = type.split(/;\s*/);
  return [plain, parameters.length > 0];
};

const typeLines = (): string[] => {
  const endings = Map.groupBy(Object.entries(contentTypes), ([, type]) => splitType(type)[0]);
  const withCharset = [...endings].flatMap(([type, [first]]) => (splitType(first?.[1] ?? '')[1] ? [type] : []));
  const compressed = [...endings.keys()].filter((type) => isCompressible(type) && type !== 'text/html');
  return [
    'types {',
    ...indented([...endings].map(([type, all]) => `${type} ${all.map(([ending]) => ending).join(' ')};`)),
    '}',
    `default_type ${unknownType};`,
    'charset utf-8;',
    `charset_types ${withCharset.filter((type) => type !== 'text/html').join(' ')};`,
    'gzip on;',
    'gzip_static on;',
    '# Where the module ngx_brotli is loaded, for the twins that end in .br:',
    '# brotli_static on;',
    'gzip_vary on;',
    'gzip_proxied any;',
    'gzip_min_length 1400;',
    `gzip_types ${compressed.join(' ')};`,
  ];
};

// One map for each character, with a row for each number of its repetitions: a row writes all of them at once.
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

// Texts that a map compares are alike in capitals or not, which identifiers are not; regular expressions tell them apart.
const exactRows = (input: RuleInput): [string, string][] =>
  exactNames(input).flatMap(([address, file]) =>
    withAndWithoutRoot(input.below, address).map((one): [string, string] => [
      pattern(`^${literally(one)}$`),
      quoted(`/${file}`),
    ]),
  );

const alternatives = (texts: readonly string[]): string => texts.map(literally).join('|');

const httpMaps = (input: RuleInput): string[] => {
  const { below, site } = input;
  const root = literally(below);
  const apiWords = `${apiRoot}|${alternatives(rootlessWords)}`;
  const exact = exactRows(input);
  const ranks = chosenRoutes.flatMap(({ parameter, files }) => {
    const rows = Object.entries(files).flatMap(([value, file]): [string, string][] => {
      const code = `%${value.charCodeAt(0).toString(16)}`;
      return [[`"~*^(?:${literally(value)}|${code})$"`, quoted(`/${file}`)]];
    });
    return map(`$arg_${parameter}`, `chosen_${parameter}`, [['default', '""'], ...rows]);
  });
  const mistakes = chosenRoutes.flatMap(({ parameter, sentences }) => [
    ...map('$args', `mistake_${parameter}`, [
      [pattern(`(?:^|&)${parameter}=.*&${parameter}=`), quoted(sentences.repeated)],
      [pattern(`(?:^|&)${parameter}=`), quoted(sentences.other)],
      ['default', quoted(sentences.missing)],
    ]),
    ...map('$args', `repeated_${parameter}`, [
      [pattern(`(?:^|&)${parameter}=.*&${parameter}=`), '1'],
      ['default', '""'],
    ]),
  ]);
  return [
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
    ...Object.entries(preflightHeaders(readMethods)).flatMap(([name, value]) =>
      name === 'Cache-Control' || name in openHeaders
        ? []
        : map('$request_method', headerVariable(name), [
            ['default', '""'],
            ['OPTIONS', quoted(value)],
          ]),
    ),
    '# The front page, or the landing document for programs that ask for JSON by its name.',
    ...map('$http_accept', 'front', [
      ['default', quoted(site ? '/index.html' : `/${documentPath.landing}`)],
      ['"~*text/html"', quoted(site ? '/index.html' : `/${documentPath.landing}`)],
      ['"~*application/json"', quoted(`/${documentPath.landing}`)],
    ]),
    ...map('$http_accept', 'missing', [
      ['default', '@debdex_missing'],
      ...(site ? [['"~*text/html"', `${below}/404.html`] as const] : []),
    ]),
    ...ranks,
    ...mistakes,
    '# Whether a page of a list is asked for, which the function answers.',
    ...namedRoutes.flatMap(({ paged }) =>
      paged.length === 0
        ? []
        : map('$args', 'paged', [
            ['default', '""'],
            [pattern(pagedQuery(paged)), '1'],
          ]),
    ),
    ...(input.functionUrl === undefined || !site
      ? []
      : [
          '# Whether the page of the search is asked something, which the function answers.',
          ...map('$args', 'searched', [
            ['default', '""'],
            [pattern(askedQuery), '1'],
          ]),
        ]),
    '# Identifiers that the maps below cannot encode.',
    ...map('$debdex_asked', 'exact', [['default', '""'], ...exact]),
    '# Identifiers as they stand in the names of files.',
    ...map('$debdex_name', 'encoded', [
      ['default', `$debdex_encoding${replacements.length - 1}`],
      ['"~^[a-z0-9.+/-]*$"', '$debdex_name'],
    ]),
    ...encodingMaps(),
  ];
};

const headerVariable = (name: string): string => `head_${name.toLowerCase().replaceAll('-', '_')}`;

const fileHeaders = (): string[] => [
  'add_header Cache-Control $debdex_cache always;',
  'add_header Access-Control-Allow-Origin $debdex_origin always;',
  `add_header X-Content-Type-Options ${openHeaders['X-Content-Type-Options']} always;`,
];

const preflight = (): string[] => [
  ...Object.keys(preflightHeaders(readMethods))
    .filter((name) => name !== 'Cache-Control' && !(name in openHeaders))
    .map((name) => `add_header ${name} $debdex_${headerVariable(name)} always;`),
  'if ($debdex_method = ask) { return 204; }',
  'if ($debdex_method = other) { return 405; }',
];

const errorLocation = (
  name: string,
  status: 400 | 404 | 405 | 501,
  error?: string,
  headers: readonly string[] = [],
): string[] => [
  `location @debdex_${name} {`,
  ...indented([
    'types { }',
    'default_type application/json;',
    'charset off;',
    `add_header Cache-Control ${quoted(status === 404 ? cacheControl.missing : cacheControl.none)} always;`,
    ...Object.entries(openHeaders).map(([header, value]) => `add_header ${header} ${quoted(value)} always;`),
    ...headers,
    `return ${status} '{"message":"${status} ${phrases[status]}",${error === undefined ? '' : `"error":"${error}",`}"date":"$debdex_now"}';`,
  ]),
  '}',
];

const location = (match: string, lines: readonly string[]): string[] => [
  `location ${match} {`,
  ...indented(lines),
  '}',
];

const proxied = (functionUrl: string): string[] => [
  `proxy_pass ${functionUrl};`,
  'proxy_http_version 1.1;',
  'proxy_set_header Connection "";',
  'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
  'proxy_ssl_server_name on;',
];

// Where the function is away, scripts of the page search by themselves.
const searchLocations = (below: string, functionUrl: string): string[] => [
  ...location(`= ${below}/${searchPage.path}`, [
    ...fileHeaders(),
    'if ($debdex_method = other) { return 405; }',
    'error_page 405 @debdex_method_not_allowed;',
    // Else nginx would look for no page of the error that the proxy may make.
    'recursive_error_pages on;',
    'error_page 418 = @debdex_search;',
    'if ($debdex_searched) { return 418; }',
    `rewrite ^ ${below}/${searchPage.file} break;`,
  ]),
  ...location('@debdex_search', [...proxied(functionUrl), 'error_page 502 504 = @debdex_search_file;']),
  ...location('@debdex_search_file', [...fileHeaders(), `rewrite ^ ${below}/${searchPage.file} break;`]),
];

const computedPattern = (address: string): string =>
  literally(address)
    .replaceAll(/\\\{\w+\\\}/g, '[^/]+')
    .replace(/\\\/\\\*$/, '/.*');

const serverLines = (input: RuleInput): string[] => {
  const { below, site, functionUrl } = input;
  const root = literally(below);
  const api = `${root}/(?:${apiRoot}/)?`;
  const answerComputed =
    functionUrl === undefined ? ['if ($debdex_method = ask) { return 204; }', 'return 501;'] : proxied(functionUrl);
  const preflightOfComputed = functionUrl === undefined ? [...fileHeaders(), ...preflight().slice(0, -2)] : [];
  return [
    'merge_slashes off;',
    'server_tokens off;',
    'absolute_redirect off;',
    'etag on;',
    ...typeLines(),
    'error_page 400 @debdex_malformed;',
    'error_page 404 @debdex_missing;',
    'error_page 405 @debdex_method_not_allowed;',
    'error_page 501 @debdex_no_function;',
    // A status of no server, by which a location hands on to another.
    ...(functionUrl === undefined ? [] : ['error_page 418 = @debdex_function;']),
    `set $debdex_sentence ${quoted(emptySegment)};`,
    ...errorLocation('malformed', 400, '$debdex_sentence'),
    ...errorLocation('missing', 404),
    ...errorLocation('method_not_allowed', 405, otherMethod, [`add_header Allow ${quoted(readMethods)} always;`]),
    ...errorLocation('no_function', 501, noFunction),
    ...(functionUrl === undefined ? [] : location('@debdex_function', proxied(functionUrl))),
    '',
    '# What nobody may ask for, and what is no address.',
    ...location('~ //', ['return 400;']),
    ...location(`~ ^${root}/(?:${apiRoot}|${alternatives(rootlessWords)})(?:/.*)?/$`, ['return 400;']),
    ...location('~ /\\.(?!well-known/)', ['return 404;']),
    '',
    '# Addresses that one file answers.',
    ...Object.entries(fixedRoutes).flatMap(([address, file]) =>
      fixedAddresses(below, address)
        .filter((one) => one !== `${below}/${file}`)
        .flatMap((one) => location(`= ${one}`, [`rewrite ^ ${below}/${file} last;`])),
    ),
    '',
    '# Addresses whose file a parameter chooses.',
    ...chosenRoutes.flatMap(({ address, parameter }) =>
      withAndWithoutRoot(below, address).flatMap((one) =>
        location(`= ${one}`, [
          ...fileHeaders(),
          ...preflight(),
          `set $debdex_sentence $debdex_mistake_${parameter};`,
          `if ($debdex_repeated_${parameter}) { return 400; }`,
          `if ($debdex_chosen_${parameter} = "") { return 400; }`,
          `rewrite ^ ${below}$debdex_chosen_${parameter} break;`,
        ]),
      ),
    ),
    '',
    functionUrl === undefined ? '# What only the function answers, and there is none.' : '# What the function answers.',
    ...computedRoutes.flatMap(({ address }) =>
      location(`~ ^${api}${computedPattern(address).slice(2)}$`, [...preflightOfComputed, ...answerComputed]),
    ),
    ...olderRoutes.flatMap(({ folder, files }) => {
      const others = files.map((file) => `(?!${literally(`/${file}`.slice(folder.length))}$)`).join('');
      return location(`~ ^${root}${literally(folder)}(?:${others}/.*)?$`, [...preflightOfComputed, ...answerComputed]);
    }),
    '',
    '# Documents under the names of their files, what tells of generations, and documents by what is asked for.',
    ...location(`~ ^${root}/jailbreak/.+\\.json$`, [`rewrite ^${root}/(.*)$ ${below}/${apiRoot}/$1 last;`]),
    ...namedRoutes.flatMap((route) => {
      const {
        address: [before, after],
        file: [fileBefore, fileAfter],
        paged,
      } = route;
      const names = namePattern(route, literally);
      return location(`~ ^${api}${literally(before.slice(1))}(?<debdex_name>${names})${literally(after)}$`, [
        ...fileHeaders(),
        ...preflight(),
        ...(paged.length > 0 && functionUrl !== undefined ? ['if ($debdex_paged) { return 418; }'] : []),
        'if ($debdex_exact) { rewrite ^ $debdex_below$debdex_exact break; }',
        `try_files $uri ${below}/${fileBefore}$debdex_encoded${fileAfter} =404;`,
      ]);
    }),
    ...location(`~ ^${root}/(?:${apiRoot}|jailbreak)(?:/|$)`, [
      ...fileHeaders(),
      ...preflight(),
      'if ($debdex_exact) { rewrite ^ $debdex_below$debdex_exact break; }',
      'try_files $uri =404;',
    ]),
    '',
    '# The site.',
    ...(functionUrl === undefined || !site ? [] : searchLocations(below, functionUrl)),
    ...location(`= ${below}/`, [
      ...fileHeaders(),
      'add_header Vary Accept;',
      'if ($debdex_method = other) { return 405; }',
      `rewrite ^ ${below}$debdex_front break;`,
    ]),
    ...(below === '' ? [] : location(`= ${below}`, [`return 308 ${below}/;`])),
    ...location(`${below}/`, [
      ...fileHeaders(),
      'if ($debdex_method = other) { return 405; }',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of nginx
      'try_files $uri ${uri}index.html @debdex_folder;',
    ]),
    ...location('@debdex_folder', [
      ...fileHeaders(),
      'add_header Vary Accept always;',
      'if (-f $document_root$uri/index.html) { return 308 $debdex_asked/$is_args$args; }',
      'error_page 404 $debdex_missing;',
      'return 404;',
    ]),
    ...(site ? location(`= ${below}/404.html`, [...fileHeaders(), 'add_header Vary Accept always;']) : []),
  ];
};

/** Rules for nginx. */
export const nginxRules = (input: RuleInput): HostRules => {
  const { base, below, folder } = input;
  const { hostname } = new URL(base);
  const head = `# ${origin('nginx')}`;
  const parent = below === '' ? folder : undefined;
  const documentRoot = parent ?? '/srv/www';
  const placing =
    below === ''
      ? []
      : [`# The publication lies below a path: ${documentRoot}${below} must lead to ${folder}, as a link or a mount.`];
  return {
    files: {
      'debdex-http.conf': [head, '# For the block "http".', ...httpMaps(input), ''].join('\n'),
      'debdex-server.conf': [
        head,
        '# For a block "server", which says where its "root" is.',
        `set $debdex_below "${below}";`,
        ...serverLines(input),
        '',
      ].join('\n'),
      'debdex.conf': [
        head,
        '# A whole server, to be included in the block "http". TLS is yours to add.',
        'include debdex/debdex-http.conf;',
        'server {',
        ...indented([
          'listen 80;',
          `server_name ${hostname};`,
          ...placing,
          `root ${documentRoot};`,
          'include debdex/debdex-server.conf;',
        ]),
        '}',
        '',
      ].join('\n'),
    },
    next: 'Copy the folder to /etc/nginx/debdex, add "include debdex/debdex.conf;" to the block "http" of nginx.conf, and run nginx -t.',
  };
};
