import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AskedFor } from '../environment.ts';
import { chooseEncoding, type Encoding } from '../http/accept-header.ts';
import { matchesEntityTag, notModifiedHeaders } from '../http/conditional.ts';
import type { WholeAnswer } from './answer-writer.ts';
import { AskedBefore } from './asked-before.ts';
import { ByteCache } from './byte-cache.ts';
import type { PlainHeaders } from './plain-request.ts';
import { ReadyBytes } from './ready-bytes.ts';

// The same documents are requested again and again, by the same addresses, and what people type begins alike. Such
// answers are kept complete and sent without the app; the app made each of them once, so the answers are the same.
// Their headers say which may be kept, and for how long, as for any other cache. An answer with an entity tag is a
// published file, and is kept until a build changes the files.

/** An answer that is ready. */
interface Ready {
  /** The operation that it answers. */
  readonly operation: AskedFor | undefined;
  /** Names and values alternately, as for writeHead. */
  readonly headers: string[];
  readonly body: Uint8Array;
}

/** An answer that was computed. */
interface ReadyComputed extends Ready {
  /** When it expires, in milliseconds as of performance.now(). */
  readonly end: number;
}

/** A published file. */
interface ReadyDocument extends Ready {
  readonly etag: string;
  /** The headers of a 304 answer: names and values alternately. */
  readonly notModified: string[];
  /** Both answers as bytes for a connection, if the file is no longer than a piece of an answer. */
  readonly direct?: { readonly found: ReadyBytes; readonly notModified: ReadyBytes };
}

/** What is written to a connection for a published file. */
export interface DirectAnswer {
  readonly status: 200 | 304;
  readonly operation: AskedFor | undefined;
  readonly bytes: ReadyBytes;
}

/** By the coding that was asked for, which may differ from that of the answer. */
type ByEncoding<Kind extends Ready> = Partial<Record<Encoding, Kind>>;

const weigh = (ready: ByEncoding<Ready>): number =>
  Object.values(ready).reduce((sum, { body }) => sum + body.length + 2048, 256);

/** Answers at addresses longer than this, in characters, are not kept. No document has one. */
const longestAddress = 1024;
const mostAcceptHeaders = 256;

/** The parts of a request that identify its answer. */
interface Observable {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: { readonly 'accept-encoding'?: string | string[] | undefined };
}

/** Where to announce that the answer was sent in one piece. */
interface Observed {
  onWhole: ((answer: WholeAnswer) => void) | undefined;
  readonly note: Noted | undefined;
}

interface Noted {
  operation: AskedFor | undefined;
}

export interface HotAnswers {
  /** Answers the request if its answer is ready. `admit` decides whether the client may have a computed one. */
  answer(
    incoming: IncomingMessage,
    outgoing: ServerResponse & { note: Noted | undefined },
    admit: () => boolean,
  ): boolean;
  /**
   * The bytes that answer a GET of this address on a connection that stays open, if they are ready and short. Counts as
   * an answer.
   */
  find(url: string, headers: Pick<PlainHeaders, 'accept-encoding' | 'if-none-match'>): DirectAnswer | undefined;
  /** The kept computed answer to a GET of this address, if `admit` lets the client have it. Counts as an answer. */
  findComputed(url: string, headers: Pick<PlainHeaders, 'accept-encoding'>, admit: () => boolean): Ready | undefined;
  /**
   * Keeps the answer that the app is about to give to this request, if its headers allow that; a computed one if the
   * same was asked for before.
   */
  observe(incoming: Observable, outgoing: Observed): void;
  /** Drops all answers, because the published files have changed. */
  clear(): void;
  /** How many answers of each kind were ready, and how many the app gave because none was. */
  readonly answered: Readonly<Record<'documents' | 'computed' | 'app', number>>;
  /** How many bytes of each kind are held. */
  weights(): Readonly<Record<'documents' | 'computed', number>>;
}

const mayBeGiven = ({ end }: ReadyComputed, admit: () => boolean): boolean => end >= performance.now() && admit();

/** Headers as Node takes them: names and values in turn. */
export const flatten = (headers: Readonly<Record<string, string>>): string[] => Object.entries(headers).flat();

/** Copies a text, because a part of a request would keep all of it in memory. Addresses are ASCII. */
const withoutRest = (url: string): string => Buffer.from(url, 'latin1').toString('latin1');

/** Headers by name, in lower case. */
type Told = ReadonlyMap<string, string>;

/**
 * For how many seconds this answer may be given to any client that asks for the same in the same coding (RFC 9111,
 * sections 3 and 5.2.2); 0 if not every client may have it, or if it depends on more than that.
 */
const sharedFor = (headers: Told): number => {
  const directives = (headers.get('cache-control') ?? '').toLowerCase().split(/\s*,\s*/);
  const varies = (headers.get('vary') ?? 'accept-encoding').toLowerCase().split(/\s*,\s*/);
  if (!directives.includes('public') || headers.has('set-cookie')) return 0;
  if (varies.some((name) => name !== 'accept-encoding')) return 0;
  return Number(directives.find((directive) => directive.startsWith('max-age='))?.slice('max-age='.length) ?? 0);
};

/** How much is kept, and what answers say about the connection. */
export interface HotAnswersOptions {
  /** The most memory, in bytes, for documents, and for computed answers. */
  readonly documents: number;
  readonly computed: number;
  /** The longest body, in bytes, that is written to a connection in one piece. */
  readonly pieceBytes: number;
  /** How long, in milliseconds, a connection stays open without a request. */
  readonly keepAliveTimeout: number;
}

/** A cache of ready documents and computed answers. */
export const createHotAnswers = ({ keepAliveTimeout, pieceBytes, ...memory }: HotAnswersOptions): HotAnswers => {
  const documents = new ByteCache<ByEncoding<ReadyDocument>>(memory.documents, weigh);
  // Separate, so that searches do not displace documents.
  const computed = new ByteCache<ByEncoding<ReadyComputed>>(memory.computed, weigh);
  // Few questions are asked again. To keep the answers to all, which the garbage collector finds old when they go, takes
  // as much time as a search.
  const askedBefore = new AskedBefore();
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
    const told: Told = new Map(Object.entries(written).map(([name, value]) => [name.toLowerCase(), value]));
    const seconds = sharedFor(told);
    // On a connection that stays open, an answer that does not state its length has no end.
    if (seconds === 0 || !told.has('content-length')) return;
    const etag = told.get('etag');
    const ready = { operation: note?.operation, headers: flatten(written), body };
    if (etag === undefined) {
      if (!askedBefore.note(`${asked} ${url}`)) return;
      const now = performance.now();
      const end = now + seconds * 1000;
      // Otherwise expired answers would stay until the next build.
      computed.sweep((answers) => Object.values(answers).every((answer) => answer.end < now));
      computed.set(withoutRest(url), { ...computed.get(url), [asked]: { ...ready, end } });
    } else if (!url.includes('?')) {
      documents.set(url, { ...documents.get(url), [asked]: readyDocument(ready, etag, notModifiedHeaders(written)) });
    }
  };

  const readyDocument = (ready: Ready, etag: string, headers: Readonly<Record<string, string>>): ReadyDocument => {
    const notModified = flatten(headers);
    if (ready.body.length > pieceBytes) return { ...ready, etag, notModified };
    const found = new ReadyBytes(200, ready.headers, ready.body, keepAliveTimeout);
    const direct = { found, notModified: new ReadyBytes(304, notModified, new Uint8Array(), keepAliveTimeout) };
    return {
      ...ready,
      // A part of the whole answer, so that the body is held only once.
      get body() {
        return found.body;
      },
      etag,
      notModified,
      direct,
    };
  };

  return {
    answered,
    weights: () => ({ documents: documents.weight, computed: computed.weight }),
    answer: (incoming, outgoing, admit) => {
      const { headers, method, url = '' } = incoming;
      if (method !== 'GET') return false;
      const encoding = encodingOf(headers['accept-encoding'] as string | undefined);
      const document = documents.get(url)?.[encoding];
      const chosen = document ?? computed.get(url)?.[encoding];
      if (chosen === undefined) return false;
      if ('end' in chosen && !mayBeGiven(chosen, admit)) return false;
      answered[document === undefined ? 'computed' : 'documents']++;
      if (outgoing.note !== undefined) outgoing.note.operation = chosen.operation;
      if (document !== undefined && matchesEntityTag(headers['if-none-match'], document.etag)) {
        outgoing.writeHead(304, document.notModified);
        outgoing.end();
      } else {
        outgoing.writeHead(200, chosen.headers);
        outgoing.end(chosen.body);
      }
      return true;
    },

    find: (url, headers) => {
      const document = documents.get(url)?.[encodingOf(headers['accept-encoding'])];
      if (document?.direct === undefined) return undefined;
      answered.documents++;
      const { operation, direct } = document;
      return matchesEntityTag(headers['if-none-match'], document.etag)
        ? { status: 304, operation, bytes: direct.notModified }
        : { status: 200, operation, bytes: direct.found };
    },

    findComputed: (url, headers, admit) => {
      const chosen = computed.get(url)?.[encodingOf(headers['accept-encoding'])];
      if (chosen === undefined || !mayBeGiven(chosen, admit)) return undefined;
      answered.computed++;
      return chosen;
    },

    observe: (incoming, outgoing) => {
      answered.app++;
      const { url = '', method, headers } = incoming;
      if (method !== 'GET' || url.length > longestAddress || !url.startsWith('/')) return;
      const asked = encodingOf(headers['accept-encoding'] as string | undefined);
      const askedAt = age;
      outgoing.onWhole = (answer) => {
        // An answer that was begun before the files changed may be older than the change.
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
