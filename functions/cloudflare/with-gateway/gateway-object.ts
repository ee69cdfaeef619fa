import { DurableObject } from 'cloudflare:workers';
import type { ObjectStorage } from '../../gateway/on-object.ts';
import type { CredentialStore, Operated, StoreOperation, StoreStub } from '../../gateway/on-workers.ts';
import type { ObjectState } from '../platform.ts';

type StoreState = ObjectState & { readonly storage: ObjectStorage };

// Loaded with the first question, because a Worker has little time to start.
const load = () => import('../../gateway/on-object.ts');

/** Milliseconds between two sweeps, and between two portions of a sweep, so that waiting requests get their turn. */
const sweepInterval = 10 * 60_000;
const sweepPause = 50;

/**
 * Holds the credential store of the gateway (accounts, sign-ins and the throttle) in one place for the whole world. The
 * Worker asks it for operations of the store and does everything else itself, because a password check, which takes
 * half a second, would delay everybody here.
 */
export class GatewayObject extends DurableObject<unknown> implements StoreStub {
  readonly #state: StoreState;
  readonly #clock: (() => number) | undefined;
  #opened: CredentialStore | undefined;
  #sweeps = false;

  /** `clock` is for tests. */
  constructor(state: StoreState, environment: unknown, clock?: () => number) {
    super(state, environment);
    this.#state = state;
    this.#clock = clock;
  }

  async operate(name: StoreOperation, parameters: readonly unknown[]): Promise<Operated> {
    await this.#beginSweeping();
    const { operateOn } = await load();
    return operateOn(await this.#open(), name, parameters);
  }

  async alarm(): Promise<void> {
    // The alarm is set first: the platform gives up an alarm that fails again and again.
    await this.#state.storage.setAlarm(Date.now() + sweepInterval);
    const store = await this.#open();
    const { more } = await store.sweep().catch((error: unknown) => {
      console.error(JSON.stringify({ time: new Date().toISOString(), event: 'fault', message: `Sweeping: ${error}` }));
      return { more: false };
    });
    if (more) await this.#state.storage.setAlarm(Date.now() + sweepPause);
  }

  async #open(): Promise<CredentialStore> {
    const { openObjectStore } = await load();
    this.#opened ??= openObjectStore(this.#state.storage, this.#clock);
    return this.#opened;
  }

  // Sets the first alarm; each sweep then sets the next.
  async #beginSweeping(): Promise<void> {
    if (this.#sweeps) return;
    if ((await this.#state.storage.getAlarm()) === null) await this.#state.storage.setAlarm(Date.now() + sweepInterval);
    this.#sweeps = true;
  }
}
