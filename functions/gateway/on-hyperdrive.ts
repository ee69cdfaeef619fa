// The entrance to the gateway for a Worker whose store is behind Hyperdrive.

export { openHyperdriveStore } from './workers/hyperdrive-store.ts';
