import type { Context } from 'hono';
import type { OlderOperationName } from '../src/contract/older-addresses/operations.ts';
import type { OperationName } from '../src/contract/paths.ts';

/**
 * What a request asked for: an operation of the table, a document under its own name, a page, or a path of the gateway.
 * Never a part of the address, so that the number of values is bounded.
 */
export type AskedFor =
  | PresentOperation
  | 'page'
  | `gateway.${string}`
  // Shows who still uses addresses from before /v2, and which ones.
  | `older.${OlderOperationName}`
  | `v4.${PresentOperation}`;

/** What the API's root answers. */
type PresentOperation = OperationName | 'document';

/** Notes on a request for the operator. */
export interface RequestNote {
  /** Identifies the request, in its answer and in the log. */
  readonly id: string;
  /** Undefined until it is known, and for an address that does not exist. */
  operation: AskedFor | undefined;
}

/** What the host knows about a request that is not part of a Request. */
export interface Bindings {
  /** The address of the client, for limits. */
  readonly clientAddress?: string;
  /** The app notes here what was asked for. */
  readonly note?: RequestNote;
  /** Whether the server will stop soon, so that balancers should ask another one. */
  readonly isLeaving?: boolean;
}

/** Who asks, as far as the host knows. */
export interface Asking {
  readonly env: Bindings | undefined;
}

export interface Environment {
  Bindings: Bindings;
  Variables: {
    /** The decoded segments of the path below the API's root, or of the whole path outside the API. */
    segments: readonly string[];
    /** Whether the address belongs to the API, known or not. */
    isApi: boolean;
    /** `older` for an address from before /v2, `later` for one below the later root, which answers the same as /v2. */
    root: 'older' | 'later' | undefined;
  };
}

/** Answers one operation of the API. */
export type Handler = (context: Context<Environment>) => Promise<Response>;
