import { z } from 'zod';

const timestamp = z.iso.datetime({ precision: 3 });

/** When a record was first seen. */
export interface Sight {
  /** ISO 8601. */
  readonly seen: string;
  /** False for what came with the first crawl of an address, because nobody knows how old that is. */
  readonly news: boolean;
  /** Since when the index no longer has it; null if it has. */
  readonly goneAt: string | null;
  /** When the index last named different bytes for it; null if it never has. */
  readonly changedAt: string | null;
}

/** What a record is to followers of its repository. */
export type Tidings = 'known' | 'added' | 'updated';

/** The records of a repository by package, version and architecture, including those that vanished recently. */
export interface RecordHistory {
  /** The address (`addressKey`) that has these records. Records at another address are no news. */
  readonly address: string;
  readonly records: ReadonlyMap<string, Sight>;
}

/** The key of a record. None of its parts can contain a line feed. */
export const recordKey = (name: string, version: string, architecture: string): string =>
  `${name}\n${version}\n${architecture}`;

const fileSchema = z.strictObject({
  address: z.string(),
  groups: z.array(
    z.strictObject({
      seen: timestamp,
      news: z.boolean(),
      goneAt: timestamp.nullable(),
      // Left out if nothing changed, as in earlier versions.
      changedAt: timestamp.optional(),
      records: z.array(z.string()),
    }),
  ),
});

/** The text of a history: records in groups that have the same sights, in an order that depends only on them. */
export const recordsText = ({ address, records }: RecordHistory): string => {
  const groups = new Map<string, z.infer<typeof fileSchema>['groups'][number]>();
  for (const [key, { seen, news, goneAt, changedAt }] of records) {
    const name = changedAt === null ? `${seen} ${news} ${goneAt}` : `${seen} ${news} ${goneAt} ${changedAt}`;
    const group = groups.get(name);
    if (group) group.records.push(key);
    else groups.set(name, { seen, news, goneAt, ...(changedAt === null ? {} : { changedAt }), records: [key] });
  }
  const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  for (const group of sorted) group.records.sort();
  return `${JSON.stringify({ address, groups: sorted })}\n`;
};

/** Parses such a text. Throws if it is none. */
export const parseRecords = (text: string): RecordHistory => {
  const { address, groups } = fileSchema.parse(JSON.parse(text));
  const records = new Map<string, Sight>();
  for (const { records: keys, changedAt = null, ...rest } of groups) {
    const sight: Sight = { ...rest, changedAt };
    for (const key of keys) records.set(key, sight);
  }
  return { address, records };
};

const later = (a: string | null, b: string | null): string | null => (a === null || (b !== null && b > a) ? b : a);

/** Merges two histories, with the address of `now`. If both know a record, the earlier sight counts. */
export const mergeRecords = (now: RecordHistory, before: RecordHistory): RecordHistory => {
  const records = new Map(before.records);
  for (const [key, sight] of now.records) {
    const known = records.get(key);
    const changedAt = later(sight.changedAt, known?.changedAt ?? null);
    if (known === undefined || sight.seen < known.seen) records.set(key, { ...sight, changedAt });
    else if (sight.goneAt === null) records.set(key, { ...known, goneAt: null, changedAt });
  }
  return { address: now.address, records };
};

const firstSeenOf = (records: RecordHistory['records']): Map<string, string> => {
  const packages = new Map<string, string>();
  for (const [key, { seen }] of records) {
    const name = key.slice(0, key.indexOf('\n'));
    const known = packages.get(name);
    if (known === undefined || seen < known) packages.set(name, seen);
  }
  return packages;
};

/** The latest time in a history; empty if it has none. */
const latestIn = (records: RecordHistory['records'] | undefined): string => {
  let latest = '';
  for (const { seen, goneAt, changedAt } of records?.values() ?? []) {
    for (const at of [seen, goneAt, changedAt]) if (at !== null && at > latest) latest = at;
  }
  return latest;
};

// A record that returns within this time is no news. The limit also bounds the history of an origin whose records
// change every day.
const goneMs = 400 * 86_400_000;
const fewestGone = 1000;

/** Follows one reading of an index: determines when each record was first seen, and the resulting history. */
export class RecordSights {
  readonly #before: RecordHistory | undefined;
  readonly #address: string;
  readonly #first: boolean;
  readonly #moment: string;
  readonly #now: string;
  readonly #records = new Map<string, Sight>();
  /** When each package of the history was first seen, in any version. Computed on demand. */
  #packagesSeen: Map<string, string> | undefined;

  /**
   * `address` is the address of the index, `now` the time of the reading, and `madeAt` when the content of the index
   * was made, as far as known: at the first reading of an address its records date from then.
   */
  constructor(before: RecordHistory | undefined, address: string, now: string, madeAt: string) {
    this.#before = before;
    this.#address = address;
    this.#first = before?.address !== address;
    this.#moment = this.#first && madeAt < now ? madeAt : now;
    this.#now = now;
  }

  /** Whether this is the first reading of its address, so that nothing is known about earlier content. */
  get isFirst(): boolean {
    return this.#first;
  }

  /**
   * When a record of the index was first seen. `hasOtherBytes`: it names different bytes than in the reading before.
   */
  sight(key: string, hasOtherBytes = false): Sight {
    const known = this.#before?.records.get(key);
    const isSame = known !== undefined && known.goneAt === null && !hasOtherBytes;
    const sight: Sight = isSame
      ? known
      : {
          seen: known?.seen ?? this.#moment,
          news: known?.news ?? !this.#first,
          goneAt: null,
          changedAt: hasOtherBytes ? this.#now : (known?.changedAt ?? null),
        };
    this.#records.set(key, sight);
    return sight;
  }

  /** Takes back the sight of a record that is left out after all, because its package has too many newer ones. */
  forget(key: string): void {
    this.#records.delete(key);
  }

  /**
   * What a record of a package is to followers: an update if the repository had the package before, in another version
   * or for another device, even if that is gone now.
   */
  tell(name: string, { seen, news }: Sight): Tidings {
    if (!news) return 'known';
    this.#packagesSeen ??= firstSeenOf(this.#before?.records ?? new Map());
    const before = this.#packagesSeen.get(name);
    return before !== undefined && before < seen ? 'updated' : 'added';
  }

  /** The history after the reading, which ended at `now`; undefined if it has not changed. */
  finish(now: Date): RecordHistory | undefined {
    const gone: [string, Sight][] = [];
    // Measured by the times in the history, so that a clock that is far ahead once makes nothing old.
    const latest = Date.parse(latestIn(this.#before?.records)) || now.getTime();
    const since = new Date(Math.min(now.getTime(), latest) - goneMs).toISOString();
    let changed = this.#first;
    for (const [key, sight] of this.#before?.records ?? []) {
      if (this.#records.has(key)) continue;
      // A record cannot vanish before it came, even if the clock is behind.
      if (sight.goneAt === null) gone.push([key, { ...sight, goneAt: later(now.toISOString(), sight.seen) }]);
      else if (sight.goneAt >= since) gone.push([key, sight]);
      changed ||= sight.goneAt === null || sight.goneAt < since;
    }
    for (const [key, sight] of this.#records) changed ||= this.#before?.records.get(key) !== sight;
    if (!changed) return undefined;
    const most = Math.max(fewestGone, this.#records.size);
    if (gone.length > most) gone.sort(([, a], [, b]) => ((a.goneAt ?? '') > (b.goneAt ?? '') ? -1 : 1));
    return { address: this.#address, records: new Map([...this.#records, ...gone.slice(0, most)]) };
  }
}
