import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AskedFor } from '../environment.ts';
import { chooseEncoding, type Encoding } from '../http/accept-header.ts';
import { matchesEntityTag, notModifiedHeaders } from '../http/conditional.ts';
import type { WholeAnswer } from './answer-writer.ts';
import { ByteCache } from './byte-cache.ts';

// The same documents are asked for again and again, by the same addresses, and what people type begins alike. Such
// answers are kept ready, whole, and sent without going through the app; the app decided each of them once, so that both
// ways answer alike. Which of them may be kept, and for how long, their own headers say, as they do to any other cache;
// one that has an entity tag is a published file, and holds until a build changes the files.

interface ReadyAnswer {
  /** What it is the answer to. */
  readonly operation: AskedFor | undefined;
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

/** What tells its reader that the answer was sent whole. */
interface Observed {
  onWhole: ((answer: WholeAnswer) => void) | undefined;
  readonly note: Noted | undefined;
}

interface Noted {
  operation: AskedFor | undefined;
}

export interface HotAnswers {
  /** Answers the request, if its answer is ready, and where it was computed, if `admit` lets the client have it. */
  answer(
    incoming: IncomingMessage,
    outgoing: ServerResponse & { note: Noted | undefined },
    admit: () => boolean,
  ): boolean;
  /** Keeps what the app is going to answer this request with, if its headers allow that. */
  observe(incoming: IncomingMessage, outgoing: Observed): void;
  /** Forgets every answer, because the published files have changed. */
  clear(): void;
  /** How many answers came from each kind, and from the app since none was ready. */
  readonly answered: Readonly<Record<'documents' | 'computed' | 'app', number>>;
  /** Bytes of each kind that are held. */
  weights(): Readonly<Record<'documents' | 'computed', number>>;
}

const flatten = (headers: Readonly<Record<string, string>>): string[] => Object.entries(headers).flat();

/**
 * For how many seconds any client may be given this answer again that asks for the same in the same coding (RFC 9111,
 * sections 3 and 5.2.2); 0 where not every client may, or where the answer depends on more than that.
 */
const sharedFor = (headers: Headers): number => {
  const directives = (headers.get('cache-control') ?? '').toLowerCase().split(/\s*,\s*/);
  const varies = (headers.get('vary') ?? 'accept-encoding').toLowerCase().split(/\s*,\s*/);
  if (!directives.includes('public') || headers.has('set-cookie')) return 0;
  if (varies.some((name) => name !== 'accept-encoding')) return 0;
  return Number(directives.find((directive) => directive.startsWith('max-age='))?.slice('max-age='.length) ?? 0);
};

/** Ready answers: documents and computed ones, of up to so many bytes each. */
export const createHotAnswers = (memory: { documents: number; computed: number }): HotAnswers => {
  const documents = new ByteCache<Ready>(memory.documents, weigh);
  // Apart, so that documents are not forgotten for questions that nobody asks again.
  const computed = new ByteCache<Ready>(memory.computed, weigh);
  const encodings = new Map<string, Encoding>();
  let age = 0;
  const answered = { documents: 0, computed: 0, app: 0 };

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

  const keep = (url: string, asked: Encoding, { headers: written, body }: WholeAnswer, note?: Noted): void => {
    const told = new Headers(written);
    const seconds = sharedFor(told);
    if (seconds === 0) return;
    const headers = flatten(written);
    const operation = note?.operation;
    const etag = told.get('etag');
    if (etag === null) {
      const now = performance.now();
      const end = now + seconds * 1000;
      // Few questions are asked again, and what nobody may be given any more would stay until the next build.
      computed.sweep((ready) => Object.values(ready).every((answer) => (answer.end ?? now) < now));
      computed.set(url, { ...computed.get(url), [asked]: { operation, headers, body, end } });
    } else if (!url.includes('?')) {
      const notModified = { etag, headers: flatten(notModifiedHeaders(written)) };
      documents.set(url, { ...documents.get(url), [asked]: { operation, headers, notModified, body } });
    }
  };

  return {
    answered,
    weights: () => ({ documents: documents.weight, computed: computed.weight }),
    answer: (incoming, outgoing, admit) => {
      const { headers, method, url = '' } = incoming;
      if (method !== 'GET') return false;
      const answers = documents.get(url) ?? computed.get(url);
      const chosen = answers?.[encodingOf(headers['accept-encoding'] as string | undefined)];
      if (chosen === undefined) return false;
      const { end, notModified } = chosen;
      if (end !== undefined && (end < performance.now() || !admit())) return false;
      answered[end === undefined ? 'documents' : 'computed']++;
      if (outgoing.note !== undefined) outgoing.note.operation = chosen.operation;
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

    observe: (incoming, outgoing) => {
      answered.app++;
      const { url = '', method, headers } = incoming;
      if (method !== 'GET' || url.length > longestAddress || !url.startsWith('/')) return;
      const asked = encodingOf(headers['accept-encoding'] as string | undefined);
      const askedAt = age;
      outgoing.onWhole = (answer) => {
        // What was read before the change may be older than it.
        if (askedAt === age && answer.status === 200) keep(url, asked, answer, outgoing.note);
      };
    },

    clear: () => {
      age++;
      documents.clear();
      computed.clear();
    },
  };
};
