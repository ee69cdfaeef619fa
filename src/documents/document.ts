import { successMessage } from '../contract/success-message.ts';

/**
 * A document ready to be written. Its text is `head`, the date of its last change, and `tail`; or only `head`, if
 * `tail` is empty.
 */
export interface Document {
  /** Below the output folder, with "/" between segments. */
  readonly path: string;
  readonly head: string;
  readonly tail: string;
  /** Whether it says more than the rows of the catalog, so that the catalog keeps all of it. */
  readonly isKept?: boolean;
}

/** The text of a document published at `date` (ISO 8601). */
export const documentText = ({ head, tail }: Document, date: string): string =>
  tail === '' ? head : `${head}${date}${tail}`;

/** The beginning of every dated envelope. Its key order is message (or status), date, …, data. */
export const successHead = `{"message":"${successMessage}","date":"`;
export const statusHead = '{"status":"200 OK","date":"';

/** The links in the envelope of a page: to the pages beside it, if there are any. */
export interface PageLinks {
  readonly nextPage?: string;
  readonly previousPage?: string;
}

const listHead = (count: number, links: PageLinks | undefined): string =>
  `"${links === undefined ? '' : `,"refs":${JSON.stringify(links)}`},"count":${count},"data":[`;
const listEnd = ']}';

/** A list envelope around ready JSON texts; with links it is that of a page. */
export const listDocument = (path: string, records: readonly string[], links?: PageLinks): Document => ({
  path,
  head: successHead,
  tail: `${listHead(records.length, links)}${records.join(',')}${listEnd}`,
});

/** How many characters a piece has at least, unless it is the last. */
const pieceCharacters = 2 ** 20;

/** The part of a list envelope after the date, piece by piece, so that a large list is never completely in memory. */
export class ListTail {
  #piece: string;
  #isFirst = true;

  constructor(count: number, links?: PageLinks) {
    this.#piece = listHead(count, links);
  }

  /** Adds a record. Returns a piece if it is long enough. */
  add(record: string): string | undefined {
    this.#piece += this.#isFirst ? record : `,${record}`;
    this.#isFirst = false;
    if (this.#piece.length < pieceCharacters) return undefined;
    const piece = this.#piece;
    this.#piece = '';
    return piece;
  }

  /** The last piece. */
  end(): string {
    return `${this.#piece}${listEnd}`;
  }
}

/** The pieces of such a tail around these records. */
export function* listTail(count: number, records: Iterable<string>, links?: PageLinks): Generator<string> {
  const tail = new ListTail(count, links);
  for (const record of records) {
    const piece = tail.add(record);
    if (piece !== undefined) yield piece;
  }
  yield tail.end();
}

/** An envelope around one ready JSON text. */
export const objectDocument = (path: string, record: string, head = successHead): Document => ({
  path,
  head,
  tail: `","data":${record}}`,
});

/** A document that is a text without a date. */
export const textDocument = (path: string, text: string): Document => ({ path, head: text, tail: '', isKept: true });

// An ISO 8601 instant with milliseconds. Its length is fixed, so that the date can be filled in after the rest is
// written.
const datePattern = /^\{"(?:message|status)":"200 [A-Za-z]+","date":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"/;

/** The date in the text of a published document; undefined if it has none. */
export const dateOf = (text: string): string | undefined => datePattern.exec(text)?.[1];
