import type { SqlStorage } from './platform.ts';

/** What an object remembers besides the catalog. */
interface Remembered {
  /** What it holds whole: `Held`, and the version of its tables. */
  held: { readonly text: string; readonly jws: string | null; readonly format: number };
  /** The version of the catalog's tables that stand there. */
  tables: number;
  /** What it is taking: `TakeOrder`, without the list. */
  taking: { readonly text: string; readonly jws: string | null };
  /** The list of its portions, which is long, and is read once. */
  list: string;
  /**
   * Whether everything was taken again since a generation was last held, because the rows differed from the published
   * ones.
   */
  anew: true;
  /** How many documents were indexed since it was last decided whether to merge the index. */
  indexed: number;
  /** Whether the index is being merged. */
  merging: true;
  /** Whether the other object answers. */
  elsewhere: true;
}

/** The table of what it remembers. */
export const memoryTable = 'remembered';

/** The memory of an object in its storage. What is written is there if anything that follows it is. */
export class ObjectMemory {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS ${memoryTable} (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`);
  }

  get<Name extends keyof Remembered>(name: Name): Remembered[Name] | undefined {
    for (const [value] of this.#sql.exec(`SELECT value FROM ${memoryTable} WHERE name = ?`, name).raw()) {
      return JSON.parse(String(value)) as Remembered[Name];
    }
    return undefined;
  }

  set<Name extends keyof Remembered>(name: Name, value: Remembered[Name] | undefined): void {
    if (value === undefined) this.#sql.exec(`DELETE FROM ${memoryTable} WHERE name = ?`, name);
    else this.#sql.exec(`INSERT OR REPLACE INTO ${memoryTable} VALUES (?, ?)`, name, JSON.stringify(value));
  }
}
