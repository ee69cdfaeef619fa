import { hash } from 'node:crypto';
import { cpSync, existsSync } from 'node:fs';
import path from 'node:path';
import { CatalogKeeper } from '../../functions/cloudflare/catalog-keeper.ts';
import type { CatalogStub, TakeOrder } from '../../functions/cloudflare/catalog-stub.ts';
import type { PublishedFiles } from '../../functions/cloudflare/published-files.ts';
import {
  generationPath,
  generationSchema,
  type PortionList,
  portionListSchema,
} from '../../src/contract/generation.ts';
import { BuiltPublication } from './built-publication.ts';
import { packages } from './catalog.ts';
import { temporaryFolder } from './folder.ts';
import { openStorage } from './object-storage.ts';

/** The state of a publication at one time: its files, and its `generation.json`. */
export interface PublishedState {
  readonly read: (file: string) => Buffer | undefined;
  readonly text: string;
}

/** The same publication with another list of portions, and a generation that matches it. */
export const withList = (state: PublishedState, alter: (list: PortionList) => PortionList): PublishedState => {
  const generation = generationSchema.parse(JSON.parse(state.text));
  if (generation.portions === undefined) throw new Error('there are no portions');
  const { path: file } = generation.portions;
  const list = Buffer.from(JSON.stringify(alter(portionListSchema.parse(JSON.parse(String(state.read(file)))))));
  const sha256 = hash('sha256', list);
  const text = JSON.stringify({ ...generation, portions: { path: file, sha256 } });
  const others = new Map([
    [file, list],
    [generationPath.current, Buffer.from(text)],
  ]);
  return { text, read: (asked) => others.get(asked) ?? state.read(asked) };
};

const publishText = async (publication: BuiltPublication, text: string): Promise<PublishedState> => {
  await publication.publish([{ slug: 'one', packages: packages({ Package: 'com.example.a', Description: text }) }]);
  const files = new Map(publication.files(true).map((file) => [file, publication.read(file)]));
  return { read: (file) => files.get(file), text: publication.read(generationPath.current).toString() };
};

/**
 * Publishes four generations. The second and third have the same number, because the output of the first was restored
 * between them.
 */
export const publishFour = async (): Promise<readonly PublishedState[]> => {
  const [former, restored] = [temporaryFolder(), temporaryFolder()];
  const publication = new BuiltPublication(former);
  publication.hasPortions = true;
  const first = await publishText(publication, 'first');
  cpSync(former, restored, { recursive: true });
  const second = await publishText(publication, 'second');
  const again = new BuiltPublication(restored);
  again.hasPortions = true;
  again.now = new Date(publication.now.getTime() + 3_600_000);
  if (!existsSync(path.join(restored, 'state'))) throw new Error('nothing was put back');
  return [first, second, await publishText(again, 'third'), await publishText(again, 'fourth')];
};

/** The two objects that keep a catalog, over a publication. The test plays the platform between them. */
export class CatalogPair {
  /** The present state of the publication. */
  published: PublishedState;
  /** Called before each file is read. */
  onRead: (file: string) => Promise<void> | undefined = () => undefined;
  /** The clock, in milliseconds. */
  now = 1_800_000_000_000;
  /** The states that it has, one after another. */
  readonly states: readonly PublishedState[];
  /** How often an object was woken. */
  woken = 0;
  readonly #portions: (file: string) => Buffer | undefined;
  readonly #storages = [openStorage(), openStorage()] as const;
  #keepers: readonly [CatalogKeeper, CatalogKeeper];
  /** Messages on their way between the objects. */
  #messages: { deliver: () => void; lose: () => void }[] = [];
  readonly #alarms: [Promise<void> | undefined, Promise<void> | undefined] = [undefined, undefined];
  /** The times that the alarms which run were set for. */
  readonly #running: [number | undefined, number | undefined] = [undefined, undefined];
  #asked: 0 | 1 = 0;

  constructor(states: readonly PublishedState[]) {
    const [first] = states;
    if (first === undefined) throw new Error('nothing is published');
    this.published = first;
    this.states = states;
    // Portions of former generations stay published for a while.
    this.#portions = (file) => states.map(({ read }) => read(file)).find((bytes) => bytes !== undefined);
    this.#keepers = [this.#open(0), this.#open(1)];
  }

  #open(at: 0 | 1): CatalogKeeper {
    const files: PublishedFiles = {
      read: async (file) => {
        await this.onRead(file);
        const bytes = file.endsWith('.portion') ? this.#portions(file) : this.published.read(file);
        if (bytes === undefined) return undefined;
        const body = new Blob([new Uint8Array(bytes)]).stream();
        return { size: bytes.length, sha256: undefined, etag: undefined, body };
      },
    };
    const other = (): CatalogKeeper => this.#keepers[at === 0 ? 1 : 0];
    const stub: CatalogStub = {
      fetch: (request) => other().fetch(request),
      take: (order) => this.#send(() => other().take(structuredClone(order))),
      retire: (text) => this.#send(() => other().retire(text)),
      standing: () => this.#send(() => other().standing()),
    };
    const { state } = this.#storages[at];
    const storage: typeof state.storage = {
      ...state.storage,
      // workerd takes it for the alarm that runs, and removes it with that one.
      setAlarm: async (time) => (time === this.#running[at] ? undefined : state.storage.setAlarm(time)),
    };
    return new CatalogKeeper(
      { ...state, storage },
      {
        settings: {
          ...{ files, hasPages: false, publicKey: undefined, interval: 60_000, rate: 0 },
          ...{ olderAddresses: false, downloads: undefined },
        },
        other: () => stub,
        isFirst: at === 0,
        probeCredentials: async () => true,
      },
    );
  }

  // Sends the call, and its answer back.
  async #send<T>(call: () => Promise<T>): Promise<T> {
    await this.#travel();
    const answer = await call();
    await this.#travel();
    return answer;
  }

  #travel(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#messages.push({ deliver: resolve, lose: () => reject(new Error('the connection was lost')) });
    });
  }

  /** Whether there are messages on their way. */
  get isOnTheWay(): boolean {
    return this.#messages.length > 0;
  }

  /** Delivers an order that was delayed for long. */
  order(at: 0 | 1, order: TakeOrder): Promise<boolean> {
    return this.#keepers[at].take(order);
  }

  /** Delivers, or loses, the message at this place in the list. */
  arrive(place: number, isLost = false): void {
    const [message] = this.#messages.splice(place % Math.max(1, this.#messages.length), 1);
    if (isLost) message?.lose();
    else message?.deliver();
  }

  /** Wakes an object at the time of its alarm, if it has one and is not awake. Returns after how many milliseconds. */
  wake(at: 0 | 1): number | undefined {
    if (this.#alarms[at] !== undefined) return undefined;
    const time = this.#storages[at].takeAlarm();
    if (time === null) return undefined;
    this.woken++;
    const pause = Math.max(0, time - this.now);
    this.now += pause;
    this.#running[at] = time;
    this.#alarms[at] = this.#keepers[at].alarm().finally(() => {
      this.#alarms[at] = undefined;
      this.#running[at] = undefined;
    });
    return pause;
  }

  /** Removes the alarm, as the platform does if it failed too often. */
  loseAlarm(at: 0 | 1): void {
    this.#storages[at].takeAlarm();
  }

  /** Restarts an object over its storage, if it is not awake. */
  restart(at: 0 | 1): void {
    if (this.#alarms[at] !== undefined || this.#messages.length > 0) return;
    this.#keepers = at === 0 ? [this.#open(0), this.#keepers[1]] : [this.#keepers[0], this.#open(1)];
  }

  /** Changes the storage of an object, as after a restored backup. */
  alter(at: 0 | 1, statement: string): void {
    this.#storages[at].sql.exec(statement);
    this.restart(at);
  }

  /** Resolves when both objects are asleep or wait for a message. */
  async settle(): Promise<void> {
    const isBusy = () => this.#alarms.filter((one) => one !== undefined).length > this.#messages.length;
    do await new Promise((resolve) => setImmediate(resolve));
    while (isBusy());
  }

  /** Asks each object for this file. Returns the generation from which it answered, or its status. */
  async answers(file: string = generationPath.current): Promise<(string | number)[]> {
    return Promise.all(
      this.#keepers.map(async (keeper) => {
        const response = await keeper.fetch(new Request(`https://index.example/${file}`));
        return response.status === 200 ? response.text() : response.status;
      }),
    );
  }

  /**
   * Asks as a Worker does: first the object that answered last and, if that declines, the other. Returns the
   * generation, or the status.
   */
  async ask(): Promise<string | number> {
    for (const at of [this.#asked, this.#asked === 0 ? 1 : 0] as const) {
      const response = await this.#keepers[at].fetch(new Request(`https://index.example/${generationPath.current}`));
      if (response.status === 421) continue;
      this.#asked = at;
      return response.status === 200 ? response.text() : response.status;
    }
    return 421;
  }

  /** Lets time pass, twenty minutes by default, in which everything works and there are occasional requests. */
  async rest(minutes = 20): Promise<void> {
    for (const end = this.now + minutes * 60_000; this.now < end; this.now += 30_000) {
      await this.ask();
      for (let events = 0; events < 100; events++) {
        for (const at of [0, 1] as const) {
          const due = this.#alarms[at] === undefined ? await this.#storages[at].state.storage.getAlarm() : null;
          if (due !== null && due <= this.now + 1) this.wake(at);
        }
        await this.settle();
        if (this.#messages.length === 0) {
          if (this.#alarms.every((one) => one === undefined)) break;
          continue;
        }
        while (this.#messages.length > 0) this.arrive(0);
      }
    }
  }
}
