import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { apiRoot, documentPath } from '../../src/contract/paths.ts';
import { createApp } from '../app.ts';
import type { Dependencies } from '../dependencies.ts';
import { type GatewayConfiguration, openGateway, readGatewayConfiguration } from '../gateway/on-node.ts';
import type { UnhealthyEvent } from '../health/unhealthy-log.ts';
import { createRateLimiter } from '../http/rate-limiter.ts';
import { CatalogFiles } from './catalog-files.ts';
import { compressBytes, createCompressedFiles } from './compression.ts';
import { createDocuments } from './document-files.ts';
import { createDownloads } from './download-counters.ts';
import type { ServerLimits } from './limits.ts';
import type { RefusalEvent } from './refusals.ts';
import { watchSafetyList } from './safety-file.ts';
import { type RunningServer, startServer } from './server.ts';
import { createTurns } from './turns.ts';

/** The most memory, in bytes, for published files. */
const documentMemory = 64 * 2 ** 20;

/** What a Node host is told; sizes in bytes. */
export interface HostOptions {
  /** Folder of what the build published. */
  readonly out: string;
  /** Folder of the catalog, the counters, the credential store and compressed copies. */
  readonly state: string;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Computed answers a second for each client, twice as many at once; 0 sets no limit. */
  readonly rate: number;
  readonly answerMemory: number;
  readonly trustedProxies: number;
  readonly limits: Partial<ServerLimits>;
  /** The YAML file of addresses that are listed as unsafe. */
  readonly safetyList: URL;
  /** Where the gateway's settings stand. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether the operator says that this is no production. */
  readonly development: boolean;
}

/** What keeps a host from serving, in a sentence that says what to do. */
export class CannotServe extends Error {
  override name = 'CannotServe';
}

const report = (error: unknown): void => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
};

/** Writes a line of JSON for the operator on standard output. */
const tell = (event: RefusalEvent | UnhealthyEvent): void => {
  process.stdout.write(`${JSON.stringify(event)}\n`);
};

const defaultAddress = 'http://localhost:8080';

// The build wrote its public address into the description, as the address of the server it describes.
const readPublicAddress = (out: string): string => {
  try {
    const { servers } = JSON.parse(readFileSync(path.join(out, documentPath.openapiJson), 'utf8'));
    const url: unknown = servers?.[0]?.url;
    return typeof url === 'string' && url.endsWith(`/${apiRoot}`) ? url.slice(0, -apiRoot.length - 1) : defaultAddress;
  } catch {
    return defaultAddress;
  }
};

// Says on standard error what deserves a second look.
const readGateway = (publicAddress: string, options: HostOptions): GatewayConfiguration => {
  const configuration = readGatewayConfiguration(options.environment, { ...options, publicAddress });
  for (const warning of configuration.warnings) process.stderr.write(`Warning: ${warning}.\n`);
  return configuration;
};

const openDependencies = ({ out, state, rate, safetyList }: HostOptions) => {
  const now = () => new Date();
  return {
    documents: createDocuments({
      folder: out,
      compressed: createCompressedFiles(path.join(state, 'compressed')),
      memory: documentMemory,
    }),
    search: new CatalogFiles(state),
    safety: watchSafetyList(safetyList, report),
    downloads: createDownloads(path.join(state, 'downloads.sqlite'), now),
    limiter: createRateLimiter({ rate, burst: 2 * rate, now }),
    turns: createTurns(),
    now,
    compress: (body, encoding) => compressBytes(body, encoding, 'computed'),
    report,
    tellUnhealthy: tell,
  } satisfies Partial<Dependencies>;
};

/** A server with everything that it answers from. */
interface Host extends Pick<RunningServer, 'port' | 'close'> {
  /** As one writes it into a browser. */
  readonly address: string;
}

const addressText = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/**
 * Serves what was built, and takes up each build that follows. Throws CannotServe where nothing has been built or the
 * address cannot be listened on, SafetyListInvalid, and ConfigurationInvalid where the gateway is told nonsense.
 */
const startHost = async (options: HostOptions): Promise<Host> => {
  const { out, state, host, port } = options;
  if (!existsSync(path.join(out, documentPath.landing))) {
    throw new CannotServe(`There is nothing to serve in ${out}: build it first, with npm run build.`);
  }
  mkdirSync(state, { recursive: true });
  let publicAddress = readPublicAddress(out);
  const gateway = openGateway(readGateway(publicAddress, options));
  const opened = openDependencies(options);
  const { search, safety, downloads, limiter, now } = opened;
  const dependencies = { ...opened, probeCredentials: gateway.health, publicAddress: () => publicAddress };
  let app = createApp({ ...dependencies, gateway: gateway.routes });
  // The pages of the gateway carry the public address, and its cookies and links depend on it. Where the build changed
  // it, the next request is answered by a gateway that was told so; where that cannot be, by the one before.
  const followAddress = (): void => {
    const before = publicAddress;
    publicAddress = readPublicAddress(out);
    if (publicAddress === before) return;
    const { settings } = readGateway(publicAddress, options);
    app = createApp({ ...dependencies, gateway: gateway.routesWith(settings) });
  };
  const followBuild = (): void => {
    for (const follow of [followAddress, () => search.refresh()]) {
      try {
        follow();
      } catch (error) {
        report(error);
      }
    }
  };
  const closeOpened = async (): Promise<void> => {
    await Promise.all([downloads.close(), gateway.close()]);
    search.close();
    safety.close();
  };
  const server = await startServer({
    app: { fetch: (...request) => app.fetch(...request) },
    host,
    port,
    now,
    limiter,
    answerMemory: options.answerMemory,
    trustedProxies: options.trustedProxies,
    limits: options.limits,
    onRefusal: tell,
    stamp: path.join(state, 'generation.json'),
    onChange: followBuild,
  }).catch(async (error: NodeJS.ErrnoException) => {
    await closeOpened();
    throw new CannotServe(`Cannot listen on ${addressText(host, port)}: ${error.message}`);
  });
  return {
    port: server.port,
    address: addressText(host, server.port),
    close: async () => {
      await server.close();
      await closeOpened();
    },
  };
};

/** Resolves when the process is told to stop (SIGTERM, SIGINT). */
const untilStopped = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        // Whoever asks a second time does not want to wait.
        process.once(signal, () => process.exit(1));
        resolve();
      });
    }
  });

/** Serves until the process is told to stop. Throws as startHost does. */
export const runHost = async (options: HostOptions): Promise<void> => {
  const host = await startHost(options);
  process.stdout.write(`Listening on ${host.address}\n`);
  await untilStopped();
  process.stdout.write('Stopping: answers under way complete first.\n');
  await host.close();
};
