import type { IncomingMessage, ServerResponse } from 'node:http';
import { chooseEncoding, type Encoding } from '../accept.ts';
import { matchesEntityTag } from '../conditional.ts';
import { type DocumentAnswer, notModifiedHeaders } from '../document-answer.ts';
import { ByteCache } from './byte-cache.ts';

// The same documents are asked for again and again, by the same addresses. Their answers are kept ready, whole, and sent
// without going through the app; the app decided each of them once, so that both ways answer alike.

interface ReadyAnswer {
  readonly etag: string;
  /** Names and values in turn, as writeHead takes them. */
  readonly headers: string[];
  readonly notModified: string[];
  readonly body: Uint8Array;
}

/** By the coding that was asked for, which is not always the one that was given. */
type Ready = Partial<Record<Encoding, ReadyAnswer>>;

const weigh = (ready: Ready): number => Object.values(ready).reduce((sum, { body }) => sum + body.length + 1024, 256);

/** Addresses longer than this, in characters, are not kept; no document has one. */
const longestAddress = 1024;
const mostAcceptHeaders = 256;

export interface HotAnswers {
  /** Answers the request, if its answer is ready. */
  answer(incoming: IncomingMessage, outgoing: ServerResponse): boolean;
  /** What is to be told the answer of the app to this request; undefined where it is not one to keep. */
  recorder(incoming: IncomingMessage): ((answer: DocumentAnswer) => void) | undefined;
  /** Forgets every answer, because the published files have changed. */
  clear(): void;
}

const flatten = (headers: Readonly<Record<string, string>>): string[] => Object.entries(headers).flat();

/** Ready answers of up to `memory` bytes together. */
export const createHotAnswers = (memory: number): HotAnswers => {
  const ready = new ByteCache<Ready>(memory, weigh);
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
    answer: (incoming, outgoing) => {
      const answers = incoming.method === 'GET' ? ready.get(incoming.url ?? '') : undefined;
      if (answers === undefined) return false;
      const { headers } = incoming;
      const chosen = answers[encodingOf(headers['accept-encoding'] as string | undefined)];
      if (chosen === undefined) return false;
      const known = headers['if-none-match'];
      if (known !== undefined && matchesEntityTag(known, chosen.etag)) {
        outgoing.writeHead(304, chosen.notModified);
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
        const notModified = flatten(notModifiedHeaders(headers));
        ready.set(url, { ...ready.get(url), [asked]: { etag, headers: flatten(headers), notModified, body } });
      };
    },

    clear: () => {
      age++;
      ready.clear();
    },
  };
};
