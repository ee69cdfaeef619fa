import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { type HeadBounds, headEnd, RequestHead } from './request-head.ts';

// Node's parser reads all requests of one piece of 64 KB before the first is answered. There may be thousands, each
// with its objects, and an error in a later one interrupts an earlier answer. So the parser is given one request at a
// time. What a client sends ahead waits: one piece here, the rest in the system's buffer and then at the client,
// because TCP makes it stop.

const pushToParser = Readable.prototype.push;
const nothing = (): void => {};

export interface IntakeOptions {
  readonly bounds: HeadBounds;
  /** Runs the function when it is the client's turn, now or later. */
  readonly takeTurn: (work: () => void) => void;
  /**
   * Called first with each complete head. Returns true if it answers without the parser, and calls `over`, now or
   * later, when the answer has been written.
   */
  readonly answerDirectly?: (head: Buffer, over: () => void) => boolean;
  /** Reserves that many bytes for a long head. False if there are none left; the client has then been refused. */
  readonly takeRoom?: (bytes: number) => boolean;
  /** Releases what was reserved. */
  readonly giveRoom?: (bytes: number) => void;
  /** Called once, when a head is too long. No answer is in progress then, and nothing more is read. */
  readonly onExceeded: (bound: keyof HeadBounds) => void;
}

/** The bytes of a head for which nothing is reserved, because every connection may have one. */
const shortHead = 8 * 1024;

/** How many characters of a head are kept, to see of whose address a refusal is. */
const beginningLength = 1024;

/** Passes what arrives on a connection to the HTTP parser, one request at a time. */
export class Intake {
  readonly #socket: Socket;
  readonly #options: IntakeOptions;
  readonly #head: RequestHead;
  /** Makes the system continue to read after it was told to stop. */
  readonly #readOn: () => void;
  #held: Buffer | undefined;
  #ended = false;
  #discarding = false;
  #waiting = false;
  /** The last request that was read. Its body may not be complete yet. */
  #incoming: IncomingMessage | undefined;
  /** How many bytes of its body are still to come, if it stated a length. */
  #bodyLeft = 0;
  #answering = false;
  /** The first characters of the current or last head, unless a request was answered without the parser. */
  #beginning = '';
  /** Bytes of the current or last head, and how many of them are reserved. */
  #headBytes = 0;
  #taken = 0;
  readonly #endAnswer = (): void => {
    this.#answering = false;
    this.#giveRoom();
    // The next request waits for another round of the event loop; otherwise the requests of one connection, answered
    // one after another, would block everything else.
    if (this.#held !== undefined) setImmediate(() => this.#handOn());
    else this.#handOn();
  };

  /** Takes over the reading from a connection that an HTTP server has just received. */
  constructor(socket: Socket, options: IntakeOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#head = new RequestHead(options.bounds);
    // Until there is a listener for data, the parser reads from the system directly.
    socket.on('data', nothing).off('data', nothing);
    const read = socket._read.bind(socket);
    this.#readOn = () => read(0);
    socket.push = (chunk: Buffer | null) => this.#take(chunk);
    socket._read = () => {
      if (this.#held === undefined) this.#readOn();
      else process.nextTick(() => this.#handOn());
    };
    socket.on('resume', () => this.#handOn());
    socket.once('close', () => this.#giveRoom());
  }

  /** The target of the head that was read last, or its beginning; empty if none arrived. */
  get target(): string {
    return /^\s*\S+ +(\S*)/.exec(this.#beginning)?.[1] ?? '';
  }

  /** Whether something arrived that waits to be read, as for the client's turn. */
  get isWaiting(): boolean {
    return this.#held !== undefined && !this.#answering;
  }

  /** Whether the last request has been answered before all of its body arrived. */
  get isAnsweredBeforeItsEnd(): boolean {
    return !this.#answering && this.#incoming?.complete === false;
  }

  /**
   * To be called with every request that the parser has read. The next one is read when this one's answer is complete.
   */
  begin(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.#incoming = incoming;
    this.#answering = true;
    // The parser accepts no length for a chunked body.
    this.#bodyLeft = Number(incoming.headers['content-length'] ?? 0);
    this.#head.reset();
    outgoing.once('close', this.#endAnswer);
  }

  /** Ignores everything that arrives from now on. */
  discard(): void {
    this.#discarding = true;
    this.#held = undefined;
    this.#readOn();
  }

  #take(chunk: Buffer | null): boolean {
    if (chunk === null) this.#ended = true;
    else if (this.#discarding) return true;
    else this.#held = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk]);
    this.#handOn();
    // False stops reading from the system until more is requested.
    return this.#held === undefined;
  }

  #handOn(): void {
    while (this.#held !== undefined && this.#mayGoOn()) {
      if (this.#bodyLeft > 0) this.#giveBody(this.#held);
      else this.#askForTurn();
    }
    if (this.#held === undefined && this.#ended) {
      this.#ended = false;
      pushToParser.call(this.#socket, null);
    }
  }

  #mayGoOn(): boolean {
    const isBetweenRequests = this.#incoming?.complete !== false;
    return (
      !this.#waiting &&
      !this.#discarding &&
      !this.#socket.destroyed &&
      // The reader of the body has enough for now.
      !this.#socket.isPaused() &&
      !(this.#answering && isBetweenRequests)
    );
  }

  #giveBody(held: Buffer): void {
    const bytes = held.subarray(0, this.#bodyLeft);
    this.#bodyLeft -= bytes.length;
    this.#held = bytes.length === held.length ? undefined : held.subarray(bytes.length);
    pushToParser.call(this.#socket, bytes);
  }

  #askForTurn(): void {
    let isAtOnce = true;
    this.#waiting = true;
    this.#options.takeTurn(() => {
      this.#waiting = false;
      this.#giveHead();
      if (!isAtOnce) this.#handOn();
    });
    isAtOnce = false;
  }

  #giveHead(): void {
    const held = this.#held;
    if (held === undefined || !this.#mayGoOn()) return;
    const isChunk = this.#incoming?.complete === false;
    if (!isChunk && this.#answerDirectly(held)) return;
    if (!isChunk && this.#head.isAtBeginning) this.#beginning = held.toString('latin1', 0, beginningLength);
    const { bytes, rest, exceeded } = isChunk ? this.#head.readChunked(held) : this.#head.read(held);
    this.#held = rest;
    if (exceeded !== undefined) this.#options.onExceeded(exceeded);
    // If nothing could be reserved, the client has been refused.
    else if (isChunk || this.#hasRoom(bytes.length)) pushToParser.call(this.#socket, bytes);
  }

  #hasRoom(bytes: number): boolean {
    this.#headBytes += bytes;
    const more = this.#headBytes - shortHead - this.#taken;
    if (more <= 0) return true;
    if (this.#options.takeRoom?.(more) === false) return false;
    this.#taken += more;
    return true;
  }

  #giveRoom(): void {
    if (this.#taken > 0) this.#options.giveRoom?.(this.#taken);
    this.#headBytes = 0;
    this.#taken = 0;
  }

  #answerDirectly(held: Buffer): boolean {
    const { answerDirectly, bounds } = this.#options;
    // The parser times how long a new connection sends no request, so it must see the first one.
    if (answerDirectly === undefined || this.#incoming === undefined || !this.#head.isAtBeginning) return false;
    const end = held.indexOf(headEnd) + headEnd.length;
    if (end < headEnd.length || end > bounds.requestLine || end > bounds.headers) return false;
    this.#held = end === held.length ? undefined : held.subarray(end);
    this.#answering = true;
    if (answerDirectly(end === held.length ? held : held.subarray(0, end), this.#endAnswer)) {
      // The parser saw nothing, so it will not ask for more.
      if (this.#held === undefined) this.#readOn();
      return true;
    }
    this.#answering = false;
    return false;
  }
}
