import { once } from 'node:events';
import { createServer } from 'node:net';
import { addressText, cannotListen, type Host, type HostOptions, observersOf } from './host-options.ts';
import type { Meter } from './meter.ts';
import { openMetrics } from './open-metrics.ts';
import type { Published } from './prometheus.ts';
import { followPath } from './request-target.ts';
import { type ServerOptions, startServer } from './server.ts';
import type { Telling } from './telling.ts';

/** What a Node host serves, and what it has to clean up. */
interface Served extends Required<Pick<ServerOptions, 'app' | 'questions' | 'now' | 'limiter' | 'stamp'>> {
  readonly onChange?: () => void;
  readonly meter: Meter;
  readonly telling: Telling;
  /** What is published, for metrics. */
  readonly published: () => Promise<Published>;
  /** The public address in force. It may change with each request. */
  readonly publicAddress: () => string;
  /** Closes everything that was opened for serving. Called when serving ends, or could not begin. */
  readonly closeOpened: () => Promise<void>;
}

/** A host that can be told of changes. */
interface ListeningHost extends Host {
  /** Drops ready answers, because the published files have changed. */
  forget(): void;
}

/**
 * For a host that has long work to do before it listens: throws CannotServe at once if listening would fail. `flag` is
 * the flag for the port.
 */
export const assertCanListen = async (
  { host, port }: Pick<HostOptions, 'host' | 'port'>,
  flag?: string,
): Promise<void> => {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    throw cannotListen({ host, port }, error as NodeJS.ErrnoException, flag);
  } finally {
    server.close();
  }
};

/**
 * The last step of every Node host: listens and answers, below the path of the public address if it has one. Throws
 * CannotServe if it cannot listen on the address; then everything that was opened is closed.
 */
export const listen = async (options: HostOptions, served: Served): Promise<ListeningHost> => {
  const { host, port, answerMemory, trustedProxies, limits } = options;
  const { publicAddress, closeOpened, meter, telling, published, ...others } = served;
  const server = await startServer({
    ...others,
    host,
    port,
    answerMemory,
    trustedProxies,
    limits,
    basePath: followPath(publicAddress),
    onRefusal: telling.tell,
    ...observersOf(options, meter),
  }).catch(async (error: NodeJS.ErrnoException) => {
    await closeOpened();
    throw cannotListen({ host, port }, error);
  });
  const sources = { meter, server, published, now: served.now };
  const metrics =
    options.metrics &&
    (await openMetrics(options.metrics, sources, telling.report).catch(async (error: unknown) => {
      await server.close();
      await closeOpened();
      throw error;
    }));
  return {
    port: server.port,
    metricsPort: metrics?.port,
    address: addressText(host, server.port),
    forget: server.forget,
    leave: server.leave,
    close: async () => {
      await server.close();
      await metrics?.close();
      await closeOpened();
    },
  };
};
