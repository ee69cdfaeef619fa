import type { HealthRecord } from '../src/contract/records.ts';
import type { Dependencies } from './dependencies.ts';

/** How long results are kept, in milliseconds, so that the check cannot be used as a load (decisions, section 4). */
const keptFor = 3000;
/** A probe that takes longer than this, in milliseconds, has failed. */
const probeTimeout = 2000;

const succeeds = async (probe: () => Promise<boolean>): Promise<boolean> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, probeTimeout, false);
  });
  try {
    return await Promise.race([probe(), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
};

const group = <T extends Record<string, boolean>>(leaves: T) => ({
  healthy: Object.values(leaves).every(Boolean),
  ...leaves,
});

type Probed = Pick<Dependencies, 'documents' | 'search' | 'safety' | 'downloads' | 'probeCredentials'>;

const probeAll = async ({ documents, search, safety, downloads, probeCredentials }: Probed): Promise<HealthRecord> => {
  const [index, credentials, lookup, multi, packageSearch, repository, packages, safe, repositorySearch, ingest] =
    await Promise.all(
      [
        () => search.probe(),
        probeCredentials,
        () => documents.probe('package'),
        async () => (await search.latest(['health.probe'], 'default')).count >= 0,
        async () => (await search.searchPackages('health probe', 1, 1)).records.count >= 0,
        () => documents.probe('repository'),
        () => documents.probe('repositoryPackages'),
        async () => safety.check('https://health.invalid/') && !safety.check('') && !safety.check('not a host'),
        async () => (await search.searchRepositories('health probe', 1, 1)).records.count >= 0,
        () => downloads.probe(),
      ].map(succeeds),
    );
  const service = group({ search_index_healthy: index === true, database_healthy: credentials === true });
  const packageRoutes = group({
    lookup_healthy: lookup === true,
    multi_lookup_healthy: multi === true,
    search_healthy: packageSearch === true,
  });
  const repositoryRoutes = group({
    lookup_healthy: repository === true,
    packages_healthy: packages === true,
    safety_healthy: safe === true,
    search_healthy: repositorySearch === true,
  });
  const downloadRoutes = group({ ingest_healthy: ingest === true });
  return {
    healthy: [service, packageRoutes, repositoryRoutes, downloadRoutes].every(({ healthy }) => healthy),
    service_data: service,
    route_data: { package: packageRoutes, repository: repositoryRoutes, download: downloadRoutes },
  };
};

/** A health check that makes one probe for each leaf, keeps the result for a few seconds and never throws. */
export const createHealthCheck = (probed: Probed, now: () => Date): (() => Promise<HealthRecord>) => {
  let kept: { at: number; record: Promise<HealthRecord> } | undefined;
  return () => {
    const at = now().getTime();
    if (kept === undefined || at - kept.at >= keptFor || at < kept.at) kept = { at, record: probeAll(probed) };
    return kept.record;
  };
};
