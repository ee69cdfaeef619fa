import { type IncomingMessage, ServerResponse } from 'node:http';
import type { NodeRequestNote } from './request-note.ts';

/** Counts the bytes of answers that the reader has yet to take. */
export interface UnreadAccount {
  /** That many more bytes are to be read. */
  add(bytes: number): void;
  /** That many of them were taken. */
  take(bytes: number): void;
}

/** An answer that was passed on in one piece. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

type Done = (error?: Error | null) => void;

/**
 * Answers that are written to their connection piece by piece, each when the reader has taken the one before, and that
 * are accounted for meanwhile. So a reader that stops can be told from a slow one, and it is known how much memory all
 * of them hold.
 */
export const accountedAnswers = (pieceBytes: number) =>
  class AccountedAnswer<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    account: UnreadAccount | undefined;
    note: NodeRequestNote | undefined;
    /** Called with the answer, if it is sent in one piece. */
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
