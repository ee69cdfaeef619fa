import { successMessage } from '../../src/contract/envelope.ts';
import { apiRoot } from '../../src/contract/paths.ts';
import type { RecordList, SearchPage } from '../dependencies.ts';

// The records of a computed answer come as JSON texts from the index: reading and writing them again, or only joining
// them, would cost more than the search. So they are encoded one by one into a memory that every answer uses again.

const utf8 = new TextEncoder();
let workspace = new Uint8Array(64 * 1024);

/** The most bytes of UTF-8 that one UTF-16 unit of a string becomes. */
const bytesPerUnit = 3;

const encodePieces = (pieces: readonly string[]): Uint8Array<ArrayBuffer> => {
  let end = 0;
  for (const piece of pieces) {
    const most = end + piece.length * bytesPerUnit;
    if (most > workspace.length) {
      const larger = new Uint8Array(2 * most);
      larger.set(workspace.subarray(0, end));
      workspace = larger;
    }
    end += utf8.encodeInto(piece, workspace.subarray(end)).written;
  }
  return workspace.slice(0, end);
};

const opening = (date: Date): string => `{"message":"${successMessage}","date":"${date.toISOString()}"`;

const complete = (beginning: string, { count, pieces }: RecordList): Uint8Array<ArrayBuffer> =>
  encodePieces([`${beginning},"count":${count},"data":[`, ...pieces, ']}']);

/** The JSON of a list answer. */
export const listBody = (date: Date, records: RecordList): Uint8Array<ArrayBuffer> => complete(opening(date), records);

/** The JSON of one page of search results, with links to the pages beside it (decisions, section 2). */
export const pageBody = (
  date: Date,
  { records, more }: SearchPage,
  question: { base: string; address: string; q: string; limit: number; page: number },
): Uint8Array<ArrayBuffer> => {
  const { base, address, q, limit, page } = question;
  const link = (number: number) =>
    JSON.stringify(`${base}/${apiRoot}${address}?q=${encodeURIComponent(q)}&limit=${limit}&page=${number}`);
  const links = [
    ...(more ? [`"nextPage":${link(page + 1)}`] : []),
    ...(page > 1 ? [`"previousPage":${link(page - 1)}`] : []),
  ];
  return complete(`${opening(date)},"refs":{${links.join(',')}}`, records);
};
