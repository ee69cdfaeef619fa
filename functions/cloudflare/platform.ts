// What Workers provide besides web standards, as far as it is used here (developers.cloudflare.com, "Runtime APIs").
// The platform's own types redefine the globals of browsers, and would replace Node's in the whole project.

/** A value as the SQL of a Durable Object takes and gives it. */
export type StoredValue = null | number | string | ArrayBuffer | ArrayBufferView;

/** The result of a statement, read row by row. */
interface SqlCursor {
  raw(): IterableIterator<StoredValue[]>;
}

/** The database of a Durable Object. */
export interface SqlStorage {
  exec(statement: string, ...values: StoredValue[]): SqlCursor;
}

/** Names a Durable Object. */
interface ObjectId {
  equals(other: ObjectId): boolean;
}

/** What a Durable Object is handed. */
export interface ObjectState {
  readonly id: ObjectId;
  readonly storage: {
    readonly sql: SqlStorage;
    /** Writes inside are kept all together or not at all. */
    transactionSync<T>(work: () => T): T;
    getAlarm(): Promise<number | null>;
    /** Milliseconds since 1970. */
    setAlarm(at: number): Promise<void>;
  };
}

/** Static assets, or whatever else answers requests. */
export interface Fetching {
  fetch(request: Request): Promise<Response>;
}

/** An object in R2. */
interface BucketObject {
  readonly size: number;
  readonly httpEtag: string;
  readonly customMetadata?: Readonly<Record<string, string>>;
  readonly body: ReadableStream<Uint8Array>;
}

/** A bucket of R2. */
export interface Bucket {
  get(key: string): Promise<BucketObject | null>;
}

/** The Durable Objects of a class. */
export interface ObjectNamespace<Stub> {
  idFromName(name: string): ObjectId;
  getByName(name: string): Stub;
}
