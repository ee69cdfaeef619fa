import { isIP } from 'node:net';
import { ConfigurationInvalid } from '../functions/gateway/on-node.ts';
import { accessLogs } from '../functions/node/access-log.ts';
import { runHost } from '../functions/node/host.ts';
import { CannotServe } from '../functions/node/host-options.ts';
import { limitTable, type ServerLimits } from '../functions/node/limits.ts';
import { assertCanListen } from '../functions/node/listen.ts';
import type { MetricsAddress } from '../functions/node/metrics-address.ts';
import { SafetyListInvalid } from '../functions/node/safety-file.ts';
import type { Log } from '../src/log/log.ts';
import { assertApart } from './assert-apart.ts';
import { assertDownloadsDatabase, downloadsOption } from './downloads-option.ts';
import { logOptions, openLog } from './log-options.ts';
import { CommandFailure, findTyped, type Option, type OptionValues, UsageError } from './options.ts';
import { dataOption, safetyFileOf } from './read-service.ts';
import { warnOfExample } from './warn-of-example.ts';

/** Variables of a server that have no flag. */
export const serverVariables = [['GATEWAY_...', 'Settings of the payment gateway (docs/gateway.md).']] as const;

/** The flags of every command that serves. */
export const serverOptions = {
  state: {
    type: 'string',
    value: 'DIR',
    default: 'state',
    help: 'Folder of the catalog, the download counters and compressed copies.',
  },
  out: {
    type: 'string',
    value: 'DIR',
    default: 'dist',
    help: 'Folder of what the build published.',
  },
  data: dataOption,
  port: {
    type: 'integer',
    value: 'N',
    default: 8080,
    minimum: 0,
    maximum: 65535,
    help: 'Port to listen on; 0 picks a free one and prints it.',
  },
  host: {
    type: 'string',
    value: 'H',
    default: '127.0.0.1',
    help: 'Address to listen on; 0.0.0.0 or :: for all addresses of the machine.',
  },
  'rate-limit': {
    type: 'integer',
    value: 'N',
    default: 1000,
    help: 'Searches and other computed answers per second for each client, with bursts of twice as many; 0 for no limit.',
  },
  'answer-memory': {
    type: 'integer',
    value: 'MB',
    default: 96,
    help: 'Memory for searches that are asked for again, which are kept for half a minute or until the next build; 0 for none.',
  },
  'no-older-addresses': {
    type: 'boolean',
    help: 'Switch off the addresses from before /v2 (/v1/community/..., /v4/canister-services/...), which older programs use.',
  },
  'trusted-proxies': {
    type: 'integer',
    value: 'N',
    default: 0,
    maximum: 10,
    help:
      'Number of your own proxies in front of the server. With any, X-Forwarded-For is believed and the connections of one ' +
      "address are not limited, because they are the proxy's: limit each client's connections there.",
  },
  connections: {
    type: 'integer',
    value: 'N',
    default: limitTable.connections.value,
    minimum: 1,
    help: 'Connections at once, in total. Above it, an idle connection of the client with the most is closed.',
  },
  'client-connections': {
    type: 'integer',
    value: 'N',
    default: limitTable.clientConnections.value,
    minimum: 1,
    help:
      'Connections at once of one IPv4 address or IPv6 /64, and four times as many of an IPv6 /48; also the requests of ' +
      'one client under way at once.',
  },
  'unread-memory': {
    type: 'integer',
    value: 'MB',
    default: limitTable.unreadBytes.value / 2 ** 20,
    minimum: 16,
    help: 'Memory for answers that clients have not read yet; one client gets at most three eighths of it.',
  },
  'reader-timeout': {
    type: 'integer',
    value: 'S',
    default: limitTable.readerTimeout.value / 1000,
    minimum: 1,
    maximum: 3600,
    help: 'Seconds in which a client must read 64 KB of its answer, or the rest of it, before its connection is closed.',
  },
  'shutdown-delay': {
    type: 'integer',
    value: 'S',
    default: 0,
    maximum: 3600,
    help:
      'Seconds for which a server that is told to stop still answers, while /v2/readyz is 503 so that balancers ask ' +
      'another one.',
  },
  development: {
    type: 'boolean',
    help: 'Switch off production mode, which a public https address turns on, so that the gateway may use http.',
  },
  'metrics-port': {
    type: 'integer',
    value: 'N',
    minimum: 0,
    maximum: 65535,
    help: 'Port for /metrics, which Prometheus reads; without it there are none. 0 picks a free one and logs it.',
  },
  'metrics-host': {
    type: 'string',
    value: 'H',
    default: '127.0.0.1',
    help: 'Address for that port. Anybody who can reach it can read the metrics.',
  },
  ...logOptions,
  'downloads-database': downloadsOption,
  'access-log': {
    type: 'choice',
    value: 'WHAT',
    choices: accessLogs,
    default: 'off',
    help:
      'Log every request: plain without the client and the query string (so without the words of searches), full with ' +
      'both and the User-Agent. The privacy page mentions either.',
  },
} as const satisfies Record<string, Option>;

/** The flags for serving a replica. */
export const replicaOptions = {
  from: {
    type: 'string',
    value: 'URL',
    help:
      'Serve a replica of the publication at this address, without a build: fetches it into --state, follows each new ' +
      'generation, and continues with what it has while the address is away. It answers the API and redirects requests ' +
      'for pages to the publication.',
  },
  'public-key': {
    type: 'string',
    value: 'KEY',
    help: 'Replica: accept only what is signed by this key, which the publication names on its page /api/ and in its landing document (reference.signing_key).',
  },
  'poll-interval': {
    type: 'duration',
    value: 'TIME',
    help: 'Replica: how often to ask for a new generation, in seconds or such as 90s, 10m or 2h; less often while the address does not answer. Default: 10 seconds.',
  },
  'count-downloads': {
    type: 'boolean',
    help: 'Replica: count the downloads reported to it, in its own --state. Without this and without --downloads-database it counts none.',
  },
} as const satisfies Record<string, Option>;

/** The limits that the operator set. */
const limitsOf = (values: OptionValues<typeof serverOptions>): Partial<ServerLimits> => {
  const ofClient = values['client-connections'];
  const unread = values['unread-memory'] * 2 ** 20;
  return {
    connections: values.connections,
    clientConnections: ofClient,
    siteConnections: 4 * ofClient,
    clientRequests: ofClient,
    unreadBytes: unread,
    clientUnreadBytes: (unread * 3) / 8,
    readerTimeout: values['reader-timeout'] * 1000,
  };
};

const toCommandFailure = (error: unknown): unknown => {
  if (error instanceof ConfigurationInvalid || error instanceof SafetyListInvalid) return new UsageError(error.message);
  if (error instanceof CannotServe) return new CommandFailure(error.message);
  return error;
};

/** How often a replica checks for a new generation, in seconds, by default. */
const usualPollInterval = 10;

/**
 * The additional settings for the host of a replica; undefined if there is none. `countsTogether`: its downloads are
 * counted in a database. Throws a UsageError.
 */
export const readReplica = async (
  values: OptionValues<typeof replicaOptions>,
  log: Pick<Log, 'warn'>,
  countsTogether: boolean,
) => {
  const { from, 'public-key': publicKey } = values;
  if (from === undefined) {
    const alone = (['public-key', 'poll-interval', 'count-downloads'] as const).find((name) => values[name]);
    if (alone === undefined) return {};
    throw new UsageError(`--${alone} is of a replica: name the publication with --from URL`);
  }
  const [{ assertPublication, assertPublicKey }, { readProxyOptions }] = await Promise.all([
    import('./publication-options.ts'),
    import('./read-proxies.ts'),
  ]);
  if (findTyped(['out']) !== undefined)
    throw new UsageError('--out is of a server of a build: a replica keeps what it fetches in --state');
  assertPublication('--from', from);
  assertPublicKey(publicKey);
  if (Object.keys(process.env).some((name) => name.startsWith('GATEWAY_'))) {
    log.warn('gateway-setting', 'A replica has no gateway; the settings that begin with GATEWAY_ are of no effect.');
  }
  const interval = (values['poll-interval'] ?? usualPollInterval) * 1000;
  const replica = { from, publicKey, interval, proxies: readProxyOptions() };
  return { replica, countDownloads: values['count-downloads'] || countsTogether };
};

const metricsOf = (
  values: Pick<OptionValues<typeof serverOptions>, 'metrics-host' | 'metrics-port'>,
): MetricsAddress | undefined =>
  values['metrics-port'] === undefined ? undefined : { host: values['metrics-host'], port: values['metrics-port'] };

// A server at one of these takes the port on every address.
const everywhere: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

type Ports = Pick<OptionValues<typeof serverOptions>, 'host' | 'port' | 'metrics-host' | 'metrics-port'>;

// What is part of an address of the web, and would be looked up as a name.
const assertHost = (flag: 'host' | 'metrics-host', host: string): void => {
  if (isIP(host) !== 0 || !/[\s:/@[\]]/.test(host)) return;
  throw new UsageError(
    `--${flag} must be an address such as 127.0.0.1 or ::1, or a name, without brackets or a port, not ${JSON.stringify(host)}`,
  );
};

const assertPlaces = (values: Ports): void => {
  assertHost('host', values.host);
  assertHost('metrics-host', values['metrics-host']);
  if (values['metrics-port'] === undefined && findTyped(['metrics-host']) !== undefined)
    throw new UsageError('--metrics-host needs --metrics-port, without which there are no metrics');
  const metrics = metricsOf(values);
  const isOne = (one: string, other: string) => one === other || [one, other].some((host) => everywhere.has(host));
  if (metrics !== undefined && metrics.port !== 0 && metrics.port === values.port && isOne(metrics.host, values.host)) {
    throw new UsageError(`--port and --metrics-port are both ${values.port}: name another port with one of them`);
  }
};

/** For a command that has long work to do before it serves: throws a CommandFailure if an address is taken. */
export const assertPortsFree = async (values: Ports): Promise<void> => {
  assertPlaces(values);
  const metrics = metricsOf(values);
  try {
    await assertCanListen(values);
    if (metrics !== undefined) await assertCanListen(metrics, '--metrics-port');
  } catch (error) {
    throw toCommandFailure(error);
  }
};

/** The settings of a host, from these flags. */
export const hostOptionsOf = (values: OptionValues<typeof serverOptions>, log: Log) => ({
  out: values.out,
  state: values.state,
  downloadsDatabase: values['downloads-database'],
  host: values.host,
  port: values.port,
  rate: values['rate-limit'],
  answerMemory: values['answer-memory'] * 2 ** 20,
  olderAddresses: !values['no-older-addresses'],
  trustedProxies: values['trusted-proxies'],
  limits: limitsOf(values),
  shutdownDelay: values['shutdown-delay'] * 1000,
  log,
  accessLog: values['access-log'],
  metrics: metricsOf(values),
  safetyList: safetyFileOf(values.data),
  environment: process.env,
  development: values.development,
});

/**
 * Serves what was built until the process is told to stop (SIGTERM, SIGINT). Throws a CommandFailure if nothing has
 * been built or the address is taken, and a UsageError if the gateway's settings are wrong. With `of` it serves a
 * replica instead.
 */
export const runServer = async (
  values: OptionValues<typeof serverOptions>,
  of?: OptionValues<typeof replicaOptions>,
): Promise<void> => {
  const isReplica = of?.from !== undefined;
  if (!isReplica) assertApart(values);
  assertPlaces(values);
  const log = openLog(values);
  // What there may be in --out is not what a replica serves.
  if (!isReplica) warnOfExample(values.host, values.out, log);
  assertDownloadsDatabase(values['downloads-database']);
  await runHost({
    ...hostOptionsOf(values, log),
    ...(of === undefined ? {} : await readReplica(of, log, values['downloads-database'] !== undefined)),
  }).catch((error) => {
    throw toCommandFailure(error);
  });
};
