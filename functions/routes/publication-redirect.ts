import type { HonoRequest } from 'hono';
import { searchPage } from '../../src/contract/search-page.ts';
import type { Dependencies } from '../dependencies.ts';
import { HttpError } from '../http/answers.ts';
import { pathOf } from '../http/request-path.ts';

/** Whether a replica is asked by the host name of its publication, whose pages it does not have. */
export const isAskedForAsPublication = (
  req: HonoRequest,
  { publicAddress }: Pick<Dependencies, 'publicAddress'>,
): boolean => new URL(publicAddress()).host === req.header('host')?.toLowerCase();

/**
 * Redirects a request for something that a replica does not have to its publication. Throws a 404 if the redirect would
 * lead back here, because the request used the publication's own host name.
 */
export const publicationRedirect = (
  req: HonoRequest,
  dependencies: Pick<Dependencies, 'publicAddress'>,
  headers: Readonly<Record<string, string>>,
): Response => {
  const { url } = req;
  const query = url.indexOf('?');
  const path = pathOf(url);
  // A host whose function answers searches would ask this one again for the page with a query, and so on without an end. The
  // file has no other answer, by whichever name this one was asked.
  const isSearch = query >= 0 && path === `/${searchPage.path}`;
  if (!isSearch && isAskedForAsPublication(req, dependencies)) {
    throw new HttpError(404, 'A replica answers what is made of the catalog, and has no pages', headers);
  }
  const target = isSearch ? `/${searchPage.file}` : path;
  const location = `${dependencies.publicAddress()}${target}${query < 0 ? '' : url.slice(query)}`;
  return new Response(null, {
    status: 307,
    headers: { Location: location, 'Cache-Control': 'public, max-age=60', 'Content-Length': '0', ...headers },
  });
};
