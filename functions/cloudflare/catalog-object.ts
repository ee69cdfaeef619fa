import { DurableObject } from 'cloudflare:workers';
import type { WritableDatabase } from '../../src/catalog/database.ts';
import { catalogFormat } from '../../src/catalog/schema.ts';
import { type CatalogStub, elsewhereHeader, objectNames, type TakeOrder } from './catalog-stub.ts';
import { objectDatabase } from './object-database.ts';
import { ObjectMemory } from './object-memory.ts';
import type { ObjectState } from './platform.ts';
import { assertNotOlder, parseGeneration, readGeneration, readOrder } from './publication.ts';
import { Serving } from './serving.ts';
import { type Environment, readSettings, type Settings } from './settings.ts';
import { Taking } from './taking.ts';
import { Farewell, Pauses } from './waiting.ts';

/**
 * Holds the catalog of one generation and answers from it. There are two: while one answers and asks the publication for
 * what is new, the other takes that, and answers when it has it whole. Whatever is killed goes on where it was.
 */
export class CatalogObject extends DurableObject<Environment> implements CatalogStub {
  readonly #state: ObjectState;
  readonly #settings: Settings;
  readonly #memory: ObjectMemory;
  readonly #database: WritableDatabase;
  readonly #serving: Serving;
  readonly #taking: Taking;
  readonly #pauses: Pauses;
  readonly #farewell = new Farewell();
  #told: string | undefined;
  #follows = false;

  constructor(state: ObjectState, environment: Environment) {
    super(state, environment);
    this.#state = state;
    this.#settings = readSettings(environment);
    this.#pauses = new Pauses(this.#settings.interval);
    this.#memory = new ObjectMemory(state.storage.sql);
    this.#database = objectDatabase(state.storage.sql);
    this.#serving = new Serving(this.#settings, this.#database, () => this.probeCredentials());
    const { files } = this.#settings;
    this.#taking = new Taking(state, { memory: this.#memory, database: this.#database, files });
    this.#serveHeld();
  }

  async fetch(request: Request): Promise<Response> {
    if (this.#memory.get('elsewhere')) return new Response(null, { status: 421, headers: { [elsewhereHeader]: '1' } });
    await this.#beginFollowing();
    return this.#serving.answer(request);
  }

  /** Whether sign-ins are kept at the moment: where there is no gateway there is nothing that could not be. */
  protected async probeCredentials(): Promise<boolean> {
    return true;
  }

  async take(order: TakeOrder): Promise<boolean> {
    const held = this.#memory.get('held');
    const isAnswering = held !== undefined && !this.#memory.get('elsewhere');
    // Whoever asks is to retire: this object finds by itself what is newer. Else both could come to answer nothing.
    if (isAnswering && parseGeneration(held.text).number >= order.answering) return true;
    if (this.#memory.get('taking')?.text !== order.text) {
      this.#memory.set('elsewhere', true);
      this.#serving.end();
      this.#farewell.begin();
      this.#taking.begin(order);
      // Whatever it waited for was of another.
      await this.#wake(0);
    } else if ((await this.#state.storage.getAlarm()) === null) await this.#wake(0);
    return false;
  }

  async retire(number: number): Promise<void> {
    const held = this.#memory.get('held');
    // What comes late is of before.
    if (held === undefined || parseGeneration(held.text).number < number) this.#memory.set('elsewhere', true);
  }

  async alarm(): Promise<void> {
    let pause: number;
    try {
      const isMore = this.#memory.get('taking') !== undefined ? await this.#takeSome() : await this.#ask();
      pause = this.#pauses.afterSuccess();
      if (isMore) pause = 0;
    } catch (error) {
      this.#tell('trouble', error instanceof Error ? error.message : String(error));
      pause = this.#pauses.afterFailure();
    }
    // Who neither answers nor takes is told when there is something to take.
    const isIdle = this.#memory.get('elsewhere') && this.#memory.get('taking') === undefined;
    if (!isIdle) await this.#wake(pause);
  }

  // Whether there is more to do at once.
  async #takeSome(): Promise<boolean> {
    if (this.#farewell.waitsFor(this.#serving.readers)) return true;
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
    const { number, date } = parseGeneration(this.#memory.get('held')?.text ?? '');
    this.#tell('generation-taken', `Generation ${number} of ${date} is in force.`);
    await this.#other().retire(number);
    return false;
  }

  // The first generation nobody else asks for: where the publication went on, what it has now is taken.
  async #takesAnother(): Promise<boolean> {
    if (this.#memory.get('elsewhere')) return false;
    const { files, publicKey } = this.#settings;
    const found = await readGeneration(files, publicKey);
    if (found.text === this.#memory.get('taking')?.text) return false;
    this.#taking.begin(await readOrder(files, found));
    return true;
  }

  async #ask(): Promise<boolean> {
    if (this.#memory.get('elsewhere')) return false;
    const { files, publicKey } = this.#settings;
    const found = await readGeneration(files, publicKey);
    const held = this.#memory.get('held');
    if (held?.text === found.text) {
      this.#serving.confirm();
      if (this.#told !== undefined) this.#tell('well', 'The generation in force is the newest again.');
      this.#told = undefined;
      return false;
    }
    if (held === undefined) {
      this.#taking.begin(await readOrder(files, found));
      return true;
    }
    const { number: answering } = assertNotOlder(found.generation, parseGeneration(held.text));
    const order = { ...(await readOrder(files, found)), answering };
    if (await this.#other().take(order)) this.#memory.set('elsewhere', true);
    return false;
  }

  #serveHeld(): void {
    const held = this.#memory.get('held');
    if (held === undefined) return;
    // Another version of this program took it, and its tables may be others.
    if (held.format === catalogFormat) this.#serving.use(held, parseGeneration(held.text));
    else this.#taking.clear();
  }

  #other(): CatalogStub {
    const { CATALOG } = this.env;
    const [one, two] = objectNames;
    return CATALOG.getByName(CATALOG.idFromName(one).equals(this.#state.id) ? two : one);
  }

  // Once: who follows sets the next alarm at the end of each.
  async #beginFollowing(): Promise<void> {
    if (this.#follows) return;
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
