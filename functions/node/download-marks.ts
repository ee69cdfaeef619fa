import { createHmac, randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { PackageVersion } from '../dependencies.ts';

// Decisions, section 7, "Counters": a download of a version counts once for a client's network and day. What tells
// whether it was counted are marks: hashes of network, package and version with a key that is made for the day and
// destroyed with it, marks and all. Nothing else about a sender is kept.

/** How many downloads are counted a day, so that whoever floods neither fills the disk nor drowns the others. */
export interface MarkLimits {
  readonly perNetwork: number;
  /** For a /48 of IPv6, in which one client may have thousands of networks (RFC 6177). */
  readonly perSite: number;
  /** In all. */
  readonly perDay: number;
}

export interface Marks {
  /** Calls `count` for each of these that its network had not reported on this day; returns how many. */
  take(
    day: string,
    network: string,
    downloads: readonly PackageVersion[],
    count: (one: PackageVersion) => void,
  ): number;
  /** Destroys the marks of any other day; returns whether there were any. */
  drop(day: string): boolean;
}

const tables = `
  CREATE TABLE IF NOT EXISTS mark (mark BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS marked_network (network BLOB PRIMARY KEY, taken INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

/** The day so many days before another. */
export const dayBefore = (day: string, days: number): string =>
  new Date(Date.parse(day) - days * 86_400_000).toISOString().slice(0, 10);

const siteOf = (network: string): string | undefined =>
  network.includes(':') ? network.split(':').slice(0, 3).join(':') : undefined;

/** The marks of a database, whose deletions must overwrite. `take` and `drop` are to be called in transactions. */
export const openMarks = (database: DatabaseSync, limits: MarkLimits): Marks => {
  database.exec(`CREATE TABLE IF NOT EXISTS marking (day TEXT NOT NULL, key BLOB NOT NULL) STRICT; ${tables}`);
  // Counting rows takes a scan, so it is done once; another process that counts into the same file is one limit more.
  let marks = Number(database.prepare('SELECT count(*) AS marks FROM mark').get()?.marks);

  const readMarking = () =>
    database.prepare('SELECT day, key FROM marking').get() as { day: string; key: Uint8Array } | undefined;
  // One of tomorrow is no reason for another: the clocks of two processes may differ.
  const holds = (marked: string, day: string): boolean => marked === day || marked === dayBefore(day, -1);

  const drop = (day: string): boolean => {
    const marking = readMarking();
    if (marking === undefined || holds(marking.day, day)) return false;
    database.exec(`DROP TABLE mark; DROP TABLE marked_network; DELETE FROM marking; ${tables}`);
    marks = 0;
    return true;
  };

  const keyFor = (day: string): Uint8Array => {
    drop(day);
    const marking = readMarking();
    if (marking !== undefined) return marking.key;
    const key = randomBytes(32);
    database.prepare('INSERT INTO marking (day, key) VALUES (?, ?)').run(day, key);
    return key;
  };

  const roomOf = (network: Uint8Array, most: number): number =>
    most - Number(database.prepare('SELECT taken FROM marked_network WHERE network = ?').get(network)?.taken ?? 0);

  return {
    drop,
    take: (day, network, downloads, count) => {
      const key = keyFor(day);
      const hash = (...parts: string[]): Buffer =>
        createHmac('sha256', key).update(JSON.stringify(parts)).digest().subarray(0, 16);
      const site = siteOf(network);
      const own = hash('network', network);
      const wider = site === undefined ? undefined : hash('site', site);
      const room = Math.min(
        limits.perDay - marks,
        roomOf(own, limits.perNetwork),
        wider === undefined ? Number.POSITIVE_INFINITY : roomOf(wider, limits.perSite),
      );
      const mark = database.prepare('INSERT OR IGNORE INTO mark (mark) VALUES (?)');
      let taken = 0;
      for (const one of downloads) {
        if (taken >= room) break;
        if (mark.run(hash(network, one.package_id, one.package_version)).changes === 0) continue;
        count(one);
        taken++;
      }
      const take = database.prepare(
        'INSERT INTO marked_network (network, taken) VALUES (?, ?) ON CONFLICT DO UPDATE SET taken = taken + excluded.taken',
      );
      for (const each of taken === 0 ? [] : [own, ...(wider === undefined ? [] : [wider])]) take.run(each, taken);
      marks += taken;
      return taken;
    },
  };
};
