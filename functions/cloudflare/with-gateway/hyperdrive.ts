import { waitUntil } from 'cloudflare:workers';
import { CatalogObject as CatalogAlone } from '../catalog-object.ts';
import { createWorker } from '../create-worker.ts';
import { type GatewayEnvironment, readGatewaySettings } from './gateway-settings.ts';
import { sweep } from './sweeping.ts';

export { DownloadsObject } from '../downloads-object.ts';

interface Bound extends GatewayEnvironment {
  readonly HYPERDRIVE: { readonly connectionString: string };
}

// Loaded with the first request: a Worker has little time to start in.
const openStore = async ({ HYPERDRIVE }: Bound) => {
  const { openHyperdriveStore } = await import('../../gateway/on-hyperdrive.ts');
  return openHyperdriveStore(() => HYPERDRIVE.connectionString, waitUntil);
};

export class CatalogObject extends CatalogAlone {
  protected override async probeCredentials(): Promise<boolean> {
    const { probeStore } = await import('../../gateway/on-workers.ts');
    return probeStore(await openStore(this.env as Bound));
  }
}

const worker = createWorker<Bound>(async (bound) => {
  const { openWorkerGateway } = await import('../../gateway/on-workers.ts');
  return openWorkerGateway({ ...readGatewaySettings(bound), store: await openStore(bound), finish: waitUntil });
});

/** The Worker with a gateway whose store is a PostgreSQL database behind Hyperdrive. */
export default {
  ...worker,
  /** Sweeps the store when the configured schedule says so, because a Worker does not run all the time. */
  scheduled: async (_: unknown, bound: Bound): Promise<void> => {
    await sweep(await openStore(bound));
  },
};
