import { cacheControl, closedHeaders, preflightHeaders, readMethods } from '../contract/answer-headers.ts';
import { phrases } from '../contract/errors.ts';
import { cacheRules, contentTypes, openFiles } from '../contract/file-headers.ts';
import { apiRoot, rootlessWords } from '../contract/paths.ts';
import { searchPage } from '../contract/search-page.ts';
import {
  addressWith,
  type EncodedDocument,
  fixedAddresses,
  type HostRules,
  noFunction,
  origin,
  type RuleInput,
  withAndWithoutRoot,
} from './host-rules.ts';
import { chosenRoutes, computedRoutes, fixedRoutes, type NamedRoute, namedRoutes, olderRoutes } from './routes.ts';

/**
 * Netlify advises against so many redirects or more, because a deploy may fail (docs.netlify.com, "Redirects and
 * rewrites").
 */
export const netlifyLimit = 10_000;

const errors = 'debdex-errors';

interface Redirect {
  readonly from: string;
  readonly query?: string;
  readonly to: string;
  readonly status: number;
  /** Whether it applies even if such a file exists. */
  readonly force?: boolean;
}

const line = ({ from, query, to, status, force }: Redirect): string =>
  [from, query, to, `${status}${force ? '!' : ''}`].filter((part) => part !== undefined).join(' ');

// In the form that Netlify requires and its own development server compares. No line may contain a blank.
const written = (document: EncodedDocument): string[] => [
  ...new Set([
    addressWith(document, encodeURIComponent),
    ...([...document.names.values()].some((name) => /[\s%#?]/.test(name))
      ? []
      : [addressWith(document, (name) => name)]),
  ]),
];

const place = (address: string): string => address.replaceAll(/\{(\w+)\}/g, ':$1');

const namesOf = ({ between }: NamedRoute): string => (between === '' ? ':name' : `:name${between}:second`);

// A rule names all the parameters of its address, so there is a rule for each choice of them.
const choicesOf = <T>([first, ...others]: readonly T[]): T[][] =>
  first === undefined ? [[]] : choicesOf(others).flatMap((choice) => [[first, ...choice], choice]);

/** To the function, if the query has exactly these parameters. */
const handOn = (from: string, parameters: readonly string[], functionUrl: string): Redirect => ({
  from,
  query: parameters.map((one) => `${one}=:${one}`).join(' '),
  to: `${functionUrl}${from}?${parameters.map((one) => `${one}=:${one}`).join('&')}`,
  status: 200,
  force: true,
});

/** Pages of lists, which the function answers. */
const pagedRedirects = (below: string, functionUrl: string): Redirect[] =>
  namedRoutes.flatMap((route) => {
    const [before, after] = route.address;
    return choicesOf(route.paged)
      .filter((choice) => choice.length > 0)
      .flatMap((choice) =>
        withAndWithoutRoot(below, `${before}${namesOf(route)}${after}`).map((from) =>
          handOn(from, choice, functionUrl),
        ),
      );
  });

/** The search page with a query, with the parameters that its forms and links have. */
const searchRedirects = (below: string, functionUrl: string): Redirect[] => {
  const { path, parameter, facets, order } = searchPage;
  // Rules with more parameters come first, because one with fewer also matches their addresses.
  const sent = [[parameter, ...facets, order], [parameter]].flatMap((names) => [[...names, 'page'], names]);
  return sent.map((names) => handOn(`${below}/${path}`, names, functionUrl));
};

// A redirect for a folder also applies to all files in it, so a folder with files is redirected part by part.
const olderFolders: readonly string[] = olderRoutes.flatMap(({ folder, files, parts }) =>
  files.length === 0 ? [folder, `${folder}/*`] : [folder, ...parts.map((part) => `${folder}/${part}/*`)],
);

const redirects = (input: RuleInput): Redirect[] => {
  const { below, functionUrl, encodedDocuments } = input;
  const both = (address: string) => withAndWithoutRoot(below, address);
  const computed = (from: string): Redirect => ({
    from,
    to: functionUrl === undefined ? `/${errors}/501.json` : `${functionUrl}${from.replace('/*', '/:splat')}`,
    status: functionUrl === undefined ? 501 : 200,
    force: true,
  });
  return [
    ...computedRoutes.flatMap(({ address }) => both(place(address)).map(computed)),
    ...olderFolders.map((folder) => computed(below + folder)),
    ...Object.entries(fixedRoutes).flatMap(([address, file]) =>
      fixedAddresses(below, address)
        .filter((from) => from !== `${below}/${file}`)
        .map((from) => ({ from, to: `${below}/${file}`, status: 200 })),
    ),
    ...chosenRoutes.flatMap(({ address, parameter, files }) =>
      both(address).flatMap((from) => [
        ...Object.entries(files).map(([value, file]) => ({
          from,
          query: `${parameter}=${value}`,
          to: `${below}/${file}`,
          status: 200,
        })),
        { from, to: `/${errors}/404.json`, status: 404 },
      ]),
    ),
    ...encodedDocuments.flatMap((document) =>
      written(document).flatMap((address) =>
        both(address).map((from) => ({ from, to: `${below}/${document.file}`, status: 200 })),
      ),
    ),
    ...(functionUrl === undefined ? [] : pagedRedirects(below, functionUrl)),
    ...(functionUrl === undefined || !input.site ? [] : searchRedirects(below, functionUrl)),
    ...namedRoutes.flatMap((route) => {
      const {
        address: [before, after],
        file: [fileBefore, fileAfter],
      } = route;
      return both(`${before}${namesOf(route)}${after}`).map((from) => ({
        from,
        to: `${below}/${fileBefore}${namesOf(route)}${fileAfter}`,
        status: 200,
      }));
    }),
    { from: `${below}/${apiRoot}/*`, to: `/${errors}/404.json`, status: 404 },
    ...(below === '' ? [] : [{ from: `${below}/*`, to: `${below}/404.html`, status: 404 }]),
  ];
};

const errorFile = (status: 404 | 501, error: string | undefined, now: Date): string => {
  const date = now.toISOString();
  const message = `${status} ${phrases[status]}`;
  return `${JSON.stringify(error === undefined ? { message, date } : { message, error, date })}`;
};

const rule = (pattern: string, headers: Readonly<Record<string, string>>): string[] => [
  pattern,
  ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`),
];

const headersFile = ({ below, functionUrl }: RuleInput): string => {
  const { 'Cache-Control': _, Allow: __, ...cors } = preflightHeaders(readMethods);
  const json = { 'Content-Type': contentTypes.json ?? '' };
  const api = { ...cors, ...json };
  const computed = computedRoutes.flatMap(({ address }) => withAndWithoutRoot(below, place(address)));
  // The last matching rule for a path wins.
  return [
    `# ${origin('netlify')}`,
    ...[...cacheRules]
      .reverse()
      .flatMap(({ files, cache }) =>
        files.flatMap((file) =>
          rule(`${below}/${file}`, { ...(file === '*' ? closedHeaders : {}), 'Cache-Control': cache }),
        ),
      ),
    ...[apiRoot, ...rootlessWords].flatMap((word) => rule(`${below}/${word}`, api)),
    ...[apiRoot, 'jailbreak'].flatMap((word) => rule(`${below}/${word}/*`, api)),
    ...openFiles.filter((file) => !file.startsWith(`${apiRoot}/`)).flatMap((file) => rule(`${below}/${file}`, cors)),
    ...(functionUrl === undefined
      ? olderFolders.flatMap((folder) => rule(`${below}${folder}`, { ...api, 'Cache-Control': cacheControl.none }))
      : []),
    ...Object.entries(contentTypes)
      .filter(([ending]) => ending !== 'html')
      .flatMap(([ending, type]) => rule(`${below}/*.${ending}`, { 'Content-Type': type })),
    // An identifier may end like a file of any type.
    ...namedRoutes.flatMap((route) => {
      const [before, after] = route.address;
      return withAndWithoutRoot(below, `${before}${namesOf(route)}${after}`).flatMap((path) => rule(path, json));
    }),
    ...(functionUrl === undefined
      ? computed.flatMap((path) => rule(path, { ...json, 'Cache-Control': cacheControl.none }))
      : []),
    '',
  ].join('\n');
};

/** Rules for Netlify. */
export const netlifyRules = (input: RuleInput): HostRules => {
  const all = redirects(input);
  const { now, below } = input;
  const placing = below === '' ? '' : ` (below ${below})`;
  const many =
    all.length < netlifyLimit
      ? ''
      : ` There are ${all.length} redirects, and Netlify advises against ${netlifyLimit} or more.`;
  return {
    files: {
      _redirects: [`# ${origin('netlify')}`, ...all.map(line), ''].join('\n'),
      _headers: headersFile(input),
      [`${errors}/404.json`]: errorFile(404, undefined, now),
      [`${errors}/501.json`]: errorFile(501, noFunction, now),
    },
    next: `Copy the publication${placing} and this folder into one, and run npx netlify deploy --dir with it; anew after every build.${many}`,
  };
};
