import { ranks } from '../../src/contract/parameters.ts';
import { documentPath } from '../../src/contract/paths.ts';
import type { HealthRecord, PackageRecord, RepositoryRecord } from '../../src/contract/records.ts';
import type { Dependencies } from '../dependencies.ts';
import { chooseSample, type HealthSample, readData } from './probe-sample.ts';

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

// Decisions, section 7, "Health": each leaf asks for what is known to be there, and sees that it comes back.
const probesOf = (
  { documents, search, safety, downloads, probeCredentials }: Probed,
  { packageId, slug }: HealthSample,
) => ({
  index: async () => (await search.probe()) && (await search.knows(packageId)),
  credentials: probeCredentials,
  lookup: async () => {
    const records = await readData<PackageRecord[]>(documents, documentPath.package(packageId));
    return records?.some(({ package_id: id }) => id === packageId) ?? false;
  },
  multi: async () => (await search.latest([packageId], 'default')).count === 1,
  packageSearch: async () => (await search.searchPackages(packageId, 1, 1)).records.count === 1,
  repository: async () => {
    const record = await readData<RepositoryRecord>(documents, documentPath.repository(slug));
    const rankings = await Promise.all(
      ranks.map((rank) => readData<RepositoryRecord[]>(documents, documentPath.ranking(rank))),
    );
    return record?.slug === slug && rankings.every((list) => Array.isArray(list));
  },
  packages: async () => {
    const records = await readData<PackageRecord[]>(documents, documentPath.repositoryPackages(slug));
    return records?.some(({ package_id: id }) => id === packageId) ?? false;
  },
  safe: async () =>
    safety.listed !== undefined && !safety.check(safety.listed) && safety.check('https://health.invalid/'),
  repositorySearch: async () => (await search.searchRepositories(slug, 1, 1)).records.count === 1,
  ingest: () => downloads.probe(),
});

// Before anything was ever read there is nothing to ask for; nothing is known by this name.
const unknown: HealthSample = { packageId: 'health.probe', slug: 'health-probe' };

const probeAll = async (probed: Probed, sample: HealthSample = unknown): Promise<HealthRecord> => {
  const probes = probesOf(probed, sample);
  const names = Object.keys(probes) as (keyof typeof probes)[];
  const results = await Promise.all(names.map((name) => succeeds(probes[name])));
  const well = Object.fromEntries(names.map((name, index) => [name, results[index]])) as Record<
    keyof typeof probes,
    boolean
  >;
  const service = group({ search_index_healthy: well.index, database_healthy: well.credentials });
  const packageRoutes = group({
    lookup_healthy: well.lookup,
    multi_lookup_healthy: well.multi,
    search_healthy: well.packageSearch,
  });
  const repositoryRoutes = group({
    lookup_healthy: well.repository,
    packages_healthy: well.packages,
    safety_healthy: well.safe,
    search_healthy: well.repositorySearch,
  });
  const downloadRoutes = group({ ingest_healthy: well.ingest });
  return {
    healthy: [service, packageRoutes, repositoryRoutes, downloadRoutes].every(({ healthy }) => healthy),
    service_data: service,
    route_data: { package: packageRoutes, repository: repositoryRoutes, download: downloadRoutes },
  };
};

/** A health check that makes one probe for each leaf, keeps the result for a few seconds and never throws. */
export const createHealthCheck = (probed: Probed, now: () => Date): (() => Promise<HealthRecord>) => {
  let kept: { at: number; record: Promise<HealthRecord> } | undefined;
  // What was there is still asked for when it can no longer be found out what should be.
  let sample: HealthSample | undefined;
  const choose = async (): Promise<HealthSample | undefined> => {
    const chosen = chooseSample(probed);
    await succeeds(async () => {
      sample = (await chosen) ?? sample;
      return true;
    });
    return sample;
  };
  const probe = async (): Promise<HealthRecord> => {
    const first = await choose();
    const record = await probeAll(probed, first);
    if (canRead(record)) return record;
    // A build may have replaced what was chosen between the choice and the question.
    const other = await choose();
    return other?.packageId === first?.packageId && other?.slug === first?.slug ? record : probeAll(probed, other);
  };
  return () => {
    const at = now().getTime();
    if (kept === undefined || at - kept.at >= keptFor || at < kept.at) kept = { at, record: probe() };
    return kept.record;
  };
};

/** Whether every read operation works, whatever the credential store and the counters do. */
export const canRead = ({ service_data: service, route_data: routes }: HealthRecord): boolean =>
  service.search_index_healthy && routes.package.healthy && routes.repository.healthy;
