import { type IncomingMessage, ServerResponse } from 'node:http';
import type { NodeRequestNote } from './request-note.ts';

/** Keeps account of the bytes of answers that a reader has yet to take. */
export interface UnreadAccount {
  /** So many bytes are to be read. */
  add(bytes: number): void;
  /** So many of them were taken. */
  take(bytes: number): void;
}

/** An answer that was given in one piece. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

type Done = (error?: Error | null) => void;

/**
 * Answers that are given to their connection piece by piece, each when its reader took the one before, and that are
 * accounted for meanwhile: a reader that stops is told from one that is slow, and what all of them hold is known.
 */
export const accountedAnswers = (pieceBytes: number) =>
  class AccountedAnswer<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    account: UnreadAccount | undefined;
    note: NodeRequestNote | undefined;
    /** Told the answer when it is sent, where it is sent whole. */
    onWhole: ((answer: WholeAnswer) => void) | undefined;
    #headers: Readonly<Record<string, string>> | undefined;

    // biome-ignore lint/suspicious/noExplicitAny: the overloads of the class it extends
    override writeHead(status: number, ...rest: any[]): this {
      const headers: unknown = rest.at(-1);
      if (typeof headers === 'object' && headers !== null && !Array.isArray(headers)) {
        this.#headers = headers as Record<string, string>;
      }
      return super.writeHead(status, ...rest);
    }

    // biome-ignore lint/suspicious/noExplicitAny: the overloads of the class it extends
    override write(chunk: any, ...rest: any[]): boolean {
      const done = rest.findLast((each): each is Done => typeof each === 'function');
      const encoding = typeof rest[0] === 'string' ? (rest[0] as BufferEncoding) : 'utf8';
      const { account } = this;
      this.#headers = undefined;
      if (account === undefined) return super.write(chunk, encoding, done);
      const { length } = chunk as string | Uint8Array;
      account.add(length);
      return super.write(chunk, encoding, (error) => {
        account.take(length);
        done?.(error);
      });
    }

    // biome-ignore lint/suspicious/noExplicitAny: the overloads of the class it extends
    override end(...given: any[]): this {
      const [body] = given;
      const { account } = this;
      if (!(body instanceof Uint8Array) || account === undefined) return super.end(...(given as []));
      if (this.#headers !== undefined) this.onWhole?.({ status: this.statusCode, headers: this.#headers, body });
      account.add(body.length);
      const takeFrom = (start: number): void => {
        const piece = body.subarray(start, start + pieceBytes);
        const taken = () => account.take(piece.length);
        const next = start + piece.length;
        if (next === body.length) {
          super.end(piece, taken);
          return;
        }
        super.write(piece, (error) => {
          taken();
          if (!error && !this.destroyed) takeFrom(next);
        });
      };
      takeFrom(0);
      return this;
    }
  };
