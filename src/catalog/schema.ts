import type { WritableDatabase } from './database.ts';
import { searchTables } from './search-index.ts';

/**
 * The version of the catalog's tables, of what is computed into them and of which of them are published as rows. Raise it
 * when any of these changes: a catalog of another version is not read, but built again from the snapshots.
 */
export const catalogFormat = 25;

// A record contains its public form as ready JSON text, so that an answer or a document only joins strings.
//
// record.id is the rank of the record: ranking of its repository, number of the repository, place in its index (see
// firstRecordId). So any index over it, including the full-text index, gives better repositories first without sorting.
const tables = `
  CREATE TABLE repository (
    id INTEGER PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,          -- digest of all that its rows were computed from
    ranking INTEGER NOT NULL,
    bootstrap INTEGER NOT NULL,
    uri TEXT NOT NULL,
    suite TEXT NOT NULL,
    aliases TEXT NOT NULL,         -- JSON list
    package_count INTEGER NOT NULL,
    stanzas INTEGER NOT NULL,      -- stanzas read, those left out included
    added_at TEXT NOT NULL,        -- when it first entered a catalog
    changed_at TEXT NOT NULL,      -- when its origin was last seen to change
    signing TEXT NOT NULL,         -- JSON: state and signers of its Release
    record TEXT NOT NULL,          -- JSON: the public repository record
    embedded TEXT NOT NULL,        -- JSON: the repository inside a package record
    index_findings TEXT NOT NULL,  -- JSON: what is wrong with the stanzas of its index
    visit_findings TEXT NOT NULL,  -- JSON: what its visits found
    stale INTEGER NOT NULL DEFAULT 0 -- 1: the last build could not read it
  );

  -- Both kinds of findings of a repository, added up, and what comparing it with others and with what it was found.
  CREATE TABLE finding (
    repository INTEGER NOT NULL,
    code TEXT NOT NULL,
    count INTEGER NOT NULL,
    example TEXT NOT NULL,
    PRIMARY KEY (repository, code)
  ) WITHOUT ROWID;

  CREATE TABLE record (
    id INTEGER PRIMARY KEY,
    repository INTEGER NOT NULL,
    package TEXT NOT NULL,
    version TEXT NOT NULL,
    architecture TEXT NOT NULL,
    latest INTEGER NOT NULL,
    name TEXT,
    author TEXT,
    section TEXT,
    first_seen TEXT NOT NULL,
    news INTEGER NOT NULL,         -- 0: came with the first crawl of its repository, 1: a new package there, 2: an update of one
    digest BLOB,                   -- the first 16 bytes of the SHA-256 of its file, as its index says; null where it does not
    size INTEGER NOT NULL,         -- of its file, in bytes, as its index says; 0 where it does not
    json TEXT NOT NULL,            -- the public package record up to the value of its last key, "repository"
    details TEXT,                  -- JSON: relations, home page and depiction; null where it has none
    changed_at TEXT                -- when its bytes were last seen to change while its version did not; null where never
  );
  CREATE INDEX record_changed ON record (changed_at) WHERE changed_at IS NOT NULL;
  CREATE INDEX record_package ON record (package, repository);
  CREATE INDEX record_list ON record (repository, package);
  CREATE INDEX record_newest ON record (package, architecture) WHERE latest = 1;

  -- What the newest versions provide besides their own names, for relations that name it.
  CREATE TABLE provision (
    record INTEGER NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,         -- empty where it provides the name in no version
    architecture TEXT NOT NULL,    -- of its package
    preference INTEGER NOT NULL,   -- 0 is taken first, where several provide it
    place INTEGER NOT NULL,        -- where its index first names the package: of equal preference the last is taken first
    PRIMARY KEY (record, name, version)
  ) WITHOUT ROWID;
  CREATE INDEX provision_name ON provision (name, architecture, record);

  -- Records of which another repository has the same version for the same architecture with other bytes.
  CREATE TABLE divergence (
    package TEXT NOT NULL,
    version TEXT NOT NULL,
    architecture TEXT NOT NULL,
    repository INTEGER NOT NULL,
    other INTEGER NOT NULL,        -- the best of the repositories that have other bytes
    since TEXT NOT NULL,           -- when the later of both came to be as it is
    PRIMARY KEY (package, version, architecture, repository)
  ) WITHOUT ROWID;

  CREATE TABLE document (
    path TEXT PRIMARY KEY,         -- below the output folder
    digest BLOB NOT NULL,          -- of its content without its date
    date TEXT NOT NULL,            -- when that content was first published
    size INTEGER NOT NULL,         -- of the file, in bytes
    text TEXT                      -- the whole file, where it says more than the rows here; else null
  ) WITHOUT ROWID;
`;

/** The statements that create the tables, in any engine. */
export const catalogTables = `${tables}${searchTables}`;

/** Creates the tables in an empty database. */
export const createTables = (database: WritableDatabase): void => {
  // An answer consists of a hundred records from as many places. With pages of 4 KiB half as much is read as with 8
  // KiB, and most records of one to two kilobytes still need no second page.
  database.exec('PRAGMA page_size = 4096');
  database.exec(catalogTables);
  database.exec(`PRAGMA user_version = ${catalogFormat}`);
};

const recordsPerRepository = 2 ** 24;

/**
 * The id of the first record of a repository: ranking (1 to 5), then number of the repository, with room for 16 million
 * records in each. The greatest id is below 2^53, so it is exact as a JavaScript number.
 */
export const firstRecordId = (ranking: number, repository: number): number =>
  ranking * 2 ** 48 + repository * recordsPerRepository;

/** The id after the last one that a repository may use. */
export const endRecordId = (ranking: number, repository: number): number =>
  firstRecordId(ranking, repository) + recordsPerRepository;
