import { closedHeaders, openHeaders } from '../contract/answer-headers.ts';
import { cacheRules, contentTypes, openFiles } from '../contract/file-headers.ts';
import { apiRoot, rootlessWords } from '../contract/paths.ts';
import { searchPage } from '../contract/search-page.ts';
import { type HostRules, origin, type RuleInput } from './host-rules.ts';
import { olderRoutes } from './routes.ts';
import { workerText } from './worker-text.ts';

/** Limits of Cloudflare: developers.cloudflare.com, "Headers", "Redirects" and "Functions: routing" of Pages. */
export const cloudflareLimits = { headerRules: 100, lineCharacters: 2000, routes: 100, routeCharacters: 100 } as const;

// The addresses that the worker answers itself. All others are assets, which need no run of it.
const workerPaths = ({ below, site, functionUrl }: RuleInput): string[] =>
  [
    '/',
    `/${apiRoot}`,
    `/${apiRoot}/*`,
    ...olderRoutes.flatMap(({ folder }) => [folder, `${folder}/*`]),
    ...(site && functionUrl !== undefined ? [`/${searchPage.path}`] : []),
    ...rootlessWords.flatMap((word) => (word.includes('.') || word.endsWith('z') ? [`/${word}`] : [`/${word}/*`])),
  ].map((path) => below + path);

// If a later rule sets a header again, the earlier value has to be removed, or both are sent.
const rule = (pattern: string, headers: Readonly<Record<string, string>>): string[] => [
  pattern,
  ...Object.entries(headers).flatMap(([name, value]) =>
    (pattern === '/*' ? [] : [`  ! ${name}`]).concat(`  ${name}: ${value}`),
  ),
];

/** Headers of what is answered without the worker. */
const headersFile = (host: string): string => {
  const [last, ...others] = [...cacheRules].reverse();
  const specific = others.flatMap(({ files, cache }) =>
    files
      .filter((file) => !file.startsWith(`${apiRoot}/`))
      .flatMap((file) => rule(`/${file}`, { 'Cache-Control': cache })),
  );
  const types = Object.entries(contentTypes)
    // The addresses of pages have no ending, and Cloudflare knows their type.
    .filter(([ending]) => ending !== 'html')
    .flatMap(([ending, type]) => rule(`/*.${ending}`, { 'Content-Type': type }));
  return [
    `# ${origin(host)}`,
    ...rule('/*', { ...closedHeaders, 'Cache-Control': last?.cache ?? '' }),
    ...specific,
    ...types,
    ...openFiles
      .filter((file) => !file.startsWith(`${apiRoot}/`))
      .flatMap((file) =>
        rule(`/${file}`, { 'Access-Control-Allow-Origin': openHeaders['Access-Control-Allow-Origin'] }),
      ),
    '',
  ].join('\n');
};

// Every file that is deployed can be read, also what builds note for themselves, such as the name of the machine.
const withoutNotes = '(without its folder .debdex)';

/** Rules for Cloudflare Workers with static assets. */
export const cloudflareWorkersRules = (input: RuleInput): HostRules => {
  const host = 'cloudflare-workers';
  const settings = {
    name: 'debdex',
    main: 'worker.js',
    compatibility_date: '2026-01-01',
    assets: {
      directory: './public',
      binding: 'ASSETS',
      // Below a path the names of assets differ from the requested addresses.
      run_worker_first: input.below === '' ? workerPaths(input) : true,
    },
  };
  return {
    files: {
      'worker.js': workerText(host, input),
      'wrangler.jsonc': `// ${origin(host)}\n${JSON.stringify(settings, null, 2)}\n`,
      'public/_headers': headersFile(host),
    },
    next: `Copy the publication ${withoutNotes} into the folder "public" beside wrangler.jsonc, and run npx wrangler deploy there.`,
  };
};

/** Rules for Cloudflare Pages. */
export const cloudflarePagesRules = (input: RuleInput): HostRules => {
  const host = 'cloudflare-pages';
  const routes = { version: 1, include: input.below === '' ? workerPaths(input) : ['/*'], exclude: [] };
  return {
    files: {
      '_worker.js': workerText(host, input),
      '_routes.json': `${JSON.stringify(routes, null, 2)}\n`,
      _headers: headersFile(host),
    },
    next: `Copy the publication ${withoutNotes} and this folder into one, and run npx wrangler pages deploy with it.`,
  };
};
