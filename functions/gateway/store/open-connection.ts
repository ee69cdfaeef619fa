import type { Databases, Wait } from './databases.ts';

/** An open store with its tables up to date. */
export interface Connection {
  /** The store for one operation. */
  during(wait: Wait): Databases;
  /** Resolves as the work with those does, no later than the wait ends. */
  bound<Result>(wait: Wait, work: Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}
