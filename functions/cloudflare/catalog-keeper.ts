import type { WritableDatabase } from '../../src/catalog/database.ts';
import { catalogFormat } from '../../src/catalog/schema.ts';
import { type CatalogStub, elsewhereHeader, type Standing, type TakeOrder } from './catalog-stub.ts';
import { objectDatabase } from './object-database.ts';
import { ObjectMemory } from './object-memory.ts';
import type { ObjectState } from './platform.ts';
import { assertNotOlder, isNewer, parseGeneration, readGeneration, readOrder } from './publication-files.ts';
import { Serving } from './serving.ts';
import type { Settings } from './settings.ts';
import { Taking } from './taking.ts';
import { Farewell, Pauses } from './waiting.ts';

/** How long, in milliseconds, until it is looked again whether anybody still reads what is to be replaced. */
const readersPause = 250;

/** What an object is told that keeps a catalog. */
export interface KeeperOptions {
  readonly settings: Settings;
  /** The other of the two. */
  readonly other: () => CatalogStub;
  /** Of the two exactly one is the first: it stays where nothing else tells which of them is to answer. */
  readonly isFirst: boolean;
  /** Whether sign-ins are kept at the moment. */
  readonly probeCredentials: () => Promise<boolean>;
}

/**
 * Holds the catalog of one generation and answers from it. There are two: while one answers and asks the publication for
 * what is new, the other takes that, and answers when it has it whole. Whatever is killed goes on where it was.
 *
 * One of them answers at any time, once there is anything to answer from: only who is told of a newer generation, from which
 * the other answers, stands aside; where both have the same, the first stays. Should both stand aside all the same, as
 * a storage that was put back can make them, whoever is asked next sees that and answers.
 */
export class CatalogKeeper implements CatalogStub {
  readonly #state: ObjectState;
  readonly #options: KeeperOptions;
  readonly #memory: ObjectMemory;
  readonly #database: WritableDatabase;
  readonly #serving: Serving;
  readonly #taking: Taking;
  readonly #pauses: Pauses;
  readonly #farewell = new Farewell();
  #told: string | undefined;
  #follows = false;
  #restsUntil = 0;

  constructor(state: ObjectState, options: KeeperOptions) {
    this.#state = state;
    this.#options = options;
    const { settings } = options;
    this.#pauses = new Pauses(settings.interval);
    this.#memory = new ObjectMemory(state.storage.sql);
    this.#database = objectDatabase(state.storage.sql);
    this.#serving = new Serving(settings, this.#database, options.probeCredentials);
    this.#taking = new Taking(state, { memory: this.#memory, database: this.#database, files: settings.files });
    this.#serveHeld();
  }

  async fetch(request: Request): Promise<Response> {
    await this.#beginFollowing();
    if (this.#memory.get('elsewhere')) return new Response(null, { status: 421, headers: { [elsewhereHeader]: '1' } });
    return this.#serving.answer(request);
  }

  async take(order: TakeOrder): Promise<boolean> {
    const held = this.#held();
    if (held !== undefined && !this.#memory.get('elsewhere') && this.#stays(held.text, order.answering)) return true;
    if (this.#memory.get('taking')?.text !== order.text) {
      // First, since the storage may refuse what is too long.
      this.#taking.begin(order);
      this.#memory.set('elsewhere', true);
      this.#serving.end();
      this.#farewell.begin();
      // Whatever it waited for was of another.
      await this.#wake(0);
    } else if ((await this.#state.storage.getAlarm()) === null) await this.#wake(0);
    return false;
  }

  async retire(text: string): Promise<void> {
    const held = this.#held();
    // What comes late is of before.
    if (held === undefined || isNewer(text, held.text)) this.#memory.set('elsewhere', true);
  }

  async standing(): Promise<Standing> {
    if (this.#memory.get('elsewhere')) return 'aside';
    return this.#held() === undefined ? 'empty' : 'answering';
  }

  async alarm(): Promise<void> {
    const before = this.#memory.get('taking')?.text;
    let pause: number;
    try {
      const isMore = before === undefined ? await this.#ask() : await this.#takeSome();
      pause = this.#pauses.afterSuccess();
      if (isMore) pause = this.#waitsForReaders() ? readersPause : 0;
    } catch (error) {
      this.#tell('trouble', error instanceof Error ? error.message : String(error));
      pause = this.#pauses.afterFailure();
    }
    // Another order may have come meanwhile, which nothing failed of yet.
    const after = this.#memory.get('taking')?.text;
    if (after !== undefined && after !== before) pause = 0;
    // Who neither answers nor takes is told when there is something to take.
    if (this.#memory.get('elsewhere') && after === undefined) this.#rest(pause);
    else await this.#wake(pause);
  }

  // Until somebody asks for an answer, who can but be mistaken, or find that nobody answers.
  #rest(pause: number): void {
    this.#follows = false;
    this.#restsUntil = Date.now() + pause;
  }

  // Whether there is more to do at once.
  async #takeSome(): Promise<boolean> {
    if (this.#waitsForReaders()) return true;
    try {
      if (!(await this.#taking.goOn())) return true;
    } catch (error) {
      if (await this.#takesAnother()) return true;
      throw error;
    }
    this.#farewell.end();
    this.#memory.set('elsewhere', undefined);
    this.#serveHeld();
    this.#serving.confirm();
    const { text = '' } = this.#held() ?? {};
    const { number, date } = parseGeneration(text);
    this.#tell('generation-taken', `Generation ${number} of ${date} is in force.`);
    await this.#options.other().retire(text);
    return false;
  }

  #waitsForReaders(): boolean {
    return this.#farewell.waitsFor(this.#serving.readers);
  }

  // Where nobody answers, and the publication went on, what it has now is taken.
  async #takesAnother(): Promise<boolean> {
    const standing = await this.#options
      .other()
      .standing()
      .catch(() => undefined);
    // Where neither answers nobody else asks, whoever it was that ordered this.
    if (standing === 'aside') this.#memory.set('elsewhere', undefined);
    if (standing === 'answering') this.#memory.set('elsewhere', true);
    if (this.#memory.get('elsewhere')) return false;
    const { files, publicKey } = this.#options.settings;
    const found = await readGeneration(files, publicKey);
    if (found.text === this.#memory.get('taking')?.text) return false;
    this.#taking.begin(await readOrder(files, found));
    return true;
  }

  // Whether there is more to do at once.
  async #ask(): Promise<boolean> {
    if (this.#memory.get('elsewhere')) return this.#standIn();
    const { files, publicKey } = this.#options.settings;
    const found = await readGeneration(files, publicKey);
    const held = this.#held();
    if (held?.text === found.text) {
      // The maintainer, or the configuration, may have another key.
      if (held.jws !== found.jws) this.#memory.set('held', { ...held, jws: found.jws });
      if (held.jws !== found.jws) this.#serveHeld();
      this.#serving.confirm();
      if (this.#told !== undefined) this.#tell('well', 'The generation in force is the newest again.');
      this.#told = undefined;
      return false;
    }
    if (held === undefined) {
      const order = await readOrder(files, found);
      // A storage may have been put back to before anything was in it, while the other answers: then that asks this one.
      if ((await this.#options.other().standing()) === 'answering') this.#memory.set('elsewhere', true);
      else this.#taking.begin(order);
      return true;
    }
    assertNotOlder(found.generation, parseGeneration(held.text));
    const order = { ...(await readOrder(files, found)), answering: held.text };
    // Meanwhile nothing was taken: an object has one alarm at a time.
    if (await this.#options.other().take(order)) this.#memory.set('elsewhere', true);
    return false;
  }

  // Where neither answers, this one does.
  async #standIn(): Promise<boolean> {
    if ((await this.#options.other().standing()) !== 'aside') return false;
    // An order may have come meanwhile.
    if (this.#memory.get('taking') !== undefined) return true;
    this.#memory.set('elsewhere', undefined);
    this.#tell('trouble', 'Neither object answered, as where the storage of one was put back: this one does again.');
    this.#serveHeld();
    const held = this.#held();
    // The other may have seen the same at the same time.
    if (held !== undefined) await this.#options.other().retire(held.text);
    return true;
  }

  // Of two that answer. Whoever asks is to retire, and finds by itself what is newer: else both could come to answer nothing.
  #stays(held: string, answering: string): boolean {
    return isNewer(held, answering) || (this.#options.isFirst && !isNewer(answering, held));
  }

  // What another version of this program took may have other tables. It stays there until something is taken in its place: that
  // version may come back.
  #held() {
    const held = this.#memory.get('held');
    return held?.format === catalogFormat ? held : undefined;
  }

  #serveHeld(): void {
    const held = this.#held();
    if (held !== undefined) this.#serving.use(held, parseGeneration(held.text));
  }

  // Once: who follows sets the next alarm at the end of each. Who stands aside looks then whether the other answers.
  async #beginFollowing(): Promise<void> {
    if (this.#follows || Date.now() < this.#restsUntil) return;
    this.#follows = true;
    if ((await this.#state.storage.getAlarm()) === null) await this.#wake(0);
  }

  async #wake(pause: number): Promise<void> {
    await this.#state.storage.setAlarm(Date.now() + pause);
  }

  // The same trouble is told once, until all is well.
  #tell(event: 'trouble' | 'well' | 'generation-taken', message: string): void {
    if (event === 'trouble' && this.#told === message) return;
    this.#told = event === 'trouble' ? message : undefined;
    console.log(JSON.stringify({ time: new Date().toISOString(), event, message }));
  }
}
