import { GatewayObject } from '../../functions/cloudflare/with-gateway/gateway-object.ts';
import { readValue, writeValue } from './tested-object-values.ts';

// A Worker by which tests ask the gateway's object for operations of its store, each at a time of its own choice.

/** The gateway's object with a clock that only its asker moves. */
export class TestedObject extends GatewayObject {
  readonly #time: { now: number | undefined };

  constructor(state: ConstructorParameters<typeof GatewayObject>[0], environment: unknown) {
    const time: { now: number | undefined } = { now: undefined };
    super(state, environment, () => time.now ?? Date.now());
    this.#time = time;
  }

  async operateAt(text: string): Promise<string> {
    const { name, parameters, now } = readValue(text) as { name: never; parameters: unknown[]; now?: number };
    this.#time.now = now;
    if ((name as string) === 'alarm') {
      await this.alarm();
      return writeValue(await this.ctx.storage.getAlarm());
    }
    return writeValue(await this.operate(name, parameters));
  }
}

interface Bound {
  readonly STORES: { getByName(name: string): TestedObject };
}

export default {
  fetch: async (request: Request, { STORES }: Bound): Promise<Response> => {
    try {
      return new Response(await STORES.getByName(new URL(request.url).pathname).operateAt(await request.text()));
    } catch (error) {
      return new Response(String(error), { status: 500 });
    }
  },
};
