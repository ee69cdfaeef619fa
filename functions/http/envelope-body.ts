import type { RecordList } from '../../src/catalog/record-list.ts';
import { answerMaximum } from '../../src/contract/parameters.ts';
import { successMessage } from '../../src/contract/success-message.ts';
import type { ResultPage } from '../../src/search/package-search.ts';
import { type Turn, tooLarge } from './ask-index.ts';

// The index returns the records of a computed answer as JSON texts. Parsing and serialising them again, or even joining
// them, would take longer than the search. So they are encoded one by one into a buffer that all answers share.

const utf8 = new TextEncoder();
let workspace = new Uint8Array(64 * 1024);

/** The most UTF-8 bytes for one UTF-16 unit of a string. */
const bytesPerUnit = 3;

/** How much is encoded in one turn: UTF-16 units of text, and bytes that are encoded already. */
const mostInTurn = 512 * 1024;

type Pieces = RecordList['pieces'];

const encodePieces = (pieces: Pieces): Uint8Array<ArrayBuffer> => {
  let end = 0;
  for (const piece of pieces) {
    const most = end + piece.length * (typeof piece === 'string' ? bytesPerUnit : 1);
    if (most > workspace.length) {
      const larger = new Uint8Array(2 * most);
      larger.set(workspace.subarray(0, end));
      workspace = larger;
    }
    if (typeof piece === 'string') {
      end += utf8.encodeInto(piece, workspace.subarray(end)).written;
    } else {
      workspace.set(piece, end);
      end += piece.length;
    }
  }
  return workspace.slice(0, end);
};

/** The pieces in groups, each of which is encoded in one turn. */
function* partsOf(pieces: Pieces): Generator<Pieces> {
  let start = 0;
  let size = 0;
  for (const [index, { length }] of pieces.entries()) {
    size += length;
    if (size < mostInTurn) continue;
    yield pieces.slice(start, index + 1);
    start = index + 1;
    size = 0;
  }
  yield pieces.slice(start);
}

/** All of these bytes, one after another. */
export const join = (parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) {
    whole.set(part, end);
    end += part.length;
  }
  return whole;
};

/**
 * Encodes pieces of JSON into the bytes of one text; many pieces take several turns. Throws an HttpError (400) if it is
 * larger than an answer may be: the index counts the characters of short records, which may have three bytes each.
 */
export const encode = async (pieces: Pieces, turn: Turn): Promise<Uint8Array<ArrayBuffer>> => {
  const encoded: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (const part of partsOf(pieces)) {
    const bytes = await (size === 0 ? encodePieces(part) : turn(async () => encodePieces(part)));
    encoded.push(bytes);
    size += bytes.length;
    if (size > answerMaximum) throw tooLarge();
  }
  const [only] = encoded;
  return only !== undefined && encoded.length === 1 ? only : turn(async () => join(encoded));
};

const opening = (date: Date): string => `{"message":"${successMessage}","date":"${date.toISOString()}"`;

const complete = (beginning: string, { count, pieces }: RecordList, turn: Turn): Promise<Uint8Array<ArrayBuffer>> =>
  encode([`${beginning},"count":${count},"data":[`, ...pieces, ']}'], turn);

/** The JSON of an answer whose data comes as pieces of JSON text; a long one is encoded in several turns. */
export const dataBody = (date: Date, data: Pieces, turn: Turn): Promise<Uint8Array<ArrayBuffer>> =>
  encode([`${opening(date)},"data":`, ...data, '}'], turn);

/** The JSON of a list answer; a long one is encoded in several turns. */
export const listBody = (date: Date, records: RecordList, turn: Turn): Promise<Uint8Array<ArrayBuffer>> =>
  complete(opening(date), records, turn);

/**
 * The JSON of one page of a search or a list, with links to the pages beside it (decisions, section 2). From a page past
 * the end, the way back leads to the last page.
 */
export const pageBody = (
  date: Date,
  { records, more, last }: ResultPage,
  { page, addressOf }: { page: number; addressOf: (page: number) => string },
  turn: Turn,
): Promise<Uint8Array<ArrayBuffer>> => {
  const link = (number: number) => JSON.stringify(addressOf(number));
  const links = [
    ...(more ? [`"nextPage":${link(page + 1)}`] : []),
    ...(page > 1 ? [`"previousPage":${link(Math.min(page - 1, last))}`] : []),
  ];
  return complete(`${opening(date)},"refs":{${links.join(',')}}`, records, turn);
};
