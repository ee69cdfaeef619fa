import type { NodeRequestNote } from './request-note.ts';

/** A request whose answer has ended. */
export interface AnsweredRequest {
  readonly note: NodeRequestNote;
  readonly method: string;
  /** The target of the request, without the path of the public address. */
  readonly target: string;
  readonly userAgent: string | undefined;
  /** An answer that was cut short has the status that it began with. */
  readonly status: number;
  readonly isWhole: boolean;
  /** From the end of the request's head to the end of the answer. */
  readonly milliseconds: number;
  /** Bytes written to the connection, including the head. */
  readonly bytes: number;
  /** The address of the client. */
  readonly client: () => string;
}
