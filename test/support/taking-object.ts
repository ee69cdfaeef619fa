import { DurableObject } from 'cloudflare:workers';
import { objectDatabase } from '../../functions/cloudflare/object-database.ts';
import { ObjectMemory } from '../../functions/cloudflare/object-memory.ts';
import type { ObjectState, SqlStorage } from '../../functions/cloudflare/platform.ts';
import { readGeneration, readOrder } from '../../functions/cloudflare/publication-files.ts';
import { remoteFiles } from '../../functions/cloudflare/published-files.ts';
import { Taking } from '../../functions/cloudflare/taking.ts';
import type { TakingCosts } from './edge-costs.ts';

interface Environment {
  readonly PUBLICATION: string;
  readonly TAKING: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

/** What the platform's cursors count, which the platform bills. */
interface CountingCursor {
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

const counting = (sql: SqlStorage, cursors: [string, CountingCursor][]): SqlStorage => ({
  exec: (statement, ...values) => {
    const cursor = sql.exec(statement, ...values);
    cursors.push([statement, cursor as unknown as CountingCursor]);
    return cursor;
  },
});

/** An object that takes over the published generation on request, and reports the cost. */
export class TakingObject extends DurableObject<Environment> {
  readonly #storage: ObjectState['storage'];
  readonly #state: ObjectState;

  constructor(state: ObjectState, environment: Environment) {
    super(state, environment);
    this.#state = state;
    this.#storage = state.storage;
  }

  async fetch(): Promise<Response> {
    const cursors: [string, CountingCursor][] = [];
    const sql = counting(this.#storage.sql, cursors);
    const database = objectDatabase(sql);
    const files = remoteFiles(this.env.PUBLICATION);
    const taking = new Taking(this.#state, { memory: new ObjectMemory(sql), database, files });
    taking.begin(await readOrder(files, await readGeneration(files, undefined)));
    while (!(await taking.goOn()));
    const sum = (member: keyof CountingCursor, pattern: RegExp): number =>
      cursors.reduce((total, [text, cursor]) => total + (pattern.test(text) ? cursor[member] : 0), 0);
    const costs: TakingCosts = {
      written: sum('rowsWritten', /(?:)/),
      read: sum('rowsRead', /(?:)/),
      readOfPlaces: sum('rowsRead', /\bwritten_portion\b/),
      merged: cursors.filter(([text]) => text.includes("'merge'")).length,
    };
    return Response.json(costs);
  }
}

export default {
  fetch: (request: Request, { TAKING }: Environment): Promise<Response> => TAKING.getByName('one').fetch(request),
};
