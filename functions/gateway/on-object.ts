// The entrance to the gateway for a Durable Object of Cloudflare, which keeps the store.

export type { ObjectStorage } from './workers/object-connection.ts';
export { openObjectStore } from './workers/object-store.ts';
export { operateOn } from './workers/remote-store.ts';
