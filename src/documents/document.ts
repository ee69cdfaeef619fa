import { hash } from 'node:crypto';
import { successMessage } from '../contract/envelope.ts';

/**
 * A document ready to be written: its text is `head`, the date of its last change, and `tail`. The digest leaves the
 * date out, so that it says whether the content is new.
 */
export interface Document {
  /** Below the output folder, with "/" between segments. */
  readonly path: string;
  readonly head: string;
  readonly tail: string;
}

/** The text of a document published at `date` (ISO 8601). */
export const documentText = (document: Document, date: string): string => `${document.head}${date}${document.tail}`;

/** 16 bytes of SHA-256 over the content without its date. */
export const documentDigest = ({ head, tail }: Document): Uint8Array =>
  hash('sha256', head + tail, 'buffer').subarray(0, 16);

/** Where every dated envelope begins; the envelope's key order is message (or status), date, …, data. */
export const successHead = `{"message":"${successMessage}","date":"`;
export const statusHead = '{"status":"200 OK","date":"';

/** A list envelope around ready JSON texts. */
export const listDocument = (path: string, records: readonly string[]): Document => ({
  path,
  head: successHead,
  tail: `","count":${records.length},"data":[${records.join(',')}]}`,
});

/** An envelope around one ready JSON text. */
export const objectDocument = (path: string, record: string, head = successHead): Document => ({
  path,
  head,
  tail: `","data":${record}}`,
});

// An ISO 8601 instant with milliseconds; its length is fixed, which lets a date be filled in after the rest is written.
const datePattern = /^\{"(?:message|status)":"200 [A-Za-z]+","date":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"/;

/** The date inside the text of a published document, or undefined where it has none. */
export const dateOf = (text: string): string | undefined => datePattern.exec(text)?.[1];
