import type { Context } from 'hono';
import type { OlderOperationName } from '../src/contract/older-addresses/operations.ts';
import type { OperationName } from '../src/contract/paths.ts';

/**
 * What a request asked for, in words of ours: an operation of the table, a document by its own name, a page, or a path of
 * the gateway. Never a part of the address, so that there are only so many.
 */
export type AskedFor =
  | PresentOperation
  | 'page'
  | `gateway.${string}`
  // Who still asks for addresses from before /v2, and by which of them.
  | `older.${OlderOperationName}`
  | `v4.${PresentOperation}`;

/** What is answered below the API's root. */
type PresentOperation = OperationName | 'document';

/** What is noted of a request for whoever runs the service. */
export interface RequestNote {
  /** Names the request, in the answer and in the log. */
  readonly id: string;
  /** Undefined until it is known, and where the address is none of ours. */
  operation: AskedFor | undefined;
}

/** What the host knows about a request and a Request does not tell. */
export interface Bindings {
  /** The address of the client, for limits. */
  readonly clientAddress?: string;
  /** Where the app notes what was asked for. */
  readonly note?: RequestNote;
}

/** Who asks, as far as the host tells. */
export interface Asking {
  readonly env: Bindings | undefined;
}

export interface Environment {
  Bindings: Bindings;
  Variables: {
    /** The decoded segments of the path below the API's root, or of the whole path outside the API. */
    segments: readonly string[];
    /** Whether the address is one of the API's, known or not. */
    isApi: boolean;
    /** Whether it is an address from before /v2 (`older`), or below the later root where the same is answered (`later`). */
    root: 'older' | 'later' | undefined;
  };
}

/** Answers one operation of the API. */
export type Handler = (context: Context<Environment>) => Promise<Response>;
