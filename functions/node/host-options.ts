import type { Log } from '../../src/log/log.ts';
import { type AccessLog, createAccessLog } from './access-log.ts';
import type { ServerLimits } from './limits.ts';
import type { Meter } from './meter.ts';
import type { MetricsAddress } from './metrics-address.ts';
import type { RunningServer, ServerOptions } from './server.ts';

/** The settings of every Node host. Sizes are in bytes. */
export interface HostOptions {
  /** Folder of the catalog, the counters, the credential store and the compressed copies. */
  readonly state: string;
  /**
   * The PostgreSQL database into which several servers count downloads. Without one, each counts in its state folder.
   */
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
  /** How much is logged of each request. */
  readonly accessLog: AccessLog;
  /** Where metrics can be read; nowhere if it is left out. */
  readonly metrics?: MetricsAddress | undefined;
  /** The YAML file of unsafe addresses. */
  readonly safetyList: URL;
}

/** The observers that a server calls for each request. */
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

/** Why a host cannot serve, as a sentence that says what to do. */
export class CannotServe extends Error {
  override name = 'CannotServe';
}

/** A running server with everything that it answers from. */
export interface Host extends Pick<RunningServer, 'port' | 'leave' | 'close'> {
  /** The address to enter into a browser. */
  readonly address: string;
  /** The port for metrics, if they can be read. */
  readonly metricsPort: number | undefined;
}

/** The address of a server, in the form for a browser. */
export const addressText = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Why the server cannot listen on an address, and what to do. `flag` is the flag for its port. */
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
