import type { Context } from 'hono';

/** What the host knows about a request and a Request does not tell. */
export interface Bindings {
  /** The address of the client, for limits. */
  readonly clientAddress?: string;
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
