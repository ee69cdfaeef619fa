import { onTestFinished, vi } from 'vitest';
import type { Host } from '../../functions/node/host-options.ts';
import { type ReplicaHostOptions, startReplicaHost } from '../../functions/node/replica-host.ts';
import { safetyFile } from '../../functions/node/safety-file.ts';
import { createLog } from '../../src/log/log.ts';
import type { Proxies } from '../../src/net/proxies.ts';
import { temporaryFolder } from './folder.ts';
import { patience } from './patience.ts';

/** The real server of a replica on loopback. */
export interface ReplicaServer extends Host {
  readonly state: string;
  /** The lines of JSON in its log. */
  readonly lines: readonly Record<string, unknown>[];
  get(target: string, headers?: Record<string, string>): Promise<Response>;
  /** The number of the generation that it answers from, and whether and when the publication confirmed it. */
  generation(): Promise<{ generation: number | null; age: number | null; confirmed: string | null }>;
  /** Resolves when it answers from the generation with this number. */
  until(number: number): Promise<void>;
}

type ReplicaServerOptions = Partial<Omit<ReplicaHostOptions, 'replica'>> & {
  publicKey?: string;
  interval?: number;
  proxies?: Proxies;
};

/**
 * Serves a replica of the publication at an address, where it looks for news ten times a second. It ends with the test.
 */
export const startReplicaServer = async (from: string, options: ReplicaServerOptions = {}): Promise<ReplicaServer> => {
  const replica = await startLastingReplica(from, { ...options, state: options.state ?? temporaryFolder() });
  onTestFinished(replica.close);
  return replica;
};

/** The same for several tests, because starting a follower's thread takes half a second of processor time. */
export const startLastingReplica = async (
  from: string,
  { publicKey, interval = 100, proxies, state, ...others }: ReplicaServerOptions & { state: string },
): Promise<ReplicaServer> => {
  const lines: Record<string, unknown>[] = [];
  const write = (text: string) => {
    for (const line of text.split('\n')) if (line !== '') lines.push(JSON.parse(line));
  };
  const host = await startReplicaHost({
    state,
    host: '127.0.0.1',
    port: 0,
    rate: 0,
    answerMemory: 2 ** 20,
    olderAddresses: true,
    trustedProxies: 0,
    limits: {},
    log: createLog({ level: 'debug', format: 'json', write }),
    accessLog: 'off',
    safetyList: safetyFile,
    replica: { from, publicKey, interval, proxies },
    countDownloads: false,
    ...others,
  });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await host.close();
    isOpen = false;
  };
  const get = (target: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${host.port}${target}`, {
      headers: { 'accept-encoding': 'identity', ...headers },
      redirect: 'manual',
    });
  const generation: ReplicaServer['generation'] = async () => {
    const { data } = (await (await get('/v2/healthz')).json()) as {
      data: { replica: { generation: number | null; age: number | null; confirmed: string | null } };
    };
    return data.replica;
  };
  return {
    ...host,
    close,
    state,
    lines,
    get,
    generation,
    until: (number) =>
      vi.waitFor(async () => {
        const found = await generation();
        if (found.generation !== number) throw new Error(`generation ${found.generation} is in force`);
      }, patience),
  };
};
