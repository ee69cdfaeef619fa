import { cacheControl, openHeaders } from '../contract/answer-headers.ts';
import { type ErrorStatus, emptySegment, otherMethod, tooManyAtOnce, unreadable } from '../contract/errors.ts';
import { contentTypes, isCompressible, unknownType } from '../contract/file-headers.ts';
import { apiRoot } from '../contract/paths.ts';
import { searchPage } from '../contract/search-page.ts';
import {
  apiWords,
  computedPattern,
  errorBody,
  fixedAddresses,
  literally,
  noFunction,
  type RuleInput,
  withAndWithoutRoot,
} from './host-rules.ts';
import { headerVariable, preflightOnly } from './nginx-maps.ts';
import { indented, location, quoted } from './nginx-syntax.ts';
import { chosenRoutes, computedRoutes, fixedRoutes, namedRoutes, namePattern, olderRoutes } from './routes.ts';

// The locations of a block "server", in the order in which nginx tries them: refusals, what one file answers, what the
// function answers, documents, and the site.

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
    '# Twins that end in .br: write "brotli_static on;" into the block "http" where the module ngx_brotli is loaded.',
    'gzip_vary on;',
    'gzip_proxied any;',
    'gzip_min_length 1400;',
    `gzip_types ${compressed.join(' ')};`,
  ];
};

const fileHeaders = (): string[] => [
  'add_header Cache-Control $debdex_cache always;',
  'add_header Access-Control-Allow-Origin $debdex_origin always;',
  `add_header X-Content-Type-Options ${openHeaders['X-Content-Type-Options']} always;`,
];

const preflightHeaderLines = (): string[] =>
  preflightOnly().map(([name]) => `add_header ${name} $debdex_${headerVariable(name)} always;`);

const preflight = (): string[] => [
  ...preflightHeaderLines(),
  'if ($debdex_method = ask) { return 204; }',
  'if ($debdex_method = other) { return 405; }',
];

const errorLocation = (match: string, status: ErrorStatus, error?: string, headers: readonly string[] = []): string[] =>
  location(match, [
    'types { }',
    'default_type application/json;',
    'charset off;',
    `add_header Cache-Control ${quoted(status === 404 ? cacheControl.missing : cacheControl.none)} always;`,
    ...Object.entries(openHeaders).map(([header, value]) => `add_header ${header} ${quoted(value)} always;`),
    ...headers,
    `return ${status} '${errorBody(status, error, '$debdex_now')}';`,
  ]);

// A request that nginx cannot read has no path, so a named location would answer 500.
const notHttp = '/.debdex-not-http';
const addressTooLong = '/.debdex-address-too-long';
const headersTooLarge = '/.debdex-headers-too-large';
// The limits of the recipe. A location with any `error_page` of its own inherits none.
const beyondLimits = ['error_page 413 @debdex_body_too_large;', 'error_page 429 @debdex_too_many;'];
const malformed = [...beyondLimits, 'error_page 400 @debdex_malformed;'];
const otherMethods = 'error_page 405 @debdex_method_not_allowed;';
const missingAndOtherMethod = ['error_page 404 @debdex_missing;', otherMethods];

// As long as the server accepts, which is more than the 8k of nginx.
const longestAddress = '72k';

const proxied = (functionUrl: string): string[] => [
  `proxy_pass ${functionUrl};`,
  'proxy_http_version 1.1;',
  'proxy_set_header Connection "";',
  'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
  'proxy_ssl_server_name on;',
];

// If a location hands on a request by a status, nginx ignores the `error_page` for an error of the proxy, except with
// this.
const errorsOfProxy = 'recursive_error_pages on;';

// nginx would answer OPTIONS for a missing file with 404.
const refusePageMethods = 'if ($debdex_method != read) { return 405; }';

// If the function is unavailable, the scripts of the page search by themselves.
const searchLocations = (below: string, functionUrl: string): string[] => [
  ...location(`= ${below}/${searchPage.path}`, [
    ...fileHeaders(),
    refusePageMethods,
    ...beyondLimits,
    otherMethods,
    errorsOfProxy,
    'error_page 418 = @debdex_search;',
    'if ($debdex_searched) { return 418; }',
    `rewrite ^ ${below}/${searchPage.file} break;`,
  ]),
  ...location('@debdex_search', [
    ...proxied(functionUrl),
    ...beyondLimits,
    'error_page 502 504 = @debdex_search_file;',
  ]),
  ...location('@debdex_search_file', [...fileHeaders(), `rewrite ^ ${below}/${searchPage.file} break;`]),
];

const settings = ({ functionUrl, site }: RuleInput): string[] => [
  'merge_slashes off;',
  'server_tokens off;',
  'absolute_redirect off;',
  'etag on;',
  ...typeLines(),
  `error_page 400 ${notHttp};`,
  `error_page 414 ${addressTooLong};`,
  // nginx has its own status for this, which it sends as 400.
  `error_page 494 =431 ${headersTooLarge};`,
  ...beyondLimits,
  ...missingAndOtherMethod,
  'error_page 501 @debdex_no_function;',
  // An unused status, by which a location hands a request on to another.
  ...(functionUrl === undefined ? [] : ['error_page 418 = @debdex_function;']),
  '# A multi lookup stands in the address as a whole.',
  `large_client_header_buffers 4 ${longestAddress};`,
  `set $debdex_sentence ${quoted(emptySegment)};`,
  ...errorLocation(`= ${notHttp}`, 400, unreadable[400], ['internal;']),
  ...errorLocation(`= ${addressTooLong}`, 414, unreadable[414], ['internal;']),
  ...errorLocation(`= ${headersTooLarge}`, 431, unreadable[431], ['internal;']),
  ...errorLocation('@debdex_body_too_large', 413, 'The body of the request is too large'),
  ...errorLocation('@debdex_too_many', 429, tooManyAtOnce, ['add_header Retry-After 1 always;']),
  ...errorLocation('@debdex_malformed', 400, '$debdex_sentence'),
  ...errorLocation('@debdex_missing', 404),
  ...(site ? errorLocation('@debdex_missing_page', 404, undefined, ['add_header Vary Accept always;']) : []),
  ...errorLocation('@debdex_method_not_allowed', 405, otherMethod('$debdex_methods'), [
    'add_header Allow $debdex_methods always;',
  ]),
  ...errorLocation('@debdex_no_function', 501, noFunction),
  ...(functionUrl === undefined ? [] : location('@debdex_function', proxied(functionUrl))),
];

const refusedLocations = (root: string): string[] => [
  '# What is no address.',
  ...location('~ //', [...malformed, 'return 400;']),
  ...location(`~ ^${root}/(?:${apiWords})(?:/.*)?/$`, [...malformed, 'return 400;']),
];

// After the locations with strangers' names, which may begin with a dot.
const hiddenLocations = (root: string): string[] => [
  '# What nobody may ask for.',
  ...location(`~ ^${root}/(?:${apiWords})/(?:.*/)?\\.(?!well-known/)`, ['return 404;']),
  ...location('~ /\\.(?!well-known/)', [...beyondLimits, 'error_page 404 $debdex_missing;', 'return 404;']),
];

const fixedLocations = (below: string): string[] => [
  '# Addresses that one file answers.',
  ...Object.entries(fixedRoutes).flatMap(([address, file]) =>
    fixedAddresses(below, address)
      .filter((one) => one !== `${below}/${file}`)
      .flatMap((one) => location(`= ${one}`, [`rewrite ^ ${below}/${file} last;`])),
  ),
];

const chosenLocations = (below: string): string[] => [
  '# Addresses whose file a parameter chooses.',
  ...chosenRoutes.flatMap(({ address, parameter }) =>
    withAndWithoutRoot(below, address).flatMap((one) =>
      location(`= ${one}`, [
        ...fileHeaders(),
        ...preflight(),
        ...malformed,
        ...missingAndOtherMethod,
        `set $debdex_sentence $debdex_mistake_${parameter};`,
        `if ($debdex_repeated_${parameter}) { return 400; }`,
        `if ($debdex_chosen_${parameter} = "") { return 400; }`,
        `rewrite ^ ${below}$debdex_chosen_${parameter} break;`,
      ]),
    ),
  ),
];

/** The API below the path of the publication, as a regular expression, with and without its root. */
const apiPattern = (root: string): string => `${root}/(?:${apiRoot}/)?`;

const computedLocations = (root: string, functionUrl: string | undefined): string[] => {
  const answerComputed =
    functionUrl === undefined ? ['if ($debdex_method = ask) { return 204; }', 'return 501;'] : proxied(functionUrl);
  const preflightOfComputed = functionUrl === undefined ? [...fileHeaders(), ...preflightHeaderLines()] : [];
  return [
    functionUrl === undefined ? '# What only the function answers, and there is none.' : '# What the function answers.',
    ...computedRoutes.flatMap(({ address }) =>
      location(`~ ^${apiPattern(root)}${computedPattern(address)}$`, [...preflightOfComputed, ...answerComputed]),
    ),
    ...olderRoutes.flatMap(({ folder, files }) => {
      const others = files.map((file) => `(?!${literally(`/${file}`.slice(folder.length))}$)`).join('');
      return location(`~ ^${root}${literally(folder)}(?:${others}/.*)?$`, [...preflightOfComputed, ...answerComputed]);
    }),
  ];
};

const documentLocations = (root: string, { below, functionUrl }: RuleInput): string[] => [
  '# Documents under the names of their files, what tells of generations, and documents by what is asked for.',
  ...location(`~ ^${root}/jailbreak/.+\\.json$`, [`rewrite ^${root}/(.*)$ ${below}/${apiRoot}/$1 last;`]),
  ...namedRoutes.flatMap((route) => {
    const {
      address: [before, after],
      file: [fileBefore, fileAfter],
      paged,
    } = route;
    const names = namePattern(route, literally);
    return location(`~ ^${apiPattern(root)}${literally(before.slice(1))}(?<debdex_name>${names})${literally(after)}$`, [
      ...fileHeaders(),
      ...preflight(),
      ...(paged.length > 0 && functionUrl !== undefined ? [errorsOfProxy, 'if ($debdex_paged) { return 418; }'] : []),
      'if ($debdex_exact) { rewrite ^ $debdex_below$debdex_exact break; }',
      `try_files $uri ${below}/${fileBefore}$debdex_encoded${fileAfter} =404;`,
    ]);
  }),
  ...hiddenLocations(root),
  ...location(`~ ^${root}/(?:${apiRoot}|jailbreak)(?:/|$)`, [
    ...fileHeaders(),
    ...preflight(),
    'if ($debdex_exact) { rewrite ^ $debdex_below$debdex_exact break; }',
    'try_files $uri =404;',
  ]),
];

const siteLocations = ({ below, site, functionUrl }: RuleInput): string[] => [
  '# The site.',
  ...(functionUrl === undefined || !site ? [] : searchLocations(below, functionUrl)),
  ...location(`= ${below}/`, [
    ...fileHeaders(),
    'add_header Vary Accept;',
    refusePageMethods,
    `rewrite ^ ${below}$debdex_front break;`,
  ]),
  ...(below === '' ? [] : location(`= ${below}`, [`return 308 ${below}/;`])),
  ...location(`${below}/`, [
    ...fileHeaders(),
    refusePageMethods,
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

/** The lines of a block "server". */
export const serverLines = (input: RuleInput): string[] => {
  const { below, functionUrl } = input;
  const root = literally(below);
  return [
    ...settings(input),
    '',
    ...refusedLocations(root),
    '',
    ...fixedLocations(below),
    '',
    ...chosenLocations(below),
    '',
    ...computedLocations(root, functionUrl),
    '',
    ...documentLocations(root, input),
    '',
    ...siteLocations(input),
  ];
};
