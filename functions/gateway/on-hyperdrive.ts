// The door by which a Worker whose store is behind Hyperdrive reaches it.

export { openHyperdriveStore } from './workers/hyperdrive-store.ts';
