import { DownloadsObject } from '../../functions/cloudflare/downloads-object.ts';
import { GatewayObject } from '../../functions/cloudflare/with-gateway/gateway-object.ts';
import { usualCounterLimits } from '../../functions/downloads/usual-limits.ts';
import { readValue, writeValue } from './tested-object-values.ts';

// A Worker through which tests call the operations of the gateway's object and of the downloads' object, each at a time
// of their choice.

const loseAlarm = (context: unknown): Promise<void> =>
  (context as { storage: { deleteAlarm(): Promise<void> } }).storage.deleteAlarm();

/** The gateway's object with a clock that only the caller moves. */
export class TestedObject extends GatewayObject {
  readonly #time: { now: number | undefined };
  /** The last operation of this object: it is performed, but its answer is lost. */
  #last: string | undefined;

  constructor(state: ConstructorParameters<typeof GatewayObject>[0], environment: unknown) {
    const time: { now: number | undefined } = { now: undefined };
    super(state, environment, () => time.now ?? Date.now());
    this.#time = time;
  }

  async operateAt(text: string): Promise<string> {
    const { name, parameters, now } = readValue(text) as { name: never; parameters: unknown[]; now?: number };
    this.#time.now = now;
    if ((name as string) === 'alarm') {
      // The platform removes an alarm from the storage when it rings.
      await loseAlarm(this.ctx);
      await this.alarm();
      return writeValue(await this.ctx.storage.getAlarm());
    }
    if ((name as string) === 'rows') return writeValue([...this.ctx.storage.sql.exec(String(parameters[0])).raw()]);
    if ((name as string) === 'dieAfter') {
      this.#last = String(parameters[0]);
      return '';
    }
    const operated = await this.operate(name, parameters);
    if (name === this.#last) {
      const { storage } = this.ctx as unknown as { storage: { sync(): Promise<void> } };
      await storage.sync();
      (this.ctx as unknown as { abort(): void }).abort();
    }
    return writeValue(operated);
  }
}

/** A call of the downloads' object: a method, with the caller's time and limits. */
interface DownloadsQuestion {
  readonly name: 'add' | 'read' | 'probe' | 'totals' | 'alarm' | 'nextAlarm' | 'forget' | 'rows';
  readonly parameters: readonly never[];
  readonly now: number;
  readonly limits: object;
}

/** The downloads' object with a clock and limits that only the caller changes. */
export class TestedDownloads extends DownloadsObject {
  readonly #time: { now: number };
  readonly #limits: object;

  constructor(state: ConstructorParameters<typeof DownloadsObject>[0], environment: unknown) {
    const time = { now: 0 };
    const limits = { ...usualCounterLimits };
    super(state, environment, () => time.now, limits);
    this.#time = time;
    this.#limits = limits;
  }

  async askAt(text: string): Promise<string> {
    const { name, parameters, now, limits } = readValue(text) as DownloadsQuestion;
    this.#time.now = now;
    Object.assign(this.#limits, limits);
    if (name === 'forget') {
      // What an object loses when it falls asleep.
      (this.ctx as unknown as { abort(): void }).abort();
      return '';
    }
    if (name === 'nextAlarm') return writeValue(await this.ctx.storage.getAlarm());
    if (name === 'rows') return writeValue([...this.ctx.storage.sql.exec(String(parameters[0])).raw()]);
    if (name === 'alarm') {
      await loseAlarm(this.ctx);
      await this.alarm();
      return writeValue(await this.ctx.storage.getAlarm());
    }
    const method = this[name] as (...given: readonly never[]) => Promise<unknown>;
    return writeValue(await method.apply(this, [...parameters]));
  }
}

interface Bound {
  readonly STORES: { getByName(name: string): TestedObject };
  readonly DOWNLOADS: { getByName(name: string): TestedDownloads };
}

export default {
  fetch: async (request: Request, { STORES, DOWNLOADS }: Bound): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const text = await request.text();
    try {
      return new Response(
        await (search === '?downloads'
          ? DOWNLOADS.getByName(pathname).askAt(text)
          : STORES.getByName(pathname).operateAt(text)),
      );
    } catch (error) {
      return new Response(String(error), { status: 500 });
    }
  },
};
