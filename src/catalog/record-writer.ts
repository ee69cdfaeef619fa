import type { PackageStanza } from '../apt/packages-index.ts';
import { compareVersions } from '../apt/version.ts';
import { FindingCounter } from '../contract/findings.ts';
import { type LimitName, limitNote, limits } from '../contract/limits.ts';
import type { ManifestEntry } from '../contract/manifest.ts';
import type { Addressing } from '../contract/public-addresses.ts';
import { type RecordSights, recordKey } from '../snapshots/record-history.ts';
import type { Statement, WritableDatabase } from './database.ts';
import { FirstMentions } from './first-mentions.ts';
import { newsCode } from './news-codes.ts';
import { areOtherBytes, digestColumn, keptBytes, type PackageBytes } from './package-bytes.ts';
import { computeDetails, computeRecordJson, withoutLatest } from './package-record.ts';
import { ProvisionWriter } from './provision-writer.ts';
import { RecordsByAge } from './records-by-age.ts';
import { firstRecordId } from './schema.ts';

/** What is asked of a row that was written before. */
type Written = [bytes: number, section: string | null, version: string, architecture: string];

interface WriterOptions {
  readonly addressing: Addressing;
  /** The number of the repository. */
  readonly repository: number;
  /** When each record was first seen. */
  readonly sights: RecordSights;
  /** The bytes that each record had when the repository was last read, by `recordKey`, as far as known. */
  readonly bytesBefore: ReadonlyMap<string, PackageBytes>;
  /** Returns the JSON text of the repository that every record repeats. */
  readonly embed: (packages: { count: number; sections: Iterable<string> }) => string;
}

/** Copies a text. The reader hands out slices of large buffers, which would stay in memory with it. */
const detached = (text: string): string => Buffer.from(text).toString();

const bytesOfSection = (section: string): number => Buffer.byteLength(JSON.stringify(section)) + 1;

/**
 * Writes a row for each record of one index, in its order, within the limits on what is published of a repository: of a
 * package, the newest versions. The rows are final only when the last one is written: a later record may replace an
 * earlier one or take the mark "latest" from it.
 */
export class RecordWriter {
  readonly findings = new FindingCounter();
  readonly packages = new Set<string>();
  records = 0;

  readonly #entry: ManifestEntry;
  readonly #options: WriterOptions;
  readonly #insert;
  readonly #demote;
  readonly #written: Statement<Written>;
  readonly #delete;
  readonly #provisions: ProvisionWriter;
  readonly #mentions = new FirstMentions();
  readonly #newest = new Map<string, { version: string; row: number }>();
  readonly #bytesOf = new Map<string, number>();
  readonly #byAge: RecordsByAge;
  /** How many records each section has. */
  readonly #sections = new Map<string, number>();
  readonly #firstRow: number;
  /** The bytes of all records, and of the text of the repository in each. */
  #bytes = 0;
  /** The next unused number for a record. */
  #next = 0;
  #embedded: number;

  constructor(database: WritableDatabase, entry: ManifestEntry, options: WriterOptions) {
    this.#entry = entry;
    this.#options = options;
    this.#firstRow = firstRecordId(entry.ranking, options.repository);
    this.#embedded = Buffer.byteLength(options.embed({ count: limits.recordsPerRepository, sections: [] }));
    this.#insert = database.prepareWrite(
      `INSERT OR REPLACE INTO record
         (id, repository, package, version, architecture, latest, name, author, section, first_seen, news, digest,
          size, json, details, changed_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const read = database.prepare<[string]>('SELECT json FROM record WHERE id = ?');
    this.#provisions = new ProvisionWriter(database, this.findings);
    const write = database.prepareWrite('UPDATE record SET latest = 0, json = ? WHERE id = ?');
    this.#demote = (row: number) => {
      const [json = ''] = read.get(row) ?? [];
      write.run(withoutLatest(json), row);
      this.#provisions.remove(row);
    };
    this.#delete = database.prepareWrite('DELETE FROM record WHERE id = ?');
    const rows = database.prepare<[row: number, version: string]>(
      'SELECT id, version FROM record WHERE package = ? AND repository = ? ORDER BY id',
    );
    this.#byAge = new RecordsByAge((name) =>
      rows.all(name, options.repository).map(([row, version]) => ({ version, row })),
    );
    this.#written = database.prepare(
      `SELECT length(CAST(json AS BLOB)) + coalesce(length(CAST(details AS BLOB)), 0), section, version, architecture
       FROM record WHERE id = ?`,
    );
  }

  /** The sections of the written records. */
  get sections(): readonly string[] {
    return [...this.#sections.keys()];
  }

  /**
   * Writes the record with this number, or replaces what was written with it before: the same record, or the oldest of
   * its package, which is gone even where this one is left out.
   */
  write(stanza: PackageStanza, number: number): void {
    const place = this.#mentions.note(stanza);
    const { package: name, version, architecture } = stanza;
    const key = recordKey(name, version, architecture);
    const row = this.#firstRow + number;
    const whole = computeRecordJson(this.#entry, stanza, true, this.#options.addressing);
    const details = computeDetails(stanza);
    const bytes = Buffer.byteLength(whole) + (details === null ? 0 : Buffer.byteLength(details));
    const written = number < this.#next ? this.#written.get(row) : undefined;
    const isSame = written !== undefined && recordKey(name, written[2], written[3]) === key;
    if (written !== undefined && !isSame) this.#remove(name, row, written);
    const [before, sectionBefore = null] = isSame ? written : [];
    this.#next = Math.max(this.#next, number + 1);
    const exceeded = () => this.#findLimit(stanza, bytes, before ?? 0, before === undefined);
    let met = exceeded();
    while (met === 'packageBytes' && this.#dropOlder(name, version)) met = exceeded();
    if (met !== undefined) {
      this.#tellLimit(met, key);
      return;
    }
    if (before === undefined) {
      this.records++;
      this.#byAge.add(name, { version: detached(version), row });
    }
    this.#bytes += bytes - (before ?? 0);
    const latest = this.#takeLatest(`${name}\n${architecture}`, version, row);
    if (!this.packages.has(name)) this.packages.add(detached(name));
    this.#bytesOf.set(name, (this.#bytesOf.get(name) ?? 0) + bytes - (before ?? 0));
    if (sectionBefore !== null) this.#removeSection(sectionBefore);
    if (stanza.section !== null) this.#addSection(stanza.section);
    const sight = this.#options.sights.sight(key, this.#hasOtherBytes(key, stanza));
    this.#insert.run(
      row,
      this.#options.repository,
      name,
      version,
      architecture,
      latest ? 1 : 0,
      stanza.name,
      stanza.author,
      stanza.section,
      sight.seen,
      newsCode[this.#options.sights.tell(name, sight)],
      digestColumn(stanza),
      stanza.size,
      latest ? whole : withoutLatest(whole),
      details,
      sight.changedAt,
    );
    if (before !== undefined) this.#provisions.remove(row);
    if (latest) this.#provisions.write(stanza, row, place);
  }

  #tellLimit(met: LimitName, key: string): void {
    const code = met === 'recordBytes' ? 'record-oversized' : 'publication-too-large';
    this.findings.add(code, `${limitNote(met)}, from ${key.replaceAll('\n', ' ')}`);
  }

  /** Removes the oldest record of a package if it is older than this version. Returns whether it was. */
  #dropOlder(name: string, version: string): boolean {
    const oldest = this.#byAge.oldestOf(name);
    if (oldest === undefined || compareVersions(oldest.version, version) >= 0) return false;
    const written = this.#written.get(oldest.row);
    if (written === undefined) return false;
    this.#tellLimit('packageBytes', recordKey(name, written[2], written[3]));
    this.#remove(name, oldest.row, written);
    return true;
  }

  /** Removes the oldest record of a package. No older one of its architecture is left to get its mark. */
  #remove(name: string, row: number, [bytes, section, version, architecture]: Written): void {
    this.#delete.run(row);
    this.#provisions.remove(row);
    this.#byAge.remove(name, row);
    this.#options.sights.forget(recordKey(name, version, architecture));
    this.records--;
    this.#bytes -= bytes;
    this.#bytesOf.set(name, (this.#bytesOf.get(name) ?? 0) - bytes);
    if (section !== null) this.#removeSection(section);
    const mark = `${name}\n${architecture}`;
    if (this.#newest.get(mark)?.row === row) this.#newest.delete(mark);
  }

  #hasOtherBytes(key: string, stanza: PackageStanza): boolean {
    const before = this.#options.bytesBefore.get(key);
    return before !== undefined && areOtherBytes(before, keptBytes(stanza));
  }

  /** The limit that a record of that many bytes would exceed, replacing one of `before` bytes. */
  #findLimit(
    { package: name, provides }: PackageStanza,
    bytes: number,
    before: number,
    isNew: boolean,
  ): LimitName | undefined {
    // What a package provides has a limit of its own, and is not part of the published record.
    if (bytes > limits.recordBytes + (provides?.length ?? 0)) return 'recordBytes';
    if ((this.#bytesOf.get(name) ?? 0) + bytes - before > limits.packageBytes) return 'packageBytes';
    const published = this.#bytes + bytes - before + (this.records + (isNew ? 1 : 0)) * this.#embedded;
    return published > limits.publishedBytes ? 'publishedBytes' : undefined;
  }

  /**
   * Whether this version is the newest so far of its package and architecture. The one that was newest loses the mark.
   */
  #takeLatest(key: string, version: string, row: number): boolean {
    const newest = this.#newest.get(key);
    if (newest === undefined) {
      this.#newest.set(detached(key), { version: detached(version), row });
      return true;
    }
    if (newest.row === row) return true;
    // Two spellings of one version (1.0 and 0:1.0) are equal. The first keeps the mark, so that exactly one has it.
    if (compareVersions(version, newest.version) <= 0) return false;
    this.#demote(newest.row);
    newest.version = detached(version);
    newest.row = row;
    return true;
  }

  // Every record repeats all sections of its repository.
  #addSection(section: string): void {
    const known = this.#sections.get(section);
    if (known !== undefined) {
      this.#sections.set(section, known + 1);
      return;
    }
    const bytes = bytesOfSection(section);
    const published = this.#bytes + this.records * (this.#embedded + bytes);
    const met: LimitName | undefined =
      this.#sections.size >= limits.sections
        ? 'sections'
        : this.#embedded + bytes > limits.embeddedBytes
          ? 'embeddedBytes'
          : published > limits.publishedBytes
            ? 'publishedBytes'
            : undefined;
    if (met !== undefined) {
      this.findings.add('sections-too-many', `${limitNote(met)}, from ${section}`);
      return;
    }
    this.#sections.set(detached(section), 1);
    this.#embedded += bytes;
  }

  /** Subtracts a record from its section. */
  #removeSection(section: string): void {
    const known = this.#sections.get(section);
    // Sections beyond the limit are not counted.
    if (known === undefined) return;
    if (known > 1) {
      this.#sections.set(section, known - 1);
      return;
    }
    this.#sections.delete(section);
    this.#embedded -= bytesOfSection(section);
  }
}
