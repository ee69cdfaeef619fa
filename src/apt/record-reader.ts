import { hash } from 'node:crypto';
import { limitNote, limits } from '../contract/limits.ts';
import { type PackageFinding, type PackageStanza, parsePackage } from './packages-index.ts';
import { createStanzaReader, type Stanza, type StanzaFinding, type StanzaReader } from './stanza.ts';
import { compareVersions } from './version.ts';

/** What can be wrong with an index as a whole, in addition to its text and its stanzas. */
type IndexFinding = PackageFinding | StanzaFinding | 'stanza-duplicate' | 'records-too-many' | 'versions-too-many';

/** Receives the records of an index in the order of its text. */
export interface RecordSink {
  /**
   * `number` counts from 0. A later stanza with the same package, version and architecture has the same number. Where a
   * package has more records than it may, a newer version gets the number of the oldest, whose place it takes.
   */
  record(stanza: PackageStanza, number: number): void;
  finding(code: IndexFinding, detail: string): void;
}

export interface RecordReader extends StanzaReader {
  /** How many stanzas were read, including those that were left out. */
  readonly stanzas: number;
  /** How many usable records were read. Repeated ones count once. */
  readonly records: number;
}

/** Describes a stanza in a few words, for the example of a finding. */
const describe = (fields: Stanza): string =>
  ['package', 'version', 'architecture'].map((name) => fields.get(name) ?? `no ${name}`).join(' ');

// Strangers decide how long and how many keys are. Also, the reader hands out slices of large buffers, which stay in
// memory as long as a slice.
const longestKey = 60;
const shortKey = (text: string): string =>
  text.length > longestKey ? `\0${hash('sha1', text, 'base64')}` : Buffer.from(text).toString();

/** A record of a package that counts so far. */
interface Kept {
  readonly key: string;
  readonly version: string;
  readonly number: number;
  /** How many stanzas came before it. */
  readonly place: number;
}

// Of equal versions (1.0 and 0:1.0) the one that came first is kept, because it has the mark "latest".
const compareKept = (a: Kept, b: Kept): number => compareVersions(a.version, b.version) || b.place - a.place;

/** Replaces the first of a heap, which is its smallest. */
const replaceFirst = (heap: Kept[], one: Kept): void => {
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    const [a, b] = [heap[left], heap[left + 1]];
    const isRight = a !== undefined && b !== undefined && compareKept(b, a) < 0;
    const smaller = isRight ? b : a;
    if (smaller === undefined || compareKept(one, smaller) <= 0) break;
    heap[at] = smaller;
    at = isRight ? left + 1 : left;
  }
  heap[at] = one;
};

/**
 * Reads the usable records from the text of a Packages index, within the limits on how many a repository and a package
 * may have: of a package, those of the newest versions. Both crawl and catalog use it, so that they count alike.
 */
export const createRecordReader = (sink: RecordSink): RecordReader => {
  const numbers = new Map<string, number>();
  /** The records of each package; from the limit on as a heap, the oldest first. */
  const perPackage = new Map<string, Kept[]>();
  let stanzas = 0;

  const numberOf = (stanza: PackageStanza): number | undefined => {
    const { package: name, version, architecture } = stanza;
    const key = shortKey(`${name}\n${version}\n${architecture}`);
    const known = numbers.get(key);
    const words = () => `${name} ${version} ${architecture}`;
    if (known !== undefined) {
      sink.finding('stanza-duplicate', words());
      return known;
    }
    const packageKey = shortKey(name);
    const kept = perPackage.get(packageKey) ?? [];
    const isFull = kept.length >= limits.recordsPerPackage;
    if (!isFull && numbers.size >= limits.recordsPerRepository) {
      sink.finding('records-too-many', `${limitNote('recordsPerRepository')}, from ${words()}`);
      return undefined;
    }
    const one = { key, version: Buffer.from(version).toString(), place: stanzas };
    if (!isFull) {
      const number = numbers.size;
      numbers.set(key, number);
      kept.push({ ...one, number });
      // A sorted list is a heap.
      if (kept.length === limits.recordsPerPackage) kept.sort(compareKept);
      perPackage.set(packageKey, kept);
      return number;
    }
    sink.finding('versions-too-many', `${limitNote('recordsPerPackage')}, from ${words()}`);
    const [oldest] = kept;
    if (oldest === undefined || compareVersions(version, oldest.version) <= 0) return undefined;
    numbers.delete(oldest.key);
    numbers.set(key, oldest.number);
    replaceFirst(kept, { ...one, number: oldest.number });
    return oldest.number;
  };

  const reader = createStanzaReader(
    {
      stanza: (fields) => {
        stanzas++;
        const parsed = parsePackage(fields);
        if (!parsed.ok) return sink.finding(parsed.finding, describe(fields));
        const number = numberOf(parsed.value);
        if (number !== undefined) sink.record(parsed.value, number);
        for (const code of parsed.findings) {
          const about = parsed.fields[code];
          sink.finding(code, about === undefined ? describe(fields) : `${about} of ${describe(fields)}`);
        }
      },
      finding: (code, detail, limit) => {
        // A stanza that is too large to be read still counts, because the finding explains where it went.
        if (code === 'stanza-oversized') stanzas++;
        sink.finding(code, limit === undefined ? detail : `${limitNote(limit)}, ${detail}`);
      },
    },
    { maxStanzaBytes: limits.stanzaBytes },
  );
  return {
    write: (chunk) => reader.write(chunk),
    end: () => reader.end(),
    get stanzas() {
      return stanzas;
    },
    get records() {
      return numbers.size;
    },
  };
};
