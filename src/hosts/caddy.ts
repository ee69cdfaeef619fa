import {
  cacheControl,
  closedHeaders,
  openHeaders,
  pageMethods,
  preflightHeaders,
  readMethods,
} from '../contract/answer-headers.ts';
import { askedQuery } from '../contract/asked-query.ts';
import { emptySegment, otherMethod } from '../contract/errors.ts';
import { cacheRules, contentTypes, openFiles, patternSource, unknownType } from '../contract/file-headers.ts';
import { apiRoot, documentPath } from '../contract/paths.ts';
import { searchPage } from '../contract/search-page.ts';
import { replacements } from './encoding.ts';
import {
  anyOf,
  apiWords,
  computedPattern,
  errorBody,
  exactNames,
  fixedAddresses,
  type HostRules,
  indent,
  literally,
  noFunction,
  origin,
  type RuleInput,
  withAndWithoutRoot,
} from './host-rules.ts';
import {
  type ChosenRoute,
  chosenRoutes,
  computedRoutes,
  fixedRoutes,
  namedRoutes,
  namePattern,
  olderRoutes,
  pagedQuery,
} from './routes.ts';

// Caddy 2.6 or later, without plugins. The route goes one way: refusals, what the function answers, then the file for
// an address, and finally its headers. `handle` blocks beside each other exclude each other.

const indented = (lines: readonly string[]): string[] => indent(lines, '\t');
const block = (head: string, lines: readonly string[]): string[] => [`${head} {`, ...indented(lines), '}'];
// Inside `handle` alone, Caddy would reorder the directives.
const handle = (matcher: string, lines: readonly string[]): string[] =>
  block(matcher === '' ? 'handle' : `handle @${matcher}`, block('route', lines));
const quoted = (text: string): string => `"${text.replaceAll('"', '\\"')}"`;
const raw = (text: string): string => `\`${text}\``;
const headers = (values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).map(([name, value]) => `header ${name} ${quoted(value)}`);
const hexOf = (character: string): string => character.charCodeAt(0).toString(16);

const answer = (
  status: 400 | 404 | 405 | 501 | 503,
  error?: string,
  more: Readonly<Record<string, string>> = {},
): string[] => [
  ...headers({
    ...openHeaders,
    'Cache-Control': status === 404 ? cacheControl.missing : cacheControl.none,
    'Content-Type': 'application/json',
    ...more,
  }),
  // Caddy's templates write the time. They have to be told the content type.
  ...block('templates', ['mime application/json']),
  `respond ${raw(errorBody(status, error, '{{(now.UTC).Format "2006-01-02T15:04:05.000Z"}}'))} ${status}`,
];

/** After how many seconds a restarting function answers again. */
const retryAfter = '5';

const preflight = (methods: string): string[] => handle('ask', [...headers(preflightHeaders(methods)), 'respond 204']);

const refuse = (matcher: string, methods: string): string[] =>
  handle(matcher, answer(405, otherMethod(methods), { Allow: methods }));
const refuseOthers = (): string[] => refuse('other', readMethods);

const handOn = (functionUrl: string, below: string): string[] => [
  // As requested, with the path of the publication, which the function removes itself.
  ...(below === '' ? [] : [`rewrite * ${below}{uri}`]),
  ...block(`reverse_proxy ${functionUrl}`, [
    // Caddy itself leaves out what proxies in front of it say, so that behind one all clients would be one.
    'header_up X-Forwarded-For "{http.request.header.X-Forwarded-For}, {remote_host}"',
    ...(functionUrl.startsWith('https:') ? ['header_up Host {upstream_hostport}'] : []),
    // Caddy itself waits for ever for one that stands still. The function takes less.
    ...block('transport http', ['response_header_timeout 30s']),
  ]),
];

/** What the function answers, and what is said without it. */
const handleComputed = (matcher: string, methods: string, { functionUrl, below }: RuleInput): string[] =>
  handle(
    matcher,
    functionUrl === undefined
      ? [...preflight(methods), ...handle('', answer(501, noFunction))]
      : handOn(functionUrl, below),
  );

const computed = (input: RuleInput): string[] =>
  computedRoutes.flatMap(({ address, methods }, index) => [
    `@computed${index} path_regexp ${raw(`^/(?:${apiRoot}/)?${computedPattern(address)}$`)}`,
    ...handleComputed(`computed${index}`, methods, input),
  ]);

const older = (input: RuleInput): string[] =>
  olderRoutes.flatMap(({ folder, files }, index) => [
    ...block(`@older${index}`, [
      `path_regexp ${raw(`^${literally(folder)}(?:/.*)?$`)}`,
      ...files.map((file) => `not path /${file}`),
    ]),
    ...handleComputed(`older${index}`, readMethods, input),
  ]);

const exactPath = (addresses: readonly string[]): string => `path_regexp ${raw(`^(?:${anyOf(addresses)})$`)}`;

// A regular expression is asked of the path as it reads. As it was sent, a path is compared only by `path`, which is given
// too where a slash is part of a name; by itself it would disregard letter case, and take whatever begins so.
const exactName = (address: string): string[] => [
  `path_regexp ${raw(`^${literally(decodeURIComponent(address)).replaceAll('`', String.raw`\x60`)}$`)}`,
  ...(address.includes('%2F') ? [`path ${address}`] : []),
];

/** Pages of lists, which the function answers. Without it the whole list is the answer. */
const paged = ({ functionUrl, below }: RuleInput): string[] =>
  functionUrl === undefined
    ? []
    : namedRoutes.flatMap((route, index) => {
        const [before, after] = route.address;
        if (route.paged.length === 0) return [];
        const address = `^/(?:${apiRoot}/)?${literally(before.slice(1))}${namePattern(route, literally)}${literally(after)}$`;
        return [
          ...block(`@paged${index}`, [
            'method GET HEAD',
            `path_regexp ${raw(address)}`,
            `expression ${raw(`{query}.matches('${pagedQuery(route.paged)}')`)}`,
          ]),
          ...handle(`paged${index}`, handOn(functionUrl, below)),
        ];
      });

/** The search page with a query. */
const searched = ({ functionUrl, below, site: hasSite }: RuleInput): string[] =>
  functionUrl === undefined || !hasSite
    ? []
    : [
        ...block('@searched', [
          'method GET HEAD',
          `path /${searchPage.path}`,
          `expression ${raw(`{query}.matches('${askedQuery}')`)}`,
        ]),
        ...handle('searched', handOn(functionUrl, below)),
      ];

/** The same page without results, while the function is unavailable. Its scripts then search by themselves. */
const searchedInVain = ({ folder, below, site: hasSite }: RuleInput): string[] =>
  hasSite
    ? [
        // A single expression: of two in a matcher, Caddy keeps one, and which one depends on its version.
        `@vain expression ${raw(`{http.error.status_code} in [502, 504] && {http.request.orig_uri.path} == '${below}/${searchPage.path}'`)}`,
        ...handle('vain', [
          `root * ${quoted(folder)}`,
          `rewrite * /${searchPage.file}`,
          ...fileHeaders(),
          // Otherwise the status would be that of the error.
          ...fileServer('status 200'),
        ]),
      ]
    : [];

/**
 * The answers while the function is unavailable or restarts. They are all here, because Caddy uses only the first such
 * block of a site.
 */
const away = (input: RuleInput): string[] =>
  input.functionUrl === undefined
    ? []
    : block('handle_errors', [
        ...searchedInVain(input),
        `@away expression ${raw(`{http.error.status_code} in [502, 503, 504]${input.below === '' ? '' : ` && {http.request.orig_uri.path}.startsWith('${input.below}/')`}`)}`,
        ...handle('away', answer(503, undefined, { 'Retry-After': retryAfter })),
      ]);

const chosen = ({ address, parameter, files, sentences }: ChosenRoute): string[] => [
  `@${parameter} ${exactPath(withAndWithoutRoot('', address))}`,
  ...handle(`${parameter}`, [
    ...preflight(readMethods),
    ...refuseOthers(),
    `@repeated expression ${raw(`{query}.matches('(^|&)${parameter}=.*&${parameter}=')`)}`,
    ...handle('repeated', answer(400, sentences.repeated)),
    ...Object.entries(files).flatMap(([value, file], index) => [
      `@value${index} expression ${raw(`{query.${parameter}} == '${value}'`)}`,
      ...handle(`value${index}`, [`rewrite * /${file}`, ...sendFile()]),
    ]),
    `@given expression ${raw(`{query}.matches('(^|&)${parameter}=')`)}`,
    ...handle('given', answer(400, sentences.other)),
    ...handle('', answer(400, sentences.missing)),
  ]),
];

// Caddy replaces in the address as it was sent, in which any character may be percent-encoded. Characters that stay as
// they are come first, so that the digits of an escape are not taken for capitals of a name.
const encode = (): string[] => [
  ...['+', '-', '.'].map((character) => `uri path_regexp ${raw(`(?i:%${hexOf(character)})`)} ${character}`),
  ...replacements.map(({ character, written }) => {
    const code = hexOf(character);
    // A percent sign in an identifier is always sent encoded, so every "%" begins an escape.
    const plain = character === '%' ? '' : `|${/\w/.test(character) ? character : `\\x${code}`}`;
    return `uri path_regexp ${raw(`(?i:%${code})${plain}`)} ${written}`;
  }),
];

// With the compressed copies that a build with --precompress writes.
const fileServer = (...more: string[]): string[] => block('file_server', ['precompressed br gzip', ...more]);

// Sends the chosen file if it exists, else nothing.
const sendFile = (): string[] => [
  '@lost not file',
  ...handle('lost', answer(404)),
  ...handle('', [...fileHeaders(), ...fileServer()]),
];

/** What Caddy needs to know of each file: its type, how long it may be reused, and who may read it. */
const fileHeaders = (): string[] => [
  ...headers({ 'X-Content-Type-Options': openHeaders['X-Content-Type-Options'], 'Content-Type': unknownType }),
  ...[...Map.groupBy(Object.entries(contentTypes), ([, type]) => type)].flatMap(([type, endings], index) => [
    `@type${index} path ${endings.map(([ending]) => `*.${ending}`).join(' ')}`,
    `header @type${index} Content-Type ${quoted(type)}`,
  ]),
  ...[...cacheRules]
    .reverse()
    .flatMap(({ files, cache }, index) => [
      `@cache${index} path_regexp ${raw(`^/(?:${files.map(patternSource).join('|')})$`)}`,
      `header @cache${index} Cache-Control ${quoted(cache)}`,
    ]),
  `@open path_regexp ${raw(`^/(?:${openFiles.map(patternSource).join('|')})$`)}`,
  `header @open Access-Control-Allow-Origin ${quoted(openHeaders['Access-Control-Allow-Origin'])}`,
];

const api = (input: RuleInput): string[] => [
  ...preflight(readMethods),
  ...refuseOthers(),
  ...handle('', [
    ...Object.entries(fixedRoutes).flatMap(([address, file], index) => [
      `@fixed${index} path ${fixedAddresses('', address).join(' ')}`,
      `rewrite @fixed${index} /${file}`,
    ]),
    `@rootless not path /${apiRoot}/*`,
    `rewrite @rootless /${apiRoot}{uri}`,
    ...exactNames(input).flatMap(([address, file], index) => [
      ...block(`@exact${index}`, exactName(`/${apiRoot}${address}`)),
      `rewrite @exact${index} /${file}`,
    ]),
    ...namedRoutes.flatMap((route, index) => {
      const {
        address: [before, after],
        file: [, fileAfter],
      } = route;
      const names = namePattern(route, literally);
      return [
        ...block(`@named${index}`, [
          `path_regexp ${raw(`^/${apiRoot}${literally(before)}${names}${literally(after)}$`)}`,
          'not file',
        ]),
        ...block(`route @named${index}`, [...encode(), `rewrite * {path}${fileAfter.slice(after.length)}`]),
      ];
    }),
    ...sendFile(),
  ]),
];

const site = (input: RuleInput): string[] => {
  const json = answer(404, undefined, { Vary: 'Accept' });
  const page = handle('page', [
    'rewrite * /404.html',
    ...headers({ 'X-Content-Type-Options': openHeaders['X-Content-Type-Options'], Vary: 'Accept' }),
    ...headers({ 'Cache-Control': cacheControl.missing, 'Content-Type': contentTypes.html ?? '' }),
    ...fileServer('status 404'),
  ]);
  const missing = [...(input.site ? page : []), ...handle('', json)];
  return [
    // Caddy would answer OPTIONS with the file.
    ...refuse('unread', pageMethods),
    '@hidden path */.*',
    ...handle('hidden', missing),
    ...block('@json', [
      'path /',
      'header_regexp Accept (?i)application/json',
      'not header_regexp Accept (?i)text/html',
    ]),
    ...handle('json', [`rewrite * /${documentPath.landing}`, 'header Vary Accept', ...fileHeaders(), ...fileServer()]),
    '@front path /',
    ...handle('front', [
      `rewrite * /${input.site ? 'index.html' : documentPath.landing}`,
      'header Vary Accept',
      ...fileHeaders(),
      ...fileServer(),
    ]),
    ...block('@index', ['path */', 'file {path}index.html']),
    ...handle('index', ['rewrite * {path}index.html', ...fileHeaders(), ...fileServer()]),
    ...block('@folder', ['not path */', 'file {path}/index.html']),
    ...handle('folder', [
      ...headers({ ...closedHeaders, 'Cache-Control': cacheControl.moved }),
      "@asked expression `{query} != ''`",
      'redir @asked {http.request.orig_uri.path}/?{query} 308',
      'redir {http.request.orig_uri.path}/ 308',
    ]),
    ...block('@file', ['not path */', 'file']),
    ...handle('file', [...fileHeaders(), ...fileServer()]),
    ...handle('', missing),
  ];
};

const routeLines = (input: RuleInput): string[] => [
  `root * ${quoted(input.folder)}`,
  // Caddy would compress the part of a file that was asked for, and whoever joins it to another reads neither.
  '@coded header_regexp Accept-Encoding (?i)gzip|zstd',
  'request_header @coded -Range',
  'encode zstd gzip',
  ...block('@ask', ['method OPTIONS']),
  ...block('@other', ['not method GET HEAD OPTIONS']),
  ...block('@unread', ['not method GET HEAD']),
  '@page header_regexp Accept (?i)text/html',
  ...block('@malformed', [`path_regexp ${raw(`^/(?:${apiWords})/(?:.*/)?$`)}`, `not path /${apiRoot}/`]),
  ...handle('malformed', answer(400, emptySegment)),
  `@empty expression ${raw("{http.request.orig_uri.path}.contains('//')")}`,
  ...handle('empty', answer(400, emptySegment)),
  ...computed(input),
  ...older(input),
  ...paged(input),
  ...searched(input),
  ...chosenRoutes.flatMap(chosen),
  `@api path_regexp ${raw(`^/(?:${apiWords})(?:/|$)`)}`,
  ...handle('api', api(input)),
  ...handle('', site(input)),
];

/** Rules for Caddy. */
export const caddyRules = (input: RuleInput): HostRules => {
  const { base, below } = input;
  const { host } = new URL(base);
  const lines =
    below === ''
      ? block('route', routeLines(input))
      : [`redir ${below} ${below}/ 308`, ...block(`handle_path ${below}/*`, block('route', routeLines(input)))];
  return {
    files: {
      'debdex.caddy': [`# ${origin('caddy')}`, '# For the block of a site.', ...lines, ...away(input), ''].join('\n'),
      Caddyfile: [`# ${origin('caddy')}`, ...block(host, ['import debdex.caddy']), ''].join('\n'),
    },
    next: 'Run caddy validate in the folder, then caddy run there, or import debdex.caddy into the block of a site of yours.',
  };
};
