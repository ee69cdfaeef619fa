import { setTimeout as sleep } from 'node:timers/promises';
import { abuseKinds } from './abuse-kinds.ts';
import { type AbuseProcess, startAbuse } from './abuse-process.ts';
import type { AbuseCounts } from './abuses.ts';
import { apiKinds } from './api-kinds.ts';
import { siteKinds } from './site-kinds.ts';
import { Builds, type IndexSize } from './soaked-builds.ts';
import { Measurements, type SoakedServer, startServer } from './soaked-server.ts';
import { Failure, Tally } from './tally.ts';
import { Client } from './visiting-client.ts';
import { type Kind, pick } from './visitor.ts';

const kinds: readonly Kind[] = [...apiKinds, ...siteKinds, ...abuseKinds];
const usualVisitors = 16;

/** What a soak is of. */
export interface SoakOptions {
  /** An empty folder for all of it. */
  readonly folder: string;
  readonly seconds: number;
  /** How much there is in the index. */
  readonly size?: IndexSize | undefined;
  /** How often it is built, before the load and under it; by default as often as there is time for. */
  readonly builds?: number;
  /** How many ask at once. */
  readonly visitors?: number;
  /** Leaves the abuses out. */
  readonly isGentle?: boolean;
  /**
   * The abuses have the processor like everybody else: where a busy machine has none to spare they would otherwise never
   * get to what they are for. How long honest clients wait then says less about the server.
   */
  readonly abusesPushIn?: boolean;
  /** What the server is started with besides: lower limits are met sooner. */
  readonly serverFlags?: readonly string[];
  /** Ends it early. */
  readonly signal?: AbortSignal;
  /**
   * Told now and then how far it is: every ten seconds, or as often as `progressMs` says. Where it returns "hold" the
   * abusers keep their connections from then on, and send and read nothing more.
   */
  readonly onProgress?: (soak: Soak, seconds: number) => 'hold' | undefined;
  /** The server is measured as often too, at least once a second. */
  readonly progressMs?: number;
}

/** What came out of a soak, and what is known while it runs. */
export interface Soak {
  readonly tally: Tally;
  readonly builds: Pick<Builds, 'seconds' | 'files'>;
  readonly points: Measurements['points'];
  /** What happened to each abuse, by its name; empty where there were none. */
  readonly abuses: Readonly<Record<string, AbuseCounts>>;
  /** How often each limit of the server was met. */
  readonly limitsMet: ReadonlyMap<string, number>;
  /** The most resident memory that the server had, in bytes. */
  readonly peak: number;
  /** Seconds under load. */
  readonly seconds: number;
  /** Open descriptors of the server before the load and after it; undefined where the system does not say. */
  readonly descriptors: { readonly before: number | undefined; readonly after: number | undefined };
  /** Files that should have been removed and were left behind. */
  readonly leftovers: readonly string[];
}

// As many of each as its weight says.
const deck: readonly Kind[] = kinds.flatMap((kind) => Array.from({ length: kind.weight }, () => kind));

const run = async (kind: Kind, client: Client, { known }: Builds, tally: Tally): Promise<void> => {
  try {
    await kind.run({ client, known, kind: kind.name });
  } catch (error) {
    tally.fail(kind.name, error instanceof Failure ? error.message : String((error as Error).stack));
  }
};

/** One visitor, who asks one thing after the other until the signal. */
const visit = async (client: Client, builds: Builds, tally: Tally, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    await run(pick(deck), client, builds, tally);
    // People pause, and builds need some of the processor.
    await sleep(Math.random() * 60);
  }
};

// The store of credentials is opened by the first request that needs it.
const openGateway = async (address: string): Promise<void> => {
  const body = JSON.stringify({ callback: 'sileo://authentication_success', udid: 'soak', model: 'soak' });
  const headers = { 'content-type': 'application/json', connection: 'close' };
  await (await fetch(`${address}/v2/authenticate`, { method: 'POST', headers, body })).text();
};

const waitForQuiet = async (server: SoakedServer, before: number | undefined): Promise<number | undefined> => {
  let open = server.measure().descriptors;
  // Connections that were cut take the server a moment to notice.
  for (let turn = 0; turn < 300 && open !== undefined && before !== undefined && open > before; turn++) {
    await sleep(100);
    open = server.measure().descriptors;
  }
  return open;
};

const load = async (
  {
    seconds,
    builds: most = Number.POSITIVE_INFINITY,
    visitors = usualVisitors,
    isGentle = false,
    abusesPushIn = false,
    signal,
    onProgress,
    progressMs = 10_000,
  }: SoakOptions,
  builds: Builds,
  server: SoakedServer,
): Promise<Soak> => {
  const tally = new Tally();
  const client = new Client(server.address, tally);
  // What is opened once and stays is open before the load already.
  for (const kind of apiKinds) await run(kind, client, builds, tally);
  client.close();
  await openGateway(server.address);
  await sleep(300);
  const before = server.measure().descriptors;
  const ending = new AbortController();
  const signals = [ending.signal, AbortSignal.timeout(seconds * 1000), ...(signal === undefined ? [] : [signal])];
  const end = AbortSignal.any(signals);
  const begun = performance.now();
  const elapsed = () => (performance.now() - begun) / 1000;
  const abuse: AbuseProcess | undefined = isGentle
    ? undefined
    : startAbuse(server.address, {
        largePath: builds.largePath,
        pushesIn: abusesPushIn,
        onFailure: (reason) => tally.fail('abuses', reason),
      });
  const measurements = new Measurements(server, Math.min(1000, (seconds * 1000) / 60, progressMs));
  const soak = (): Omit<Soak, 'descriptors' | 'leftovers'> => ({
    tally,
    builds,
    points: measurements.points,
    abuses: abuse?.counts() ?? {},
    limitsMet: server.limitsMet(),
    peak: server.peak() ?? measurements.points.resident.reduce((most, { value }) => Math.max(most, value), 0),
    seconds: elapsed(),
  });
  const progress = setInterval(() => {
    const now = { ...soak(), descriptors: { before, after: undefined }, leftovers: [] };
    if (onProgress?.(now, elapsed()) === 'hold') abuse?.hold();
  }, progressMs);
  let isLoaded = true;
  const fallen = server.ended.then(() => {
    if (!isLoaded) return;
    tally.fail('server', `it ended by itself: ${server.complaints()}`);
    ending.abort();
  });
  const visiting = Array.from({ length: visitors }, () => visit(client, builds, tally, end));
  const building = builds.repeat(end, most, (error) => tally.fail('build', String((error as Error).message)));
  await Promise.race([Promise.all(visiting), fallen]);
  isLoaded = false;
  await abuse?.stop();
  clearInterval(progress);
  measurements.end();
  const result = soak();
  client.close();
  await building;
  const after = await waitForQuiet(server, before);
  return { ...result, descriptors: { before, after }, leftovers: builds.findLeftovers() };
};

/**
 * Builds an index, serves it from a process of its own, and keeps a mixed load on it while further builds replace the
 * index again and again. Everything that it starts has ended when it returns.
 */
export const runSoak = async (options: SoakOptions): Promise<Soak> => {
  const builds = await Builds.start(options.folder, options.size);
  let server: SoakedServer | undefined;
  const killAll = () => {
    builds.kill();
    server?.kill();
  };
  process.once('exit', killAll);
  try {
    await builds.next();
    server = await startServer(builds.state, builds.out, options.serverFlags);
    const soak = await load(options, builds, server);
    // It tells the rest of the limits that were met when it ends.
    const { code, seconds } = await server.stop();
    if (code !== 0 || seconds > 10) soak.tally.fail('server', `told to stop, it ended with ${code} after ${seconds} s`);
    const complaints = server.complaints();
    if (complaints !== '') soak.tally.fail('server', `it complained: ${complaints.slice(0, 2000)}`);
    return soak;
  } finally {
    server?.kill();
    await builds.stop();
    process.off('exit', killAll);
  }
};
