import { cacheControl, closedHeaders, openHeaders, pageMethods } from '../../src/contract/answer-headers.ts';
import { isOpenFile } from '../../src/contract/file-headers.ts';
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

// Whether a segment stays in its folder and names no hidden file, except the one hidden folder with a meaning (RFC
// 8615).
const isPlain = (segment: string): boolean =>
  !/[/\\]/.test(segment) && (!segment.startsWith('.') || segment === '.well-known');

// The path of the pages and feeds of a repository or package, for a path that contains the slug or identifier itself,
// with or without a slash at its end; undefined if that is the same path.
const inEncodedFolder = (segments: readonly string[]): string | undefined => {
  const [kind, name = '', ...rest] = segments;
  if (kind !== 'repository' && kind !== 'package') return undefined;
  const own = kind === 'package' ? packageAddress(name) : `${kind}/${encodeFolderName(name)}/`;
  return own === `${kind}/${name}/` ? undefined : own + rest.join('/');
};

// Who may read a file may follow a redirect to it: browsers show scripts of other sites neither otherwise.
const whoMayRead = (path: string) => (isOpenFile(path) ? openHeaders : closedHeaders);

/** Answers everything outside the API: the pages of the site, and its error page for unknown addresses. */
export const siteHandler = (dependencies: Dependencies, makeAnswer: MakeAnswer): Handler => {
  const answerSearch = searchPageHandler(dependencies, makeAnswer);

  // The file for an address: "/a/" is "a/index.html", as on every static host.
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
    // If the public address has a path, the client sees that before the path of this request.
    const below = basePathOf(dependencies.publicAddress());
    const location = `${below}${moved}${query < 0 ? '' : url.slice(query)}`;
    const headers = {
      Location: location,
      'Cache-Control': cacheControl.moved,
      'Content-Length': '0',
      ...whoMayRead(moved.slice(1)),
    };
    return new Response(null, { status: 308, headers });
  };

  // The front page, unless a program names JSON in `Accept` (decisions, section 7). If no pages were built, it is the
  // landing document for everybody.
  const readRoot: Handler = async ({ req }) => {
    const options = { vary: ['Accept'] };
    if (!asksForJson(req.header('accept'))) {
      const page = await documentAnswer(req.raw, dependencies, 'index.html', options);
      if (page !== undefined) return page;
    }
    return landingAnswer(req.raw, dependencies, options);
  };

  // A replica has no pages, so requests for them are redirected to the publication; the root only for clients that do
  // not name JSON, as above. If the request used the publication's own host name, that would lead back here; then only
  // a client that prefers a page gets an error.
  const sendToPages: Handler = async ({ req, var: { segments } }) => {
    const isRoot = segments.length === 1 && segments[0] === '';
    const accept = req.header('accept');
    if (isRoot && (asksForJson(accept) || (isAskedForAsPublication(req, dependencies) && !prefersHtml(accept)))) {
      return landingAnswer(req.raw, dependencies, { vary: ['Accept'] });
    }
    const text = !isRoot && segments.every(isPlain) ? segments.join('/') : '';
    // A replica has no front page. Reading it fails (503) before the first generation, which names the public address.
    const answer = await documentAnswer(req.raw, dependencies, text === '' ? 'index.html' : text);
    if (answer !== undefined) return answer;
    return publicationRedirect(req, dependencies, { ...whoMayRead(text), ...(isRoot ? { Vary: 'Accept' } : {}) });
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
