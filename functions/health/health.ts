import { ranks } from '../../src/contract/parameters.ts';
import { documentPath } from '../../src/contract/paths.ts';
import type { HealthRecord, RepositoryRecord } from '../../src/contract/records.ts';
import type { Dependencies } from '../dependencies.ts';
import { chooseSample, type HealthSample, readData, readListed } from './probe-sample.ts';
import { createUnhealthyLog, type Reasons, type UnhealthyEvent } from './unhealthy-log.ts';

/** How long results are kept, in milliseconds, so that the check cannot be used as a load (decisions, section 4). */
const keptFor = 3000;
/** A probe that takes longer than this, in milliseconds, has failed. */
const probeTimeout = 2000;
/** Samples that are asked for in one check, where each vanishes before it is asked for. */
const mostSamples = 4;

const tookTooLong = `took longer than ${probeTimeout} ms`;
const didNotComeBack = 'did not come back';

const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${describe(error.cause)}`;
};

/** Why the probe failed; undefined where it succeeded. */
const findReason = async (probe: () => Promise<boolean>): Promise<string | undefined> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, probeTimeout, tookTooLong);
  });
  const ask = async () => ((await probe()) ? undefined : didNotComeBack);
  try {
    return await Promise.race([ask(), late]);
  } catch (error) {
    return describe(error);
  } finally {
    clearTimeout(timer);
  }
};

const group = <T extends Record<string, boolean>>(leaves: T) => ({
  healthy: Object.values(leaves).every(Boolean),
  ...leaves,
});

type Probed = Pick<Dependencies, 'documents' | 'search' | 'safety' | 'downloads' | 'probeCredentials'>;

// Each leaf requests something that is known to exist and checks that it comes back (decisions, section 7, "Health").
const probesOf = (
  { documents, search, safety, downloads, probeCredentials }: Probed,
  { packageId, slug }: HealthSample,
) => ({
  index: async () => (await search.probe()) && (await search.knows(packageId)),
  credentials: probeCredentials,
  lookup: async () => {
    return (await readListed(documents, documentPath.package(packageId)))?.includes(packageId) ?? false;
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
    return (await readListed(documents, documentPath.repositoryPackages(slug)))?.includes(packageId) ?? false;
  },
  safe: async () =>
    safety.listed !== undefined && !safety.check(safety.listed) && safety.check('https://health.invalid/'),
  repositorySearch: async () => (await search.searchRepositories(slug, 1, 1)).records.count === 1,
  ingest: () => downloads.probe(),
});

// Before any document was read, the probes ask for these names, which nothing has.
const unknown: HealthSample = { packageId: 'health.probe', slug: 'health-probe' };

type Leaf = keyof ReturnType<typeof probesOf>;

/** Where each leaf is in the record. */
const places: Readonly<Record<Leaf, string>> = {
  index: 'service_data.search_index_healthy',
  credentials: 'service_data.database_healthy',
  lookup: 'route_data.package.lookup_healthy',
  multi: 'route_data.package.multi_lookup_healthy',
  packageSearch: 'route_data.package.search_healthy',
  repository: 'route_data.repository.lookup_healthy',
  packages: 'route_data.repository.packages_healthy',
  safe: 'route_data.repository.safety_healthy',
  repositorySearch: 'route_data.repository.search_healthy',
  ingest: 'route_data.download.ingest_healthy',
};

/** The leaves whose probes need the sample to exist. */
const sampled: readonly Leaf[] = [
  'index',
  'lookup',
  'multi',
  'packageSearch',
  'repository',
  'packages',
  'repositorySearch',
];

/** The leaves of read operations. `canRead` does not wait for the others, whose stores may hang. */
const reading: readonly Leaf[] = [...sampled, 'safe'];
const stores: readonly Leaf[] = ['credentials', 'ingest'];

type Outcome = Readonly<Partial<Record<Leaf, string | undefined>>>;

const probeLeaves = async (
  leaves: readonly Leaf[],
  probed: Probed,
  sample: HealthSample = unknown,
): Promise<Outcome> => {
  const probes = probesOf(probed, sample);
  const reasons = await Promise.all(leaves.map((leaf) => findReason(probes[leaf])));
  return Object.fromEntries(leaves.map((leaf, index) => [leaf, reasons[index]]));
};

const recordOf = (outcome: Outcome): HealthRecord => {
  const isWell = (leaf: Leaf): boolean => outcome[leaf] === undefined;
  const service = group({ search_index_healthy: isWell('index'), database_healthy: isWell('credentials') });
  const packageRoutes = group({
    lookup_healthy: isWell('lookup'),
    multi_lookup_healthy: isWell('multi'),
    search_healthy: isWell('packageSearch'),
  });
  const repositoryRoutes = group({
    lookup_healthy: isWell('repository'),
    packages_healthy: isWell('packages'),
    safety_healthy: isWell('safe'),
    search_healthy: isWell('repositorySearch'),
  });
  const downloadRoutes = group({ ingest_healthy: isWell('ingest') });
  return {
    healthy: [service, packageRoutes, repositoryRoutes, downloadRoutes].every(({ healthy }) => healthy),
    service_data: service,
    route_data: { package: packageRoutes, repository: repositoryRoutes, download: downloadRoutes },
  };
};

const reasonsOf = (outcome: Outcome): Reasons =>
  new Map(
    Object.entries(places).flatMap(([leaf, place]) => {
      const reason = outcome[leaf as Leaf];
      return reason === undefined ? [] : [[place, reason]];
    }),
  );

const isSame = (one: HealthSample | undefined, other: HealthSample | undefined): boolean =>
  one?.packageId === other?.packageId && one?.slug === other?.slug;

/** Whether nothing is wrong with reading except that the sample has vanished. */
const hasVanished = (outcome: Outcome): boolean => {
  const reasons = sampled.map((leaf) => outcome[leaf]).filter((reason) => reason !== undefined);
  return reasons.length > 0 && reasons.every((reason) => reason === didNotComeBack);
};

/** The results of one probe for each leaf, kept for a few seconds. Neither method throws. */
export interface HealthCheck {
  whole(): Promise<HealthRecord>;
  /** Whether every read operation works. Does not wait for the probes of the stores. */
  canRead(): Promise<boolean>;
}

/** A health check. `tell` is called when a leaf turns false, with the reason. */
export const createHealthCheck = (
  probed: Probed,
  now: () => Date,
  tell: (event: UnhealthyEvent) => void = () => {},
): HealthCheck => {
  const log = createUnhealthyLog(tell, now);
  let kept: { readonly at: number; readonly read: Promise<Outcome>; readonly whole: Promise<HealthRecord> } | undefined;
  // If no new sample can be chosen, the last one is used again.
  let sample: HealthSample | undefined;
  const choose = async (): Promise<HealthSample | undefined> => {
    await findReason(async () => {
      sample = (await chooseSample(probed)) ?? sample;
      return true;
    });
    return sample;
  };
  const probeReading = async (): Promise<Outcome> => {
    let chosen = await choose();
    let outcome = await probeLeaves(reading, probed, chosen);
    // A build may have removed the sample between the choice and the question, and the next sample as well. A sample
    // that is damaged or slow did exist, so that is a failure.
    for (let samples = 1; samples < mostSamples && hasVanished(outcome); samples++) {
      const before = chosen;
      chosen = await choose();
      if (isSame(chosen, before)) break;
      outcome = await probeLeaves(reading, probed, chosen);
    }
    return outcome;
  };
  const probe = (at: number) => {
    const read = probeReading();
    const whole = Promise.all([read, probeLeaves(stores, probed)]).then(([ofReading, ofStores]) => {
      const outcome = { ...ofReading, ...ofStores };
      log(reasonsOf(outcome));
      return recordOf(outcome);
    });
    return { at, read, whole };
  };
  const check = () => {
    const at = now().getTime();
    if (kept === undefined || at - kept.at >= keptFor || at < kept.at) kept = probe(at);
    return kept;
  };
  return {
    whole: () => check().whole,
    canRead: async () => Object.values(await check().read).every((reason) => reason === undefined),
  };
};
