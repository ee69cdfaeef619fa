import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { type HeadBounds, headEnd, RequestHead } from './request-head.ts';

// Node's parser reads all requests that came in one piece of 64 KB before the first of them is answered: thousands, each
// with its objects, and what is wrong with a later one is noticed in the middle of an earlier answer. So bytes are given
// to it one request at a time. What a client sends ahead waits: one piece here, the rest in the system's buffer, and
// then at the client, which is how TCP tells it to stop.

const pushToParser = Readable.prototype.push;
const nothing = (): void => {};

export interface IntakeOptions {
  readonly bounds: HeadBounds;
  /** Does this when it is the client's turn, at once or later. */
  readonly takeTurn: (work: () => void) => void;
  /**
   * Asked first where all of a head has come: true where it was answered past the parser, and `over` is called, at once
   * or later, when the answer has been given away.
   */
  readonly answerDirectly?: (head: Buffer, over: () => void) => boolean;
  /** Takes so many bytes of room for a long head; false where there are none, and the client has been refused. */
  readonly takeRoom?: (bytes: number) => boolean;
  /** Gives back what was taken. */
  readonly giveRoom?: (bytes: number) => void;
  /** Told that a head is too long; no answer is under way then. Called once, and nothing is read after it. */
  readonly onExceeded: (bound: keyof HeadBounds) => void;
}

/** What of a head needs no room, in bytes: every connection may have one. */
const shortHead = 8 * 1024;

/** Hands what comes on a connection to the parser of requests, one at a time. */
export class Intake {
  readonly #socket: Socket;
  readonly #options: IntakeOptions;
  readonly #head: RequestHead;
  /** Has the system read on, where it was told to stop. */
  readonly #readOn: () => void;
  #held: Buffer | undefined;
  #ended = false;
  #discarding = false;
  #waiting = false;
  /** The request that was read last; it may still be sending its body. */
  #incoming: IncomingMessage | undefined;
  /** Bytes of that body to come, where it said how many they are. */
  #bodyLeft = 0;
  #answering = false;
  /** Bytes of the head that is read or was read last, and what they took of the room. */
  #headBytes = 0;
  #taken = 0;
  readonly #endAnswer = (): void => {
    this.#answering = false;
    this.#giveRoom();
    // What was sent ahead waits for another round of the loop: answered one upon the other, requests of one connection
    // would keep everything else from being looked at.
    if (this.#held !== undefined) setImmediate(() => this.#handOn());
    else this.#handOn();
  };

  /** Takes over what is read from a connection that an HTTP server has just been given. */
  constructor(socket: Socket, options: IntakeOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#head = new RequestHead(options.bounds);
    // Until somebody listens for data the parser reads from the system by itself.
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

  /** Whether an answer is under way. */
  get isAnswering(): boolean {
    return this.#answering;
  }

  /** Whether the request that was read last has its answer while more of its body is to come. */
  get isAnsweredBeforeItsEnd(): boolean {
    return !this.#answering && this.#incoming?.complete === false;
  }

  /** Called with every request that the parser has read. The next one is read when its answer is complete. */
  begin(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.#incoming = incoming;
    this.#answering = true;
    // Of one that is sent in chunks the parser takes no length.
    this.#bodyLeft = Number(incoming.headers['content-length'] ?? 0);
    this.#head.reset();
    outgoing.once('close', this.#endAnswer);
  }

  /** Throws away whatever comes from now on. */
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
    // False stops reading from the system until more is asked for.
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
      // The reader of a body has enough for now.
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
    const { bytes, rest, exceeded } = isChunk ? this.#head.readChunked(held) : this.#head.read(held);
    this.#held = rest;
    if (exceeded !== undefined) this.#options.onExceeded(exceeded);
    // Where there is no room for it, it has been refused.
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
    // The parser counts the time of a connection without a request from its beginning, so it is given the first one.
    if (answerDirectly === undefined || this.#incoming === undefined || !this.#head.isAtBeginning) return false;
    const end = held.indexOf(headEnd) + headEnd.length;
    if (end < headEnd.length || end > bounds.requestLine || end > bounds.headers) return false;
    this.#held = end === held.length ? undefined : held.subarray(end);
    this.#answering = true;
    if (answerDirectly(end === held.length ? held : held.subarray(0, end), this.#endAnswer)) {
      // Nothing went through the parser, which would have asked for more.
      if (this.#held === undefined) this.#readOn();
      return true;
    }
    this.#held = held;
    this.#answering = false;
    return false;
  }
}
