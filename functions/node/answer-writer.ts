import { type IncomingMessage, ServerResponse } from 'node:http';

/** Keeps account of the bytes of answers that a reader has yet to take. */
export interface UnreadAccount {
  /** So many bytes are to be read. */
  add(bytes: number): void;
  /** So many of them were taken. */
  take(bytes: number): void;
}

type Done = (error?: Error | null) => void;

/**
 * Answers that are given to their connection piece by piece, each when its reader took the one before, and that are
 * accounted for meanwhile: a reader that stops is told from one that is slow, and what all of them hold is known.
 */
export const accountedAnswers = (pieceBytes: number) =>
  class AccountedAnswer<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    account: UnreadAccount | undefined;

    // biome-ignore lint/suspicious/noExplicitAny: the overloads of the class it extends
    override write(chunk: any, ...rest: any[]): boolean {
      const done = rest.findLast((each): each is Done => typeof each === 'function');
      const encoding = typeof rest[0] === 'string' ? (rest[0] as BufferEncoding) : 'utf8';
      const { account } = this;
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
