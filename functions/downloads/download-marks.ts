import type { WritableDatabase } from '../../src/catalog/database.ts';
import type { PackageVersion } from '../dependencies.ts';

// Decisions, section 7, "Counters": a download of a version counts once for a client network and day. Marks tell
// whether it was counted: hashes of network, package and version, with a key that is made for the day. Key and marks
// are destroyed with the day. Nothing else is kept about a sender.

/** How many downloads count in a day, so that a flood neither fills the disk nor displaces other reports. */
export interface MarkLimits {
  readonly perNetwork: number;
  /** For a /48 of IPv6, in which one client may have thousands of networks (RFC 6177). */
  readonly perSite: number;
  /** For all clients together. */
  readonly perDay: number;
}

/** The downloads that one client reports at a time. */
export interface Report {
  /** The network of the client. Only marks of it are kept. */
  readonly network: string;
  readonly downloads: readonly PackageVersion[];
}

/** A report with its marks. */
export interface MarkedReport {
  readonly network: Uint8Array;
  readonly site: Uint8Array | undefined;
  readonly downloads: readonly { readonly one: PackageVersion; readonly mark: Uint8Array }[];
}

export interface Marks {
  /** The number of marks. */
  readonly size: number;
  /** The key of this day, which is made if there is none yet. */
  keyFor(day: string): Uint8Array;
  /**
   * Calls `count` for each download that this network has not reported on this day, and returns how many there were.
   * The report must be marked with the key of the day.
   */
  take(report: MarkedReport, count: (one: PackageVersion) => void): number;
  /** Destroys the marks of every other day; returns whether there were any. */
  drop(day: string): boolean;
}

const tables = `
  CREATE TABLE IF NOT EXISTS mark (mark BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS marked_network (network BLOB PRIMARY KEY, taken INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

/** Whether two keys are equal. */
export const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.every((byte, index) => byte === other[index]);

/** How many bytes of a hash make a mark. */
const markLength = 16;

/** The day that many days before another. */
export const dayBefore = (day: string, days: number): string =>
  new Date(Date.parse(day) - days * 86_400_000).toISOString().slice(0, 10);

const siteOf = (network: string): string | undefined =>
  network.includes(':') ? network.split(':').slice(0, 3).join(':') : undefined;

/** The texts of a report that are hashed with the key of its day to make its marks, in their order. */
export const hashedTexts = ({ network, downloads }: Report): string[] => {
  const site = siteOf(network);
  const texts = [
    ['network', network],
    ...(site === undefined ? [] : [['site', site]]),
    ...downloads.map((one) => [network, one.package_id, one.package_version]),
  ];
  return texts.map((text) => JSON.stringify(text));
};

/** A report with the hashes of its texts, in their order. */
export const markReport = ({ network, downloads }: Report, hashes: readonly Uint8Array[]): MarkedReport => {
  const marks = hashes.map((hash) => hash.subarray(0, markLength));
  const first = siteOf(network) === undefined ? 1 : 2;
  return {
    network: marks[0] as Uint8Array,
    site: first === 1 ? undefined : marks[1],
    downloads: downloads.map((one, index) => ({ one, mark: marks[first + index] as Uint8Array })),
  };
};

/**
 * The marks of a database. If others can read its file, the database has to overwrite what is deleted. Everything but
 * opening is to be called in transactions. `random` returns that many unpredictable bytes. `size` is the number of
 * marks, if known: counting them takes a scan.
 */
export const openMarks = (
  database: WritableDatabase,
  limits: MarkLimits,
  random: (length: number) => Uint8Array,
  size?: number,
): Marks => {
  database.exec(`CREATE TABLE IF NOT EXISTS marking (day TEXT NOT NULL, key BLOB NOT NULL) STRICT; ${tables}`);
  const readMarking = () => database.prepare<[string, Uint8Array]>('SELECT day, key FROM marking').get();
  const countMarks = (): number => Number(database.prepare('SELECT count(*) FROM mark').get()?.[0]);
  // Counted once for each key. Another process that counts into the same file can exceed the limit by as much again.
  let marks = size ?? countMarks();
  let countedFor = readMarking()?.[1];
  // A key of tomorrow stays in use, with its marks, because the clocks of two processes may differ.
  const holds = (marked: string, day: string): boolean => marked === day || marked === dayBefore(day, -1);

  const drop = (day: string): boolean => {
    const marking = readMarking();
    if (marking === undefined || holds(marking[0], day)) return false;
    database.exec(`DROP TABLE mark; DROP TABLE marked_network; DELETE FROM marking; ${tables}`);
    marks = 0;
    return true;
  };

  const roomOf = (network: Uint8Array, most: number): number =>
    most - Number(database.prepare('SELECT taken FROM marked_network WHERE network = ?').get(network)?.[0] ?? 0);

  return {
    get size() {
      return marks;
    },
    drop,
    keyFor: (day) => {
      drop(day);
      const marking = readMarking();
      if (marking !== undefined) {
        const [, key] = marking;
        // Another process has begun the day, and destroyed the marks that were counted here.
        if (countedFor === undefined || !isSame(countedFor, key)) marks = countMarks();
        countedFor = key;
        return key;
      }
      const key = random(32);
      database.prepareWrite('INSERT INTO marking (day, key) VALUES (?, ?)').run(day, key);
      countedFor = key;
      marks = 0;
      return key;
    },
    take: ({ network, site, downloads }, count) => {
      const room = Math.min(
        limits.perDay - marks,
        roomOf(network, limits.perNetwork),
        site === undefined ? Number.POSITIVE_INFINITY : roomOf(site, limits.perSite),
      );
      const insert = database.prepare('INSERT OR IGNORE INTO mark (mark) VALUES (?) RETURNING 1');
      let taken = 0;
      for (const { one, mark } of downloads) {
        if (taken >= room) break;
        if (insert.get(mark) === undefined) continue;
        count(one);
        taken++;
      }
      const take = database.prepareWrite(
        'INSERT INTO marked_network (network, taken) VALUES (?, ?) ON CONFLICT DO UPDATE SET taken = taken + excluded.taken',
      );
      for (const each of taken === 0 ? [] : [network, ...(site === undefined ? [] : [site])]) take.run(each, taken);
      marks += taken;
      return taken;
    },
  };
};
