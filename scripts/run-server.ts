import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createApp } from '../functions/app.ts';
import type { Dependencies } from '../functions/dependencies.ts';
import {
  ConfigurationInvalid,
  type GatewayConfiguration,
  readGatewayConfiguration,
} from '../functions/gateway/configuration.ts';
import { openGateway } from '../functions/gateway/open-gateway.ts';
import { createRateLimiter } from '../functions/http/rate-limiter.ts';
import { compressBytes, createCompressedFiles } from '../functions/node/compression.ts';
import { createDocuments } from '../functions/node/document-files.ts';
import { createDownloads } from '../functions/node/download-counters.ts';
import { limitTable, type ServerLimits } from '../functions/node/limits.ts';
import { startServer } from '../functions/node/server.ts';
import { createTurns } from '../functions/node/turns.ts';
import { apiRoot, documentPath } from '../src/contract/paths.ts';
import { CatalogSearch } from '../src/search/search.ts';
import { CommandFailure, type Option, type OptionValues, UsageError } from './options.ts';
import { safetyFile, watchSafetyList } from './read-safety-list.ts';

/** The most memory, in bytes, for published files. */
const documentMemory = 64 * 2 ** 20;

/** The flags of every command that serves. */
export const serverOptions = {
  state: {
    type: 'string',
    value: 'DIR',
    default: 'state',
    environment: 'DEBDEX_STATE',
    help: 'Folder of the catalog, the download counters and compressed copies.',
  },
  out: {
    type: 'string',
    value: 'DIR',
    default: 'dist',
    environment: 'DEBDEX_OUT',
    help: 'Folder of what the build published.',
  },
  port: {
    type: 'integer',
    value: 'N',
    default: 8080,
    minimum: 0,
    maximum: 65535,
    environment: 'DEBDEX_PORT',
    help: 'Port to listen on; 0 takes any free one and prints it.',
  },
  host: {
    type: 'string',
    value: 'H',
    default: '127.0.0.1',
    environment: 'DEBDEX_HOST',
    help: 'Address to listen on; 0.0.0.0 or :: for all of the machine.',
  },
  'rate-limit': {
    type: 'integer',
    value: 'N',
    default: 1000,
    environment: 'DEBDEX_RATE_LIMIT',
    help: 'Searches and other computed answers a second for each client, twice as many at once; 0 sets no limit.',
  },
  'answer-memory': {
    type: 'integer',
    value: 'MB',
    default: 96,
    environment: 'DEBDEX_ANSWER_MEMORY',
    help: 'Memory for searches, which are kept for half a minute or until the next build; 0 keeps none.',
  },
  'trusted-proxies': {
    type: 'integer',
    value: 'N',
    default: 0,
    maximum: 10,
    environment: 'DEBDEX_TRUSTED_PROXIES',
    help:
      'Proxies of your own in front of the server. Only then is X-Forwarded-For believed, and then the connections of ' +
      "one address are not bounded, because they are the proxy's: bound those of each client there.",
  },
  connections: {
    type: 'integer',
    value: 'N',
    default: limitTable.connections.value,
    minimum: 1,
    environment: 'DEBDEX_CONNECTIONS',
    help: 'Connections at once, in all. For one more, an idle one of whoever has the most is closed.',
  },
  'client-connections': {
    type: 'integer',
    value: 'N',
    default: limitTable.clientConnections.value,
    minimum: 1,
    environment: 'DEBDEX_CLIENT_CONNECTIONS',
    help:
      'Connections at once of one IPv4 address or IPv6 /64, four times as many of an IPv6 /48; and requests under way ' +
      'at once of one client.',
  },
  'unread-memory': {
    type: 'integer',
    value: 'MB',
    default: limitTable.unreadBytes.value / 2 ** 20,
    minimum: 16,
    environment: 'DEBDEX_UNREAD_MEMORY',
    help: 'Memory for answers that their readers have not taken yet, three eighths of it for one client.',
  },
  'reader-timeout': {
    type: 'integer',
    value: 'S',
    default: limitTable.readerTimeout.value / 1000,
    minimum: 1,
    maximum: 3600,
    environment: 'DEBDEX_READER_TIMEOUT',
    help: 'Seconds for a reader to take 64 KB of its answer, or the rest of it; then its connection is closed.',
  },
  development: {
    type: 'boolean',
    environment: 'DEBDEX_DEVELOPMENT',
    help: 'Let the gateway use http, which it does not in production: where the public address is https.',
  },
} as const satisfies Record<string, Option>;

/** The limits that an operator chose. */
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

/** Says on standard error what deserves a second look. Throws a UsageError for what is wrong. */
const readGateway = (publicAddress: string, { state, development }: ServerValues): GatewayConfiguration => {
  try {
    const configuration = readGatewayConfiguration(process.env, { publicAddress, state, development });
    for (const warning of configuration.warnings) process.stderr.write(`Warning: ${warning}.\n`);
    return configuration;
  } catch (error) {
    if (error instanceof ConfigurationInvalid) throw new UsageError(error.message);
    throw error;
  }
};

type ServerValues = OptionValues<typeof serverOptions>;

const addressText = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/**
 * Serves what was built until the process is told to stop (SIGTERM, SIGINT). Throws a CommandFailure where nothing has
 * been built, or where the address is taken.
 */
export const runServer = async (values: ServerValues): Promise<void> => {
  const { out, state, host, port } = values;
  if (!existsSync(path.join(out, documentPath.landing))) {
    throw new CommandFailure(`There is nothing to serve in ${out}: build it first, with npm run build.`);
  }
  mkdirSync(state, { recursive: true });
  const now = () => new Date();
  const report = (error: unknown) => process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  const safety = watchSafetyList(safetyFile, report);
  const downloads = createDownloads(path.join(state, 'downloads.sqlite'), now);
  let publicAddress = readPublicAddress(out);
  const gateway = openGateway(readGateway(publicAddress, values));
  const rate = values['rate-limit'];
  const search = new CatalogSearch(state);
  const limiter = createRateLimiter({ rate, burst: 2 * rate, now });
  const dependencies: Omit<Dependencies, 'gateway'> = {
    documents: createDocuments({
      folder: out,
      compressed: createCompressedFiles(path.join(state, 'compressed')),
      memory: documentMemory,
    }),
    search,
    safety,
    downloads,
    limiter,
    turns: createTurns(),
    probeCredentials: gateway.health,
    now,
    publicAddress: () => publicAddress,
    compress: (body, encoding) => compressBytes(body, encoding, 'computed'),
    report,
  };
  let app = createApp({ ...dependencies, gateway: gateway.routes });
  // The pages of the gateway carry the public address, and its cookies and links depend on it. Where the build changed
  // it, the next request is answered by a gateway that was told so; where that cannot be, by the one before.
  const followAddress = () => {
    const before = publicAddress;
    publicAddress = readPublicAddress(out);
    if (publicAddress === before) return;
    const { settings } = readGateway(publicAddress, values);
    app = createApp({ ...dependencies, gateway: gateway.routesWith(settings) });
  };
  const server = await startServer({
    app: { fetch: (...request) => app.fetch(...request) },
    host,
    port,
    now,
    limiter,
    answerMemory: values['answer-memory'] * 2 ** 20,
    trustedProxies: values['trusted-proxies'],
    limits: limitsOf(values),
    onRefusal: (event) => process.stdout.write(`${JSON.stringify(event)}\n`),
    stamp: path.join(state, 'generation.json'),
    onChange: () => {
      for (const follow of [followAddress, () => search.refresh()]) {
        try {
          follow();
        } catch (error) {
          report(error);
        }
      }
    },
  }).catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailure(`Cannot listen on ${addressText(host, port)}: ${error.message}`);
  });
  process.stdout.write(`Listening on ${addressText(host, server.port)}\n`);

  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        // Whoever asks a second time does not want to wait.
        process.once(signal, () => process.exit(1));
        resolve();
      });
    }
  });
  process.stdout.write('Stopping: answers under way complete first.\n');
  await server.close();
  await Promise.all([downloads.close(), gateway.close()]);
  search.close();
  safety.close();
};
