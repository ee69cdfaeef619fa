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

/** How often, in milliseconds, to check whether a catalog that is to be replaced still has readers. */
const readersPause = 250;

/** What a keeper of a catalog is given. */
export interface KeeperOptions {
  readonly settings: Settings;
  /** The other of the two. */
  readonly other: () => CatalogStub;
  /** Exactly one of the two is the first: the one that answers where nothing else decides between them. */
  readonly isFirst: boolean;
  /** Whether the credential store works at the moment. */
  readonly probeCredentials: () => Promise<boolean>;
}

/**
 * Holds the catalog of one generation and answers from it. There are two keepers. While one answers and asks the
 * publication for news, the other takes the next generation, and answers once it has all of it. A keeper that was
 * killed continues where it was.
 *
 * As soon as there is anything to answer from, one of the two answers. A keeper stands aside only if it is told that
 * the other answers from a newer generation; if both have the same one, the first stays. Both can still stand aside
 * after a storage was restored: then the next one asked notices that, and answers.
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
      // This comes first because the storage may refuse an order that is too long.
      this.#taking.begin(order);
      this.#memory.set('elsewhere', true);
      this.#farewell.begin();
      this.#follows = true;
      // Any pause that is still running belongs to the order before this one.
      await this.#wake(0);
    } else await this.#follow();
    return false;
  }

  async retire(text: string): Promise<void> {
    const held = this.#held();
    // A message that arrives late may be about an older generation.
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
    // A new order may have arrived meanwhile. It has not failed, so it needs no pause.
    const after = this.#memory.get('taking')?.text;
    if (after !== undefined && after !== before) pause = 0;
    // A keeper that neither answers nor takes is told when there is something to take, so it needs no alarm.
    if (this.#memory.get('elsewhere') && after === undefined) this.#rest(pause);
    else await this.#wake(pause);
  }

  // Sets no alarm. The next request for an answer ends the rest, unless it comes before the pause is over: it was
  // either sent to the wrong object, or neither object answers.
  #rest(pause: number): void {
    this.#follows = false;
    this.#restsUntil = Date.now() + pause;
  }

  // Takes a part of the generation; whether there is more to do at once.
  async #takeSome(): Promise<boolean> {
    if (this.#waitsForReaders()) return true;
    // What is written from here on is of another generation.
    this.#serving.end();
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

  // Takes the generation that is published now, if neither object answers and the publication has a newer one than was
  // ordered.
  async #takesAnother(): Promise<boolean> {
    const standing = await this.#options
      .other()
      .standing()
      .catch(() => undefined);
    // If neither answers, nobody else will ask the publication, whoever ordered this generation.
    if (standing === 'aside') this.#memory.set('elsewhere', undefined);
    if (standing === 'answering') this.#memory.set('elsewhere', true);
    if (this.#memory.get('elsewhere')) return false;
    const { files, publicKey } = this.#options.settings;
    const found = await readGeneration(files, publicKey);
    if (found.text === this.#memory.get('taking')?.text) return false;
    this.#taking.begin(await readOrder(files, found));
    return true;
  }

  // Asks for what is new; whether there is more to do at once.
  async #ask(): Promise<boolean> {
    if (this.#memory.get('elsewhere')) return this.#standIn();
    const { files, publicKey } = this.#options.settings;
    const found = await readGeneration(files, publicKey);
    const held = this.#held();
    if (held?.text === found.text) {
      // The publication, or the configuration, may have another signing key by now.
      if (held.jws !== found.jws) this.#memory.set('held', { ...held, jws: found.jws });
      if (held.jws !== found.jws) this.#serveHeld();
      this.#serving.confirm();
      if (this.#told !== undefined) this.#tell('well', 'The generation in force is the newest again.');
      this.#told = undefined;
      return false;
    }
    if (held === undefined) {
      const order = await readOrder(files, found);
      // This storage may have been restored to a moment when it was empty. If the other object answers, it will order
      // what this one is to take.
      if ((await this.#options.other().standing()) === 'answering') this.#memory.set('elsewhere', true);
      else this.#taking.begin(order);
      return true;
    }
    assertNotOlder(found.generation, parseGeneration(held.text));
    const order = { ...(await readOrder(files, found)), answering: held.text };
    // Nothing was taken meanwhile, because an object runs one alarm at a time.
    if (await this.#options.other().take(order)) this.#memory.set('elsewhere', true);
    return false;
  }

  // Answers again, if neither object does.
  async #standIn(): Promise<boolean> {
    if ((await this.#options.other().standing()) !== 'aside') return false;
    // An order may have arrived while the other object was asked.
    if (this.#memory.get('taking') !== undefined) return true;
    this.#memory.set('elsewhere', undefined);
    this.#tell('trouble', 'Neither object answered, as where the storage of one was put back: this one does again.');
    this.#serveHeld();
    const held = this.#held();
    // The other object may have noticed the same at the same time.
    if (held !== undefined) await this.#options.other().retire(held.text);
    return true;
  }

  // Whether this object keeps answering when both do. The one that asks retires in turn, and finds newer generations by
  // itself; otherwise both could stop answering.
  #stays(held: string, answering: string): boolean {
    return isNewer(held, answering) || (this.#options.isFirst && !isNewer(answering, held));
  }

  // What another version of this program took may have other tables, so it counts as nothing. It stays until something
  // is taken in its place, because that version may be deployed again.
  #held() {
    const held = this.#memory.get('held');
    return held?.format === catalogFormat ? held : undefined;
  }

  #serveHeld(): void {
    const held = this.#held();
    if (held !== undefined) this.#serving.use(held, parseGeneration(held.text));
  }

  // Sets the first alarm; each alarm then sets the next. For an object that stands aside, the alarm checks whether the
  // other one answers.
  async #beginFollowing(): Promise<void> {
    if (!this.#follows && Date.now() >= this.#restsUntil) await this.#follow();
  }

  // Sees that there is an alarm: the platform may have given up waking this object.
  async #follow(): Promise<void> {
    const isRestarted = !this.#follows;
    this.#follows = true;
    const due = await this.#state.storage.getAlarm();
    const { interval } = this.#options.settings;
    if (due === null) await this.#wake(0);
    // After failures; the deployment that restarted this object may have corrected their reason.
    else if (isRestarted && due > Date.now() + interval) await this.#wake(interval);
  }

  // Never for this moment: an alarm may run in the millisecond that it was set for, and workerd takes another one for the
  // same millisecond for that one, which it then removes. Nothing would wake the object again.
  async #wake(pause: number): Promise<void> {
    await this.#state.storage.setAlarm(Date.now() + Math.max(pause, 1));
  }

  // Logs the same trouble only once until all is well again.
  #tell(event: 'trouble' | 'well' | 'generation-taken', message: string): void {
    if (event === 'trouble' && this.#told === message) return;
    this.#told = event === 'trouble' ? message : undefined;
    console.log(JSON.stringify({ time: new Date().toISOString(), event, message }));
  }
}
