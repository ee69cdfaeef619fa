import type { Log } from '../../src/log/log.ts';
import { type AccessLog, createAccessLog } from './access-log.ts';
import type { ServerLimits } from './limits.ts';
import type { Meter } from './meter.ts';
import type { MetricsAddress } from './metrics-address.ts';
import type { RunningServer, ServerOptions } from './server.ts';

/** What every Node host is told; sizes in bytes. */
export interface HostOptions {
  /** Folder of the catalog, the counters, the credential store and compressed copies. */
  readonly state: string;
  /** The PostgreSQL database that several servers count downloads into; without one each counts in its state folder. */
  readonly downloadsDatabase?: string | undefined;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Computed answers a second for each client, twice as many at once; 0 sets no limit. */
  readonly rate: number;
  readonly answerMemory: number;
  /** Whether addresses from before /v2 are answered. */
  readonly olderAddresses: boolean;
  readonly trustedProxies: number;
  readonly limits: Partial<ServerLimits>;
  readonly log: Log;
  /** What of each request is written into it. */
  readonly accessLog: AccessLog;
  /** Where metrics are read; nowhere where it is left out. */
  readonly metrics?: MetricsAddress | undefined;
  /** The YAML file of addresses that are listed as unsafe. */
  readonly safetyList: URL;
}

/** Who is told of requests, as a server takes it. */
export const observersOf = (
  { log, accessLog, metrics }: Pick<HostOptions, 'log' | 'accessLog' | 'metrics'>,
  meter: Meter,
): Required<Pick<ServerOptions, 'onAnswered' | 'namesEveryRequest'>> => ({
  onAnswered: [
    ...(metrics === undefined ? [] : [meter.observe]),
    ...(accessLog === 'off' ? [] : [createAccessLog(log, accessLog)]),
  ],
  namesEveryRequest: accessLog !== 'off',
});

/** What keeps a host from serving, in a sentence that says what to do. */
export class CannotServe extends Error {
  override name = 'CannotServe';
}

/** A server with everything that it answers from. */
export interface Host extends Pick<RunningServer, 'port' | 'close'> {
  /** As one writes it into a browser. */
  readonly address: string;
  /** The port at which metrics are read, where they are. */
  readonly metricsPort: number | undefined;
}

/** The address of a server as one writes it into a browser. */
export const addressText = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Why an address cannot be listened on, and what to do. `flag` names its port. */
export const cannotListen = (
  { host, port }: Pick<HostOptions, 'host' | 'port'>,
  error: NodeJS.ErrnoException,
  flag = '--port',
): CannotServe => {
  const advice =
    error.code === 'EADDRINUSE'
      ? `another program listens there. Stop it, or name another port with ${flag}`
      : error.message;
  return new CannotServe(`Cannot listen on ${addressText(host, port)}: ${advice}`);
};
