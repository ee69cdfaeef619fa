import { isLaterPath, olderFiles, olderRoot, olderTable } from '../../src/contract/older-addresses/operations.ts';
import { apiRoot, type Operation, operations } from '../../src/contract/paths.ts';
import { searchPage } from '../../src/contract/search-page.ts';
import { decodePath, pathOf } from '../http/request-path.ts';
import { hasQuery } from '../http/request-query.ts';

const table: readonly Operation[] = Object.values(operations);

const segmentsOf = (address: string): string[] => address.split('/').slice(1);
const isPlaceholder = (segment: string): boolean => segment.startsWith('{');

const fits = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.length === segments.length && pattern.every((one, at) => isPlaceholder(one) || one === segments[at]);

// Fixed words before names, as in the app.
const computed = table.filter(({ file }) => file === undefined).map(({ address }) => segmentsOf(address));
const paged = table.flatMap(({ address, paged: pages }) =>
  pages === undefined ? [] : [{ pattern: segmentsOf(address), query: pages.query }],
);
const olderComputed = new Set(
  olderTable.flatMap(([, { address, file }]) => (file === undefined ? (segmentsOf(address)[0] ?? '') : [])),
);

/** Whether a query has any of these parameters, or one that cannot be read: the catalog's app refuses that. */
const asks = (...query: Parameters<typeof hasQuery>): boolean => {
  try {
    return hasQuery(...query);
  } catch {
    return true;
  }
};

/** Whether an address is the search page with a query, whose results come from the catalog. */
export const asksPage = (url: string): boolean => {
  const decoded = decodePath(pathOf(url));
  return typeof decoded !== 'string' && decoded.join('/') === searchPage.path && asks(url, [searchPage.parameter]);
};

/**
 * Whether a request is answered from the catalog, not with a published file; decided by the table of operations. A
 * malformed address is refused by either; one from before /v2 by the catalog, in the form of that time.
 */
export const isComputed = ({ url, method }: Pick<Request, 'url' | 'method'>): boolean => {
  const path = pathOf(url);
  const decoded = decodePath(path);
  if (typeof decoded === 'string') return path.startsWith(`/${olderRoot}/`);
  const [first = ''] = decoded;
  if (first === olderRoot || olderComputed.has(first) || isLaterPath(decoded)) return true;
  // The app there knows which methods a file from before /v2 allows.
  if (olderFiles.has(decoded.join('/')) && method !== 'GET' && method !== 'HEAD') return true;
  const segments = first === apiRoot ? decoded.slice(1) : decoded;
  if (computed.some((pattern) => fits(pattern, segments))) return true;
  return paged.some(({ pattern, query }) => fits(pattern, segments) && asks(url, query));
};
