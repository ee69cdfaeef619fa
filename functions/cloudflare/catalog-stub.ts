/** What one object is to take, as the other found it. */
export interface TakeOrder {
  /** `generation.json` as it is published, and its signature. */
  readonly text: string;
  readonly jws: string | null;
  /** The list of its portions as it is published. */
  readonly list: string;
  /** The `generation.json` of that from which the other answers meanwhile. */
  readonly answering: string;
}

export type Standing = 'answering' | 'aside' | 'empty';

/** What the Worker and the other object may ask of an object that holds a catalog. */
export interface CatalogStub {
  /** Answers a request; or says by `elsewhereHeader` that the other object answers. */
  fetch(request: Request): Promise<Response>;
  /** Begins to take a generation, or goes on; whether it need not, since this object answers from as new a one as the other. */
  take(order: TakeOrder): Promise<boolean>;
  /** Leaves answering to the other object, which answers from the generation with this `generation.json`, if that is newer. */
  retire(text: string): Promise<void>;
  /** Whether this object answers, leaves that to the other, or has nothing yet to answer from. */
  standing(): Promise<Standing>;
}

/** The names of the two objects: one answers while the other takes what comes next. */
export const objectNames = ['one', 'two'] as const;
export type ObjectName = (typeof objectNames)[number];

/** In an answer of an object: it is for the other to answer. No client ever sees it. */
export const elsewhereHeader = 'x-debdex-elsewhere';
