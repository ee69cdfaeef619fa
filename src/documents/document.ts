import { successMessage } from '../contract/success-message.ts';

/**
 * A document ready to be written: its text is `head`, the date of its last change, and `tail`; or `head` alone, where
 * `tail` is empty.
 */
export interface Document {
  /** Below the output folder, with "/" between segments. */
  readonly path: string;
  readonly head: string;
  readonly tail: string;
  /** Whether it says more than the rows of the catalog do, so that the catalog keeps the whole of it. */
  readonly isKept?: boolean;
}

/** The text of a document published at `date` (ISO 8601). */
export const documentText = ({ head, tail }: Document, date: string): string =>
  tail === '' ? head : `${head}${date}${tail}`;

/** Where every dated envelope begins; the envelope's key order is message (or status), date, …, data. */
export const successHead = `{"message":"${successMessage}","date":"`;
export const statusHead = '{"status":"200 OK","date":"';

/** What the envelope of a page names: the pages beside it, where there are any. */
export interface PageLinks {
  readonly nextPage?: string;
  readonly previousPage?: string;
}

const listHead = (count: number, links: PageLinks | undefined): string =>
  `"${links === undefined ? '' : `,"refs":${JSON.stringify(links)}`},"count":${count},"data":[`;
const listEnd = ']}';

/** A list envelope around ready JSON texts; with links that of a page. */
export const listDocument = (path: string, records: readonly string[], links?: PageLinks): Document => ({
  path,
  head: successHead,
  tail: `${listHead(records.length, links)}${records.join(',')}${listEnd}`,
});

/** Characters of a piece, the last record of it in any case. */
const pieceCharacters = 2 ** 20;

/** What follows the date in a list envelope, piece by piece: a large one never stands in memory whole. */
export class ListTail {
  #piece: string;
  #isFirst = true;

  constructor(count: number, links?: PageLinks) {
    this.#piece = listHead(count, links);
  }

  /** Adds a record; returns a piece where it is long enough. */
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

/** A document that is a text as it stands, without a date. */
export const textDocument = (path: string, text: string): Document => ({ path, head: text, tail: '', isKept: true });

// An ISO 8601 instant with milliseconds; its length is fixed, which lets a date be filled in after the rest is written.
const datePattern = /^\{"(?:message|status)":"200 [A-Za-z]+","date":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"/;

/** The date inside the text of a published document, or undefined where it has none. */
export const dateOf = (text: string): string | undefined => datePattern.exec(text)?.[1];
