import type { Context } from 'hono';
import type { ComputedAnswer } from './http/answers.ts';
import type { DocumentAnswer } from './http/document-answer.ts';

/** What the host knows about a request and a Request does not tell. */
export interface Bindings {
  /** The address of the client, for limits. */
  readonly clientAddress?: string;
  /** Told the document that was answered, so that the host can answer the same address by itself. */
  readonly remember?: (answer: DocumentAnswer) => void;
  /** Told an answer that any client may get for some seconds, likewise. */
  readonly keep?: (answer: ComputedAnswer) => void;
}

export interface Environment {
  Bindings: Bindings;
  Variables: {
    /** The decoded segments of the path below the API's root, or of the whole path outside the API. */
    segments: readonly string[];
    /** Whether the address is one of the API's, known or not. */
    isApi: boolean;
  };
}

/** Answers one operation of the API. */
export type Handler = (context: Context<Environment>) => Promise<Response>;
