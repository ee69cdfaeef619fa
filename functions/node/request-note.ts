import { randomFillSync } from 'node:crypto';
import type { AskedFor, RequestNote } from '../environment.ts';

// The random bytes in the name of a request: enough that nobody can guess the name of another one, or count requests by
// their names. They are made by the thousand, which is cheap.
const idBytes = 12;
const pool = Buffer.alloc(1024 * idBytes);
let used = pool.length;

const makeId = (): string => {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += idBytes;
  return pool.toString('hex', used - idBytes, used);
};

// The characters that common proxies use (hex, UUID, base64) and no others, because it is written to headers and logs.
const validId = /^[\w.:+/=@-]{1,128}$/;

/** The header in which proxies name a request, and which answers repeat. */
export const requestIdHeader = 'X-Request-Id';

/** The host's notes on a request: its name, and what it asked for, once that is known. */
export class NodeRequestNote implements RequestNote {
  operation: AskedFor | undefined;
  #id: string | undefined;
  /** The name that our proxy gave it, if it is valid. */
  readonly given: string | undefined;

  /** `given` is the value of the header, if there is a proxy of ours in front, which can be trusted. */
  constructor(given: unknown) {
    this.given = typeof given === 'string' && validId.test(given) ? given : undefined;
  }

  /** Made when it is needed, because most requests are never mentioned anywhere. */
  get id(): string {
    this.#id ??= this.given ?? makeId();
    return this.#id;
  }
}
