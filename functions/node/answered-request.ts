import type { NodeRequestNote } from './request-note.ts';

/** A request and the end of its answer. */
export interface AnsweredRequest {
  readonly note: NodeRequestNote;
  readonly method: string;
  /** What was asked for, below the path of the public address. */
  readonly target: string;
  readonly userAgent: string | undefined;
  /** What was cut short has the status with which it began. */
  readonly status: number;
  readonly isWhole: boolean;
  /** From the end of its head to the end of its answer. */
  readonly milliseconds: number;
  /** What was given to the connection, head included. */
  readonly bytes: number;
  /** The address of the client. */
  readonly client: () => string;
}
