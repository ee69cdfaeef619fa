import { cannotListen } from './host-options.ts';
import type { MetricsAddress } from './metrics-address.ts';
import type { MetricsServer } from './metrics-server.ts';
import type { MetricSources } from './prometheus.ts';

/**
 * Serves metrics at an address of their own. The necessary modules are loaded only here. Throws CannotServe if it
 * cannot listen on the address.
 */
export const openMetrics = async (
  address: MetricsAddress,
  sources: MetricSources,
  report: (error: unknown) => void,
): Promise<MetricsServer> => {
  const [{ createRegistry }, { startMetricsServer }] = await Promise.all([
    import('./prometheus.ts'),
    import('./metrics-server.ts'),
  ]);
  const registry = createRegistry(sources);
  const { contentType } = registry;
  return startMetricsServer(address, { contentType, read: () => registry.metrics(), report }).catch((error) => {
    throw cannotListen(address, error, '--metrics-port');
  });
};
