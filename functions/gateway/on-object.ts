// The door by which a Durable Object of Cloudflare enters the gateway: it keeps the store.

export type { ObjectStorage } from './workers/object-connection.ts';
export { openObjectStore } from './workers/object-store.ts';
export { operateOn } from './workers/remote-store.ts';
