// The entrance to the gateway for a Cloudflare Worker, and for the commands of its operator.

export { probeStore } from './probe-store.ts';
export type { CredentialStore } from './store/credential-store.ts';
export type { StoreOperation } from './store/operation-names.ts';
export { openWorkerGateway } from './workers/open-worker-gateway.ts';
export { operatedStore } from './workers/operator.ts';
export { type Operated, remoteStore, type StoreStub } from './workers/remote-store.ts';
