import type { LookupAddress } from 'node:dns';
import { lookup as askSystem, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readHostsFile, systemHostsFile } from './hosts-file.ts';
import { NetworkError } from './network-error.ts';

/** How names are resolved. The system's settings are the default. */
export interface ResolverOptions {
  /** Name servers, in the form for `dns.setServers`. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
}

/**
 * Resolves one name to all its addresses, at least one. Rejects with a `NetworkError`: `dns` for a name without an
 * address or with silent servers, `no-network` if none of our name servers answers at all, or they deny the root too.
 * Everything in progress ends with `signal`.
 */
export type ResolveName = (hostname: string, signal: AbortSignal) => Promise<LookupAddress[]>;

// How long one query may take; it is retried within the time for a lookup. No mirror has more addresses than these, and
// each that does not answer would cost a connection its time.
const queryMs = 2500;
const tries = 3;
const mostAddresses = 16;
// RFC 8305 §3 recommends 50 ms, but a crawl is in no hurry.
const otherFamilyMs = 250;
const probeMs = 3000;
// A server that begins to deny the root in this time is not noticed: the names are blamed.
const silenceMs = 30_000;

// Answers of a name server about a name, as opposed to silence and other errors.
const absent = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

// The reason of AbortSignal.timeout.
const isClock = (reason: unknown): boolean => reason instanceof Error && reason.name === 'TimeoutError';

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code ?? '');

/**
 * The resolver for the network: the hosts file, then the system's name servers over sockets of its own (c-ares), so
 * that a name with slow servers occupies no thread that others need, and nothing outlives its `signal`. The system's
 * resolver, which does occupy a thread, is only asked for names with one label and those below `.local`: only the
 * system knows what they mean, and strangers have no servers for them.
 */
export const createResolver = (options: ResolverOptions = {}): ResolveName => {
  let hosts: ReturnType<typeof readHostsFile> | undefined;

  const open = (signal: AbortSignal, timeout: number, most: number) => {
    // One for each name, so that a name does not affect how servers are treated for others, and can be cancelled alone.
    const resolver = new Resolver({ timeout, tries: most });
    if (options.servers) resolver.setServers([...options.servers]);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    return { resolver, close: () => signal.removeEventListener('abort', cancel) };
  };

  // Any working server knows the root's servers. Returns the error, if there is one.
  const askRoot = async (): Promise<string | undefined> => {
    const { resolver, close } = open(AbortSignal.timeout(probeMs), probeMs, 1);
    try {
      await resolver.resolveNs('.');
      return undefined;
    } catch (error) {
      return codeOf(error);
    } finally {
      close();
    }
  };

  // Silence about the root is not the name's fault.
  const isOnline = async (): Promise<boolean> => {
    const code = await askRoot();
    return code === undefined || absent.has(code) || code === 'EREFUSED';
  };

  // A server that is cut off may say of every name that it does not exist. One that knew the root once is not asked again,
  // and one that was silent about it not for a while: it would be waited for with each name without an address.
  let root: ReturnType<typeof askRoot> | undefined;
  let silentUntil = 0;
  const deniesRoot = async (): Promise<boolean> => {
    if (performance.now() < silentUntil) return false;
    root ??= askRoot();
    const code = await root;
    if (code !== undefined) root = undefined;
    if (code === 'ETIMEOUT' || code === 'ECANCELLED') silentUntil = performance.now() + silenceMs;
    return code === 'ENOTFOUND';
  };

  const explain = async (hostname: string, codes: readonly string[], signal: AbortSignal): Promise<NetworkError> => {
    if (signal.aborted && !isClock(signal.reason)) return new NetworkError('aborted', `gave up on ${hostname}`);
    if (codes.every((code) => absent.has(code))) {
      return (await deniesRoot())
        ? new NetworkError('no-network', 'the name server of the system denies this name and the root', {
            transient: false,
          })
        : new NetworkError('dns', `${hostname} has no address`);
    }
    const code = codes.find((one) => !absent.has(one)) ?? '';
    if (!(await isOnline())) {
      return new NetworkError('no-network', `no name server of the system answers (${code})`, { transient: true });
    }
    const isSilent = signal.aborted || code === 'ETIMEOUT';
    const words = isSilent ? 'do not answer in time' : `answer with an error (${code})`;
    return new NetworkError('dns', `the name servers of ${hostname} ${words}`, { transient: !isSilent });
  };

  const ask = async (hostname: string, signal: AbortSignal): Promise<LookupAddress[]> => {
    const { resolver, close } = open(signal, queryMs, tries);
    const found: LookupAddress[] = [];
    const query = async (family: 4 | 6): Promise<void> => {
      const addresses = await (family === 4 ? resolver.resolve4(hostname) : resolver.resolve6(hostname));
      found.push(...addresses.slice(0, mostAddresses).map((address) => ({ address, family })));
    };
    const queries = [query(4), query(6)];
    const all = Promise.allSettled(queries);
    try {
      await Promise.any(queries);
      await Promise.race([all, sleep(otherFamilyMs, undefined, { ref: false })]);
      return [...found].sort((a, b) => a.family - b.family);
    } catch (error) {
      throw await explain(hostname, (error as AggregateError).errors.map(codeOf), signal);
    } finally {
      close();
      resolver.cancel();
    }
  };

  return (hostname, signal) => {
    // A name may end with the root's dot.
    const name = hostname.replace(/\.$/, '').toLowerCase();
    hosts ??= readHostsFile(options.hostsFile ?? systemHostsFile);
    const known = hosts.get(name);
    if (known) return Promise.resolve(known.map((address) => ({ address, family: isIP(address) })));
    // RFC 6761 §6.3: these names mean this machine, whatever a name server says.
    if (name === 'localhost' || name.endsWith('.localhost')) return Promise.resolve(loopback);
    if (!name.includes('.') || name.endsWith('.local')) return askSystem(hostname, { all: true });
    return ask(name, signal);
  };
};

const loopback: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
