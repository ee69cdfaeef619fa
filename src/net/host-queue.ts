import { NetworkError } from './network-error.ts';

interface Host {
  active: number;
  readonly waiting: Set<() => void>;
  /** Goes through `waiting` once. From its beginning each time, it would pass all places that are free by now. */
  order: Iterator<() => void>;
}

/**
 * Gives out at most `limit` turns at a time for each key (a host), in the order of requests. `acquire` resolves to a
 * function that returns the turn (calling it twice is harmless), or rejects if `signal` is aborted first.
 */
export class HostQueue {
  readonly #limit: number;
  readonly #hosts = new Map<string, Host>();
  // A signal looks through all of its listeners for each that is added or removed, and a whole crawl waits with one.
  readonly #watched = new Map<AbortSignal, { readonly giveUps: Set<() => void>; readonly listener: () => void }>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  acquire(key: string, signal?: AbortSignal): Promise<() => void> {
    const host = this.#hosts.get(key) ?? this.#addHost(key);
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        host.waiting.delete(start);
        reject(new NetworkError('aborted', `gave up waiting for a turn at ${key}`, { cause: signal?.reason }));
      };
      const start = () => {
        if (signal) this.#unwatch(signal, giveUp);
        host.active++;
        let held = true;
        resolve(() => {
          if (!held) return;
          held = false;
          host.active--;
          this.#next(key, host);
        });
      };
      if (signal?.aborted) return giveUp();
      if (host.active < this.#limit) return start();
      if (signal) this.#watch(signal, giveUp);
      host.waiting.add(start);
    });
  }

  #addHost(key: string): Host {
    const waiting = new Set<() => void>();
    const host = { active: 0, waiting, order: waiting.values() };
    this.#hosts.set(key, host);
    return host;
  }

  #next(key: string, host: Host): void {
    const { value: start } = host.order.next();
    if (start !== undefined) {
      host.waiting.delete(start);
      start();
    } else if (host.active === 0) {
      this.#hosts.delete(key);
    } else {
      // At its end it would not see who waits later.
      host.order = host.waiting.values();
    }
  }

  #watch(signal: AbortSignal, giveUp: () => void): void {
    const watched = this.#watched.get(signal);
    if (watched !== undefined) {
      watched.giveUps.add(giveUp);
      return;
    }
    const giveUps = new Set([giveUp]);
    const listener = () => {
      this.#watched.delete(signal);
      for (const one of giveUps) one();
    };
    this.#watched.set(signal, { giveUps, listener });
    signal.addEventListener('abort', listener, { once: true });
  }

  #unwatch(signal: AbortSignal, giveUp: () => void): void {
    const watched = this.#watched.get(signal);
    if (watched === undefined) return;
    watched.giveUps.delete(giveUp);
    if (watched.giveUps.size > 0) return;
    this.#watched.delete(signal);
    signal.removeEventListener('abort', watched.listener);
  }
}
