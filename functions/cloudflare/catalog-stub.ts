/** What one object is to take, as the other found it. */
export interface TakeOrder {
  /** `generation.json` as it is published, and its signature. */
  readonly text: string;
  readonly jws: string | null;
  /** The list of its portions as it is published. */
  readonly list: string;
  /** The `generation.json` of the generation that the other object answers from meanwhile. */
  readonly answering: string;
}

export type Standing = 'answering' | 'aside' | 'empty';

/** What the Worker and the other object may ask of an object that holds a catalog. */
export interface CatalogStub {
  /** Answers a request; or says by `elsewhereHeader` that the other object answers. */
  fetch(request: Request): Promise<Response>;
  /**
   * Begins to take a generation, or continues. Resolves to true if there is no need, because this object answers from
   * one that is at least as new as the other object's.
   */
  take(order: TakeOrder): Promise<boolean>;
  /** Stops answering if the generation with this `generation.json`, from which the other object answers, is newer. */
  retire(text: string): Promise<void>;
  /** Whether this object answers, leaves that to the other one, or holds nothing yet. */
  standing(): Promise<Standing>;
}

/** The names of the two objects: one answers while the other takes what comes next. */
export const objectNames = ['one', 'two'] as const;
export type ObjectName = (typeof objectNames)[number];

/** A header of an answer by which an object says that the other one is to be asked. No client ever sees it. */
export const elsewhereHeader = 'x-debdex-elsewhere';
