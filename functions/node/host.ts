import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { documentPath } from '../../src/contract/paths.ts';
import { findEntry } from '../../src/disk/find-entry.ts';
import { createApp } from '../app.ts';
import { type GatewayConfiguration, openGateway, readGatewayConfiguration } from '../gateway/on-node.ts';
import { createLargeAnswers } from '../http/large-answers.ts';
import { createQuestions } from '../questions.ts';
import { CatalogFiles } from './catalog-files.ts';
import { documentMemory, openCompressedFiles, openComputed, openDownloads } from './computed.ts';
import { createDocuments } from './document-files.ts';
import { CannotServe, type Host, type HostOptions } from './host-options.ts';
import { listen } from './listen.ts';
import { measureBy } from './measure-questions.ts';
import { Meter } from './meter.ts';
import { watchOtherCatalog } from './other-catalog.ts';
import { watchListOfBuild } from './other-safety-list.ts';
import { readPublicAddress } from './published-address.ts';
import { watchPublished } from './published-state.ts';
import type { ReplicaHostOptions } from './replica-host.ts';
import { createTelling, type Telling } from './telling.ts';
import { untilStopped } from './until-stopped.ts';
import { describeUnusable } from './unusable-files.ts';

/**
 * How long stopping may take, in milliseconds, after the shutdown delay: longer than answers under way may
 * (`drainTimeout`), and less than the ten seconds that process managers wait.
 */
const stopTimeout = 9000;

/** The settings of the host of a build. */
interface BuildHostOptions extends HostOptions {
  /** Folder of what the build published. */
  readonly out: string;
  /** The environment variables with the gateway's settings. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether the operator declares that this is no production. */
  readonly development: boolean;
}

// Reads the gateway's settings, and logs what the operator should check.
const readGateway = (publicAddress: string, options: BuildHostOptions): GatewayConfiguration => {
  const configuration = readGatewayConfiguration(options.environment, { ...options, publicAddress });
  for (const warning of configuration.warnings) options.log.warn('gateway-setting', `${warning}.`);
  const { store, auditFile } = configuration;
  const files = [
    ...(store.kind === 'sqlite' ? [{ file: store.file, otherwise: 'nobody can sign in' }] : []),
    // Without the audit log sign-ins still work.
    { file: auditFile, otherwise: 'the audit log of the gateway is not written' },
  ];
  for (const sentence of describeUnusable(files)) options.log.error('gateway-file', sentence);
  return configuration;
};

const openDependencies = (options: BuildHostOptions, telling: Telling, meter: Meter) => ({
  ...openComputed(options, telling),
  documents: createDocuments({
    folder: options.out,
    compressed: openCompressedFiles(options.state, telling),
    memory: documentMemory,
  }),
  search: new CatalogFiles(options.state, measureBy(meter)),
  downloads: openDownloads(options, telling),
});

/**
 * Serves what was built, and follows each later build. Throws CannotServe if nothing has been built, if there is no
 * state folder, or if it cannot listen on the address; an error of the system if either folder is closed to this user;
 * SafetyListInvalid; and ConfigurationInvalid for wrong settings of the gateway.
 */
export const startBuildHost = async (options: BuildHostOptions): Promise<Host> => {
  const { out, state } = options;
  if (findEntry(path.join(out, documentPath.landing)) === undefined) {
    throw new CannotServe(`There is nothing to serve in ${out}: build it first, with npm run build.`);
  }
  // A missing folder is probably a mistyped name. If it were made here, nothing that is computed could be answered from
  // it.
  if (findEntry(state) === undefined) {
    throw new CannotServe(`There is no state folder ${state}: name with --state that of the build which made ${out}.`);
  }
  let publicAddress = readPublicAddress(out);
  const meter = new Meter();
  const telling = createTelling(options.log, meter);
  const gateway = openGateway(readGateway(publicAddress, options), { tell: telling.tell });
  const opened = openDependencies(options, telling, meter);
  const { search, safety, downloads, limiter, now } = opened;
  const dependencies = {
    ...opened,
    older: options.olderAddresses ? search.older : undefined,
    probeCredentials: gateway.probe,
    publicAddress: () => publicAddress,
  };
  const makeAnswer = createLargeAnswers();
  const questions = createQuestions(dependencies, makeAnswer);
  let app = createApp({ ...dependencies, gateway: gateway.routes }, makeAnswer);
  // The gateway's pages, cookies and links depend on the public address. If a build changes that address, the next
  // request is answered by a gateway with the new one; if that cannot be made, by the old one.
  const followAddress = (): void => {
    const before = publicAddress;
    publicAddress = readPublicAddress(out);
    if (publicAddress === before) return;
    const { settings } = readGateway(publicAddress, options);
    app = createApp({ ...dependencies, gateway: gateway.routesWith(settings) }, makeAnswer);
  };
  const tellFormat = watchOtherCatalog(state, (sentence) => options.log.warn('other-catalog', sentence));
  tellFormat();
  const remedy = 'Start the server with the --data of the build, or build again.';
  const tellList = watchListOfBuild({ out, safety, list: options.safetyList, remedy }, (sentence) =>
    options.log.warn('other-safety-list', sentence),
  );
  tellList();
  const followBuild = (): void => {
    for (const follow of [followAddress, () => search.refresh(), tellFormat, tellList]) {
      try {
        follow();
      } catch (error) {
        telling.report(error);
      }
    }
  };
  const closeOpened = async (): Promise<void> => {
    await Promise.all([downloads.close(), gateway.close()]);
    search.close();
    safety.close();
  };
  return listen(options, {
    app: { fetch: (...request) => app.fetch(...request) },
    questions,
    now,
    limiter,
    publicAddress: () => publicAddress,
    meter,
    telling,
    published: watchPublished(options),
    stamp: path.join(state, 'generation.json'),
    onChange: followBuild,
    closeOpened,
  });
};

// A build's server does not load the code of a replica.
const startHost = async (options: BuildHostOptions | ReplicaHostOptions): Promise<Host> => {
  if (!('replica' in options)) return startBuildHost(options);
  const { startReplicaHost } = await import('./replica-host.ts');
  return startReplicaHost(options);
};

/**
 * Serves what was built, or a replica, until the process is told to stop, and for `shutdownDelay` milliseconds after that,
 * in which balancers notice. Throws as startBuildHost and startReplicaHost do.
 */
export const runHost = async (
  options: (BuildHostOptions | ReplicaHostOptions) & { readonly shutdownDelay: number },
): Promise<void> => {
  const { log, shutdownDelay } = options;
  // Node prints the error in its own form, too, and ends the process.
  const tellEnd = (error: unknown) => {
    log.fault(error, { ends: true });
    log.flush();
  };
  process.on('uncaughtExceptionMonitor', tellEnd);
  const host = await startHost(options);
  // Before anybody reads that it listens, and may stop it.
  const stopped = untilStopped();
  process.stdout.write(`Listening on ${host.address}\n`);
  log.info('started', `Serving on ${host.address}`, {
    address: host.address,
    metrics: host.metricsPort,
    node: process.version,
    pid: process.pid,
  });
  await stopped;
  if (shutdownDelay > 0) {
    host.leave();
    const seconds = shutdownDelay / 1000;
    log.info('leaving', `Stopping in ${seconds} s: until then requests are answered, and /v2/readyz is 503`);
    await sleep(shutdownDelay);
  }
  log.info('stopping', 'Stopping: answers under way complete first');
  // A database that stands still does not hang up, and its connections would keep the process for as long. What is
  // acknowledged is on disk.
  const end = (): never => {
    log.warn('stopped-late', 'Stopped without waiting any longer for connections that do not end, as to a database');
    log.flush();
    process.exit(0);
  };
  setTimeout(end, stopTimeout).unref();
  await host.close();
  log.flush();
  process.off('uncaughtExceptionMonitor', tellEnd);
};
