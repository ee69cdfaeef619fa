import { cannotListen } from './host-options.ts';
import type { MetricsAddress } from './metrics-address.ts';
import type { MetricsServer } from './metrics-server.ts';
import type { MetricSources } from './prometheus.ts';

/**
 * Has metrics read at an address of their own. What that needs is loaded here, where it is wanted. Throws CannotServe
 * where the address cannot be listened on.
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
