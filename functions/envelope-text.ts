import { successMessage } from '../src/contract/envelope.ts';
import { apiRoot } from '../src/contract/paths.ts';
import type { SearchPage } from './dependencies.ts';

// Computed answers are joins of texts: the records come as JSON texts from the index, and reading and writing them
// again would cost more than the search.

const opening = (date: Date): string => `{"message":"${successMessage}","date":"${date.toISOString()}"`;

const closing = (records: readonly string[]): string => `"count":${records.length},"data":[${records.join(',')}]}`;

/** The JSON text of a list answer, from JSON texts of its records. */
export const listText = (date: Date, records: readonly string[]): string => `${opening(date)},${closing(records)}`;

/** The JSON text of one page of search results, with links to the pages beside it (decisions, section 2). */
export const pageText = (
  date: Date,
  found: SearchPage,
  question: { base: string; address: string; q: string; limit: number; page: number },
): string => {
  const { base, address, q, limit, page } = question;
  const link = (number: number) =>
    JSON.stringify(`${base}/${apiRoot}${address}?q=${encodeURIComponent(q)}&limit=${limit}&page=${number}`);
  const links = [
    ...(found.more ? [`"nextPage":${link(page + 1)}`] : []),
    ...(page > 1 ? [`"previousPage":${link(page - 1)}`] : []),
  ];
  return `${opening(date)},"refs":{${links.join(',')}},${closing(found.records)}`;
};
