import { NetworkError } from './network-error.ts';

/**
 * Gives out at most `limit` turns at a time for each key (a host), in the order of requests. `acquire` resolves to a
 * function that returns the turn (calling it twice is harmless), or rejects if `signal` is aborted first.
 */
export class HostQueue {
  readonly #limit: number;
  readonly #hosts = new Map<string, { active: number; waiting: Set<() => void> }>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  acquire(key: string, signal?: AbortSignal): Promise<() => void> {
    const host = this.#hosts.get(key) ?? { active: 0, waiting: new Set<() => void>() };
    this.#hosts.set(key, host);
    return new Promise((resolve, reject) => {
      const abort = () => {
        host.waiting.delete(start);
        reject(new NetworkError('aborted', `gave up waiting for a turn at ${key}`, { cause: signal?.reason }));
      };
      const start = () => {
        signal?.removeEventListener('abort', abort);
        host.active++;
        let held = true;
        resolve(() => {
          if (!held) return;
          held = false;
          host.active--;
          this.#next(key, host);
        });
      };
      if (signal?.aborted) return abort();
      if (host.active < this.#limit) return start();
      signal?.addEventListener('abort', abort, { once: true });
      host.waiting.add(start);
    });
  }

  #next(key: string, host: { active: number; waiting: Set<() => void> }): void {
    const [start] = host.waiting;
    if (start !== undefined) {
      host.waiting.delete(start);
      start();
    } else if (host.active === 0) {
      this.#hosts.delete(key);
    }
  }
}
