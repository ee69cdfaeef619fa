// The door by which a Worker of Cloudflare enters the gateway, and by which its operator's commands reach it.

export type { CredentialStore } from './store/credential-store.ts';
export { openWorkerGateway } from './workers/open-worker-gateway.ts';
export { operatedStore } from './workers/operator.ts';
export { type Operated, remoteStore, type StoreOperation, type StoreStub } from './workers/remote-store.ts';
