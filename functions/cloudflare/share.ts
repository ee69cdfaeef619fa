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

// Words before names, as the app has it.
const computed = table.filter(({ file }) => file === undefined).map(({ address }) => segmentsOf(address));
const paged = table.flatMap(({ address, paged: pages }) =>
  pages === undefined ? [] : [{ pattern: segmentsOf(address), query: pages.query }],
);
const olderComputed = new Set(
  olderTable.flatMap(([, { address, file }]) => (file === undefined ? (segmentsOf(address)[0] ?? '') : [])),
);

/** Whether an address is that of the page of the search with a question, which is sent with what the catalog finds. */
export const asksPage = (url: string): boolean => {
  const decoded = decodePath(pathOf(url));
  return typeof decoded !== 'string' && decoded.join('/') === searchPage.path && hasQuery(url, [searchPage.parameter]);
};

/**
 * Whether a request is answered from the catalog, and not with a published file; by the table of operations. What is
 * no address at all is refused wherever it is read, from before /v2 in the form of there.
 */
export const isComputed = ({ url, method }: Pick<Request, 'url' | 'method'>): boolean => {
  const path = pathOf(url);
  const decoded = decodePath(path);
  if (typeof decoded === 'string') return path.startsWith(`/${olderRoot}/`);
  const [first = ''] = decoded;
  if (first === olderRoot || olderComputed.has(first) || isLaterPath(decoded)) return true;
  // Which methods there are for a file from before /v2 is said there.
  if (olderFiles.has(decoded.join('/')) && method !== 'GET' && method !== 'HEAD') return true;
  const segments = first === apiRoot ? decoded.slice(1) : decoded;
  if (computed.some((pattern) => fits(pattern, segments))) return true;
  return paged.some(({ pattern, query }) => fits(pattern, segments) && hasQuery(url, query));
};
