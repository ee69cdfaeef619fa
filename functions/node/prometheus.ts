import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import { type Durations, durationBounds, type Meter } from './meter.ts';
import type { RunningServer } from './server.ts';

/** A value with its labels. */
interface Sample {
  readonly labels?: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

type Samples = readonly Sample[] | Promise<readonly Sample[]>;

/** What is known about the published files that the server answers from. */
export interface Published {
  readonly generation?: { readonly number: number; readonly date: string } | undefined;
  /** When the publication last confirmed that a replica has the newest generation. */
  readonly confirmed?: string | undefined;
  /** How many repositories had each outcome in the last build. */
  readonly outcomes?: Readonly<Record<string, number>> | undefined;
}

/** Where the figures come from. */
export interface MetricSources {
  readonly meter: Meter;
  readonly server: Pick<RunningServer, 'refusals' | 'held'>;
  readonly published: () => Promise<Published>;
  readonly now: () => Date;
}

const sample = (value: number | undefined): Sample[] =>
  value === undefined || Number.isNaN(value) ? [] : [{ value, labels: {} }];

const ofEntries = (entries: Iterable<readonly [string, number]>, label: string): Sample[] =>
  Array.from(entries, ([name, value]) => ({ value, labels: { [label]: name } }));

const seconds = (milliseconds: number): number => milliseconds / 1000;

// Prometheus wants durations in seconds, and cumulative buckets.
const histogram = (name: string, labels: Sample['labels'] & object, { counts, sum }: Durations): Sample[] => {
  let below = 0;
  const buckets = durationBounds.map((bound, place) => {
    below += counts[place] ?? 0;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: seconds(bound) }, value: below };
  });
  const count = below + (counts.at(-1) ?? 0);
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels, value: seconds(sum) },
    { metricName: `${name}_count`, labels, value: count },
  ];
};

/** A registry of everything that a server counts, and of its process. Each figure is read on request. */
export const createRegistry = ({ meter, server, published, now }: MetricSources): Registry => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const add = (type: 'counter' | 'gauge' | 'histogram', name: string, help: string, read: () => Samples): void => {
    const get = async () => ({ name, help, type, values: await read(), aggregator: 'sum' });
    // The library's metrics count by themselves. These are counted elsewhere and implement only what a registry reads.
    registry.registerMetric({ name, help, type, get } as unknown as Metric);
  };
  // Several figures come from one reading.
  let reading: { readonly at: number; readonly found: Promise<Published> } | undefined;
  const readPublished = (): Promise<Published> => {
    const at = performance.now();
    if (reading === undefined || at - reading.at > 500) reading = { at, found: published() };
    return reading.found;
  };
  const milliseconds = (date: string | undefined): number | undefined =>
    date === undefined ? undefined : Date.parse(date);
  const age = (date: string | undefined): number | undefined =>
    date === undefined ? undefined : Math.max(0, seconds(now().getTime() - Date.parse(date)));

  add(
    'counter',
    'debdex_requests_total',
    'Requests by operation and status; none where the address is none of ours.',
    () =>
      [...meter.operations].flatMap(([operation, counts]) =>
        Array.from(counts.statuses(), ([status, value]) => ({ value, labels: { operation, status } })),
      ),
  );
  const durations = 'debdex_request_duration_seconds';
  add('histogram', durations, 'From the end of the head of a request to the end of its answer, by operation.', () =>
    [...meter.operations].flatMap(([operation, counts]) => histogram(durations, { operation }, counts.durations)),
  );
  const questions = 'debdex_index_question_duration_seconds';
  add('histogram', questions, 'Questions to the search index that memory did not answer, by kind.', () =>
    [...meter.questions].flatMap(([kind, counts]) => histogram(questions, { kind }, counts.durations)),
  );
  add('counter', 'debdex_index_failures_total', 'Questions to the search index that failed, by kind.', () =>
    [...meter.questions].map(([kind, { failed }]) => ({ value: failed, labels: { kind } })),
  );
  add(
    'counter',
    'debdex_answers_total',
    'Answers by where they came from: documents and computed ones from memory, or the app.',
    () => ofEntries(Object.entries(server.held().answers), 'from'),
  );
  add('gauge', 'debdex_cache_bytes', 'Bytes of answers held in memory, by what they are.', () =>
    ofEntries(Object.entries(server.held().bytes), 'cache'),
  );
  add('gauge', 'debdex_connections', 'Open connections.', () => sample(server.held().connections));
  add('counter', 'debdex_limits_met_total', 'How often a connection or request was refused, by limit.', () =>
    ofEntries(Object.entries(server.refusals), 'limit'),
  );
  add('counter', 'debdex_faults_total', 'Failures of ours that were logged.', () => sample(meter.faults));
  add('counter', 'debdex_unhealthy_total', 'How often a leaf of the health record turned false.', () =>
    ofEntries(meter.unhealthy, 'leaf'),
  );
  add('counter', 'debdex_gateway_events_total', 'Events of the security log of the payment gateway.', () =>
    ofEntries(meter.gateway, 'event'),
  );
  add('gauge', 'debdex_generation_number', 'The number of the generation that is answered from.', async () =>
    sample((await readPublished()).generation?.number),
  );
  add('gauge', 'debdex_generation_published_timestamp_seconds', 'When that was published.', async () => {
    const at = milliseconds((await readPublished()).generation?.date);
    return sample(at === undefined ? undefined : seconds(at));
  });
  add('gauge', 'debdex_generation_age_seconds', 'Since it was published.', async () =>
    sample(age((await readPublished()).generation?.date)),
  );
  add(
    'gauge',
    'debdex_replica_confirmed_age_seconds',
    'Since the publication said that a replica has its newest.',
    async () => sample(age((await readPublished()).confirmed)),
  );
  add('gauge', 'debdex_repositories', 'Repositories by outcome of the last build.', async () =>
    ofEntries(Object.entries((await readPublished()).outcomes ?? {}), 'outcome'),
  );
  return registry;
};
