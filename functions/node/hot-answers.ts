import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AskedFor } from '../environment.ts';
import { chooseEncoding, type Encoding } from '../http/accept-header.ts';
import { matchesEntityTag, notModifiedHeaders } from '../http/conditional.ts';
import type { WholeAnswer } from './answer-writer.ts';
import { ByteCache } from './byte-cache.ts';
import type { PlainHeaders } from './plain-request.ts';
import { ReadyBytes } from './ready-bytes.ts';

// The same documents are asked for again and again, by the same addresses, and what people type begins alike. Such
// answers are kept ready, whole, and sent without going through the app; the app decided each of them once, so that both
// ways answer alike. Which of them may be kept, and for how long, their own headers say, as they do to any other cache;
// one that has an entity tag is a published file, and holds until a build changes the files.

/** An answer that is ready. */
interface Ready {
  /** What it is the answer to. */
  readonly operation: AskedFor | undefined;
  /** Names and values in turn, as writeHead takes them. */
  readonly headers: string[];
  readonly body: Uint8Array;
}

/** An answer that was computed. */
interface ReadyComputed extends Ready {
  /** When it is over, as performance.now() tells the time. */
  readonly end: number;
}

/** A published file. */
interface ReadyDocument extends Ready {
  readonly etag: string;
  /** Of what a client is told that has it: names and values in turn. */
  readonly notModified: string[];
  /** As both go over a connection, where the file is no longer than a piece of an answer. */
  readonly direct?: { readonly found: ReadyBytes; readonly notModified: ReadyBytes };
}

/** What a connection is given where a published file was asked for. */
export interface DirectAnswer {
  readonly status: 200 | 304;
  readonly operation: AskedFor | undefined;
  readonly bytes: ReadyBytes;
}

/** By the coding that was asked for, which is not always the one that was given. */
type ByEncoding<Kind extends Ready> = Partial<Record<Encoding, Kind>>;

const weigh = (ready: ByEncoding<Ready>): number =>
  Object.values(ready).reduce((sum, { body }) => sum + body.length + 2048, 256);

/** Addresses longer than this, in characters, are not kept; no document has one. */
const longestAddress = 1024;
const mostAcceptHeaders = 256;

/** What of a request decides under which name its answer is kept. */
interface Observable {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: { readonly 'accept-encoding'?: string | string[] | undefined };
}

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
  /**
   * What a GET of this address is answered with on a connection that stays open, if that is ready and short; counted as
   * answered then.
   */
  find(url: string, headers: Pick<PlainHeaders, 'accept-encoding' | 'if-none-match'>): DirectAnswer | undefined;
  /** The computed answer that is kept for a GET of this address, where `admit` lets the client have it; counted as answered then. */
  findComputed(url: string, headers: Pick<PlainHeaders, 'accept-encoding'>, admit: () => boolean): Ready | undefined;
  /** Keeps what this request is going to be answered with by the app, or as it answers, if its headers allow that. */
  observe(incoming: Observable, outgoing: Observed): void;
  /** Forgets every answer, because the published files have changed. */
  clear(): void;
  /** How many answers came from each kind, and from the app since none was ready. */
  readonly answered: Readonly<Record<'documents' | 'computed' | 'app', number>>;
  /** Bytes of each kind that are held. */
  weights(): Readonly<Record<'documents' | 'computed', number>>;
}

const mayBeGiven = ({ end }: ReadyComputed, admit: () => boolean): boolean => end >= performance.now() && admit();

export const flatten = (headers: Readonly<Record<string, string>>): string[] => Object.entries(headers).flat();

/** The same text in memory of its own: that of a part of a request would hold all of it. Addresses are ASCII. */
const withoutRest = (url: string): string => Buffer.from(url, 'latin1').toString('latin1');

/** Headers by their names in small letters. */
type Told = ReadonlyMap<string, string>;

/**
 * For how many seconds any client may be given this answer again that asks for the same in the same coding (RFC 9111,
 * sections 3 and 5.2.2); 0 where not every client may, or where the answer depends on more than that.
 */
const sharedFor = (headers: Told): number => {
  const directives = (headers.get('cache-control') ?? '').toLowerCase().split(/\s*,\s*/);
  const varies = (headers.get('vary') ?? 'accept-encoding').toLowerCase().split(/\s*,\s*/);
  if (!directives.includes('public') || headers.has('set-cookie')) return 0;
  if (varies.some((name) => name !== 'accept-encoding')) return 0;
  return Number(directives.find((directive) => directive.startsWith('max-age='))?.slice('max-age='.length) ?? 0);
};

/** What is kept, and what of a connection stands in answers. */
export interface HotAnswersOptions {
  /** The most memory for documents, and for computed answers, in bytes. */
  readonly documents: number;
  readonly computed: number;
  /** The longest body, in bytes, that is given to a connection in one piece. */
  readonly pieceBytes: number;
  /** How long, in milliseconds, a connection stays without a request. */
  readonly keepAliveTimeout: number;
}

/** Ready answers: documents and computed ones, of up to so many bytes each. */
export const createHotAnswers = ({ keepAliveTimeout, pieceBytes, ...memory }: HotAnswersOptions): HotAnswers => {
  const documents = new ByteCache<ByEncoding<ReadyDocument>>(memory.documents, weigh);
  // Apart, so that documents are not forgotten for questions that nobody asks again.
  const computed = new ByteCache<ByEncoding<ReadyComputed>>(memory.computed, weigh);
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
    if (seconds === 0) return;
    const etag = told.get('etag');
    const ready = { operation: note?.operation, headers: flatten(written), body };
    if (etag === undefined) {
      const now = performance.now();
      const end = now + seconds * 1000;
      // Few questions are asked again, and what nobody may be given any more would stay until the next build.
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
      // That of the whole, so that it is held once.
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
