import type { IncomingMessage, ServerResponse } from 'node:http';
import { chooseEncoding, type Encoding } from '../http/accept-header.ts';
import { type ComputedAnswer, cacheAge } from '../http/answers.ts';
import { matchesEntityTag } from '../http/conditional.ts';
import { type DocumentAnswer, notModifiedHeaders } from '../http/document-answer.ts';
import { ByteCache } from './byte-cache.ts';

// The same documents are asked for again and again, by the same addresses. Their answers are kept ready, whole, and sent
// without going through the app; the app decided each of them once, so that both ways answer alike.
//
// Likewise searches: what people type begins alike. A search is kept as briefly as its Cache-Control tells every other
// cache, and counts for the limit of its client like one that is computed.

interface ReadyAnswer {
  /** Names and values in turn, as writeHead takes them. */
  readonly headers: string[];
  readonly body: Uint8Array;
  /** What a client is told that has the document. */
  readonly notModified?: { readonly etag: string; readonly headers: string[] };
  /** When a computed answer is over, as performance.now() tells the time. */
  readonly end?: number;
}

/** By the coding that was asked for, which is not always the one that was given. */
type Ready = Partial<Record<Encoding, ReadyAnswer>>;

const weigh = (ready: Ready): number => Object.values(ready).reduce((sum, { body }) => sum + body.length + 1024, 256);

/** Addresses longer than this, in characters, are not kept; no document has one. */
const longestAddress = 1024;
const mostAcceptHeaders = 256;

export interface HotAnswers {
  /** Answers the request, if its answer is ready, and where it was computed, if `admit` lets the client have it. */
  answer(incoming: IncomingMessage, outgoing: ServerResponse, admit: () => boolean): boolean;
  /** What is to be told the document that the app answers this request with; undefined where it is not one to keep. */
  recorder(incoming: IncomingMessage): ((answer: DocumentAnswer) => void) | undefined;
  /** The same for an answer that is computed. */
  keeper(incoming: IncomingMessage): ((answer: ComputedAnswer) => void) | undefined;
  /** Forgets every answer, because the published files have changed. */
  clear(): void;
}

const flatten = (headers: Readonly<Record<string, string>>): string[] => Object.entries(headers).flat();

/** Ready answers: documents and computed ones, of up to so many bytes each. */
export const createHotAnswers = (memory: { documents: number; computed: number }): HotAnswers => {
  const documents = new ByteCache<Ready>(memory.documents, weigh);
  // Apart, so that documents are not forgotten for questions that nobody asks again.
  const computed = new ByteCache<Ready>(memory.computed, weigh);
  const encodings = new Map<string, Encoding>();
  let age = 0;

  const encodingOf = (header: string | undefined): Encoding => {
    if (header === undefined) return 'identity';
    let encoding = encodings.get(header);
    if (encoding === undefined) {
      if (encodings.size >= mostAcceptHeaders) encodings.clear();
      encoding = chooseEncoding(header);
      encodings.set(header, encoding);
    }
    return encoding;
  };

  return {
    answer: (incoming, outgoing, admit) => {
      const { headers, method, url = '' } = incoming;
      if (method !== 'GET') return false;
      const answers = documents.get(url) ?? computed.get(url);
      const chosen = answers?.[encodingOf(headers['accept-encoding'] as string | undefined)];
      if (chosen === undefined) return false;
      const { end, notModified } = chosen;
      if (end !== undefined && (end < performance.now() || !admit())) return false;
      const known = headers['if-none-match'];
      if (notModified !== undefined && known !== undefined && matchesEntityTag(known, notModified.etag)) {
        outgoing.writeHead(304, notModified.headers);
        outgoing.end();
      } else {
        outgoing.writeHead(200, chosen.headers);
        outgoing.end(chosen.body);
      }
      return true;
    },

    recorder: (incoming) => {
      const { url = '', method } = incoming;
      if (method !== 'GET' || url.length > longestAddress || !url.startsWith('/') || url.includes('?'))
        return undefined;
      const asked = encodingOf(incoming.headers['accept-encoding'] as string | undefined);
      const askedAt = age;
      return ({ headers, document: { body, etag } }) => {
        // What was read before the change may be older than it.
        if (askedAt !== age || body === undefined) return;
        const notModified = { etag, headers: flatten(notModifiedHeaders(headers)) };
        documents.set(url, { ...documents.get(url), [asked]: { headers: flatten(headers), notModified, body } });
      };
    },

    keeper: (incoming) => {
      const { url = '', method } = incoming;
      if (method !== 'GET' || url.length > longestAddress || !url.startsWith('/')) return undefined;
      const asked = encodingOf(incoming.headers['accept-encoding'] as string | undefined);
      const askedAt = age;
      return ({ headers, body }) => {
        if (askedAt !== age) return;
        const end = performance.now() + cacheAge.computed * 1000;
        computed.set(url, { ...computed.get(url), [asked]: { headers: flatten(headers), body, end } });
      };
    },

    clear: () => {
      age++;
      documents.clear();
      computed.clear();
    },
  };
};
