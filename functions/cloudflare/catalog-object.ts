import { DurableObject } from 'cloudflare:workers';
import { CatalogKeeper } from './catalog-keeper.ts';
import { type CatalogStub, objectNames, type Standing, type TakeOrder } from './catalog-stub.ts';
import type { ObjectState } from './platform.ts';
import { type Environment, readSettings } from './settings.ts';

/** One of the two objects that hold a catalog. */
export class CatalogObject extends DurableObject<Environment> implements CatalogStub {
  readonly #keeper: CatalogKeeper;

  constructor(state: ObjectState, environment: Environment) {
    super(state, environment);
    const { CATALOG } = environment;
    const [one, two] = objectNames;
    const isFirst = CATALOG.idFromName(one).equals(state.id);
    this.#keeper = new CatalogKeeper(state, {
      settings: readSettings(environment),
      other: () => CATALOG.getByName(isFirst ? two : one),
      isFirst,
      probeCredentials: () => this.probeCredentials(),
    });
  }

  fetch(request: Request): Promise<Response> {
    return this.#keeper.fetch(request);
  }

  /** Whether the credential store works at the moment; may throw an Error that says why not. Without a gateway there is none that could fail. */
  protected async probeCredentials(): Promise<boolean> {
    return true;
  }

  take(order: TakeOrder): Promise<boolean> {
    return this.#keeper.take(order);
  }

  retire(text: string): Promise<void> {
    return this.#keeper.retire(text);
  }

  standing(): Promise<Standing> {
    return this.#keeper.standing();
  }

  alarm(): Promise<void> {
    return this.#keeper.alarm();
  }
}
