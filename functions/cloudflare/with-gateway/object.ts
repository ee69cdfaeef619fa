import { waitUntil } from 'cloudflare:workers';
import type { StoreStub } from '../../gateway/on-workers.ts';
import { CatalogObject as CatalogAlone } from '../catalog-object.ts';
import { createWorker } from '../create-worker.ts';
import type { ObjectNamespace } from '../platform.ts';
import { type GatewayEnvironment, readGatewaySettings } from './gateway-settings.ts';

export { DownloadsObject } from '../downloads-object.ts';
export { GatewayObject } from './gateway-object.ts';

interface Bound extends GatewayEnvironment {
  readonly CREDENTIALS: ObjectNamespace<StoreStub>;
}

/** The name of the one object that keeps sign-ins. */
const objectName = 'gateway';

// Loaded with the first request: a Worker has little time to start in.
const openStore = async ({ CREDENTIALS }: Bound) => {
  const { remoteStore } = await import('../../gateway/on-workers.ts');
  return remoteStore(() => CREDENTIALS.getByName(objectName), waitUntil);
};

export class CatalogObject extends CatalogAlone {
  protected override async probeCredentials(): Promise<boolean> {
    const { probeStore } = await import('../../gateway/on-workers.ts');
    return probeStore(await openStore(this.env as Bound));
  }
}

/** The Worker with a gateway whose store a Durable Object keeps. */
export default createWorker<Bound>(async (bound) => {
  const { openWorkerGateway } = await import('../../gateway/on-workers.ts');
  return openWorkerGateway({ ...readGatewaySettings(bound), store: await openStore(bound), finish: waitUntil });
});
