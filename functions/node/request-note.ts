import { randomFillSync } from 'node:crypto';
import type { AskedFor, RequestNote } from '../environment.ts';

// Nobody can guess another's, nor count requests by them. Random bytes are had cheaply by the thousand.
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

// What common proxies make (hex, UUID, base64), and no more: it stands in headers and logs.
const validId = /^[\w.:+/=@-]{1,128}$/;

/** The header in which proxies name a request and answers give the name back. */
export const requestIdHeader = 'X-Request-Id';

/** What the host notes of a request: its name, and what was asked for once that is known. */
export class NodeRequestNote implements RequestNote {
  operation: AskedFor | undefined;
  #id: string | undefined;
  /** The name that a proxy of ours gave it, where it is a good one. */
  readonly given: string | undefined;

  /** `given`: what a header says, if what stands in front is ours and its word is to be believed. */
  constructor(given: unknown) {
    this.given = typeof given === 'string' && validId.test(given) ? given : undefined;
  }

  /** Made when it is asked for, since most requests are never spoken of. */
  get id(): string {
    this.#id ??= this.given ?? makeId();
    return this.#id;
  }
}
