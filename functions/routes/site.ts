import { cacheControl, closedHeaders, pageMethods } from '../../src/contract/answer-headers.ts';
import { encodeFolderName } from '../../src/contract/filenames.ts';
import { basePathOf } from '../../src/contract/paths.ts';
import { searchPage } from '../../src/contract/search-page.ts';
import { packageAddress } from '../../src/results/package-address.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { asksForJson, prefersHtml } from '../http/accept-header.ts';
import { HttpError, notFound } from '../http/answers.ts';
import { documentAnswer } from '../http/document-answer.ts';
import type { MakeAnswer } from '../http/large-answers.ts';
import { pathOf } from '../http/request-path.ts';
import { landingAnswer } from './landing.ts';
import { isAskedForAsPublication, publicationRedirect } from './publication-redirect.ts';
import { searchPageHandler } from './search-page.ts';

// A segment that would leave the folder or name a hidden file; the one hidden folder with a meaning is RFC 8615's.
const isPlain = (segment: string): boolean =>
  !/[/\\]/.test(segment) && (!segment.startsWith('.') || segment === '.well-known');

// Where the pages and feeds of a repository or a package lie, for a path that has its slug or its identifier as it is, with
// a slash at its end or without; undefined where that is no other.
const inEncodedFolder = (segments: readonly string[]): string | undefined => {
  const [kind, name = '', ...rest] = segments;
  if (kind !== 'repository' && kind !== 'package') return undefined;
  const own = kind === 'package' ? packageAddress(name) : `${kind}/${encodeFolderName(name)}/`;
  return own === `${kind}/${name}/` ? undefined : own + rest.join('/');
};

/** Answers everything outside the API: the pages of the site, and its page for an address that is none. */
export const siteHandler = (dependencies: Dependencies, makeAnswer: MakeAnswer): Handler => {
  const answerSearch = searchPageHandler(dependencies, makeAnswer);

  // The file of an address: "/a/" is "a/index.html" on every static host.
  const readPage: Handler = async ({ req, var: { segments } }) => {
    if (!segments.every(isPlain)) throw notFound();
    const path = segments.join('/');
    const isFolder = path === '' || path.endsWith('/');
    const answer = await documentAnswer(req.raw, dependencies, isFolder ? `${path}index.html` : path);
    if (answer !== undefined) return answer;
    const isThere = async (file: string) => (await dependencies.documents.read(file, 'identity')) !== undefined;
    const url = req.url;
    let moved: string | undefined;
    if (!isFolder && (await isThere(`${path}/index.html`))) moved = `${pathOf(url)}/`;
    else {
      const encoded = inEncodedFolder(segments);
      const file = encoded?.endsWith('/') ? `${encoded}index.html` : encoded;
      if (file === undefined || !(await isThere(file))) throw notFound();
      moved = `/${encoded}`;
    }
    const query = url.indexOf('?');
    // The client may see the address of this request below a path, which is taken off before it comes here.
    const below = basePathOf(dependencies.publicAddress());
    const location = `${below}${moved}${query < 0 ? '' : url.slice(query)}`;
    const headers = {
      Location: location,
      'Cache-Control': cacheControl.moved,
      'Content-Length': '0',
      ...closedHeaders,
    };
    return new Response(null, { status: 308, headers });
  };

  // The front page, unless a program asks for JSON by its name (decisions, section 7). Where no pages were built it is the
  // landing document for everybody.
  const readRoot: Handler = async ({ req }) => {
    const options = { vary: ['Accept'] };
    if (!asksForJson(req.header('accept'))) {
      const page = await documentAnswer(req.raw, dependencies, 'index.html', options);
      if (page !== undefined) return page;
    }
    return landingAnswer(req.raw, dependencies, options);
  };

  // A replica has no pages: who asks for one is sent to where they are published, and to the front page goes whoever does
  // not ask for JSON by its name, as above. What it is asked for by that very name would come back to it; there only who
  // prefers a page goes without an answer.
  const sendToPages: Handler = async ({ req, var: { segments } }) => {
    const isRoot = segments.length === 1 && segments[0] === '';
    const accept = req.header('accept');
    if (isRoot && (asksForJson(accept) || (isAskedForAsPublication(req, dependencies) && !prefersHtml(accept)))) {
      return landingAnswer(req.raw, dependencies, { vary: ['Accept'] });
    }
    const text = !isRoot && segments.every(isPlain) ? segments.join('/') : '';
    const answer = text === '' ? undefined : await documentAnswer(req.raw, dependencies, text);
    if (answer !== undefined) return answer;
    return publicationRedirect(req, dependencies, isRoot ? { Vary: 'Accept' } : {});
  };

  return async (context) => {
    const { req, var: variables } = context;
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      throw new HttpError(405, `This address answers ${pageMethods}`, { Allow: pageMethods });
    }
    if (dependencies.replica !== undefined) return sendToPages(context);
    if (variables.segments.length === 1 && variables.segments[0] === '') return readRoot(context);
    if (variables.segments.join('/') === searchPage.path) {
      const answer = await answerSearch(context);
      if (answer !== undefined) return answer;
    }
    try {
      return await readPage(context);
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 404) throw error;
      const options = { status: 404, vary: ['Accept'], cache: cacheControl.missing };
      const page = prefersHtml(req.header('accept'))
        ? await documentAnswer(req.raw, dependencies, '404.html', options)
        : undefined;
      if (page === undefined) throw new HttpError(404, error.message, { Vary: 'Accept' });
      return page;
    }
  };
};
