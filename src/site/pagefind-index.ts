import { createHash, hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { close, createIndex } from 'pagefind';
import { architectureOf, builds } from '../compatibility/builds.ts';
import { stateOf } from '../contract/package-states.ts';
import { fitsArchitecture } from '../results/fits-architecture.ts';
import { composeContent, composeTarget } from '../results/search-content.ts';
import { page } from './addresses.ts';
import { describeKept, isAsWritten, type KeptFile, writeKept } from './kept-file.ts';
import type { PackageSummary } from './package-summary.ts';
import { whilePagefindRuns } from './pagefind-process.ts';
import { isStale } from './repository.ts';
import { composeLists, type IndexFile } from './search-lists.ts';
import type { SiteCatalog } from './site-catalog.ts';
import { joinStatements } from './stated.ts';

const separator = /[^\p{L}\p{N}]+/u;

// Names are written together and apart, in capitals and not: each is found by its whole and by its parts.
const spellings = (text: string): string[] => {
  const words = text.split(separator).filter((word) => word !== '');
  const parts = words.flatMap((word) =>
    word
      .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
      .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
      .split(' '),
  );
  const joined = words.length > 1 ? [words.join('')] : [];
  return [...new Set([...words, ...(parts.length > words.length ? parts : []), ...joined])];
};

interface SearchRecord {
  readonly url: string;
  readonly content: string;
  readonly language: string;
  readonly meta: Record<string, string>;
  readonly filters: Record<string, string[]>;
  readonly sort: Record<string, string>;
}

/**
 * An address with blanks after it, up to 255 as its package is called; what reads it passes over them. Pagefind holds each
 * address that it is given against all before it, first by its length: where many have the same, two fifths of its time
 * at 63,000 packages go by comparing what begins alike. Addresses that differ in length are told apart by that alone.
 */
const spreadLength = (address: string, id: string): string =>
  address + ' '.repeat(Number.parseInt(hash('sha256', id).slice(0, 2), 16));

/** The architectures of devices for which a package is found as it is for all, besides its own. */
const foundFor = (own: readonly string[], runs: string | undefined): string[] =>
  runs === undefined
    ? []
    : builds
        .map(architectureOf)
        .filter((one) => !own.includes(one) && fitsArchitecture(one, { architectures: own, runs }));

/** Before all others in order; Pagefind leaves out of a sorted answer what has no value for it. */
const unknownDay = new Date(0).toISOString();

/** What the search knows of a package. No stemming: names are not English. */
const searchRecord = (
  summary: PackageSummary,
  hasDevices: boolean,
  downloads: number | undefined,
  until = summary.updatedAt,
): SearchRecord => {
  const { version, repository, kind, icon, paid, architectures } = summary;
  const runs = hasDevices ? joinStatements(summary.stated.values()) : undefined;
  const card = { version, place: repository.name, kind, icon, paid, architectures, runs };
  return {
    url: spreadLength(composeTarget(page.package(summary.id), card), summary.id),
    content: composeContent([...spellings(summary.name), ...spellings(summary.id), summary.author], summary.summary),
    language: 'unknown',
    // Fields are indexed as the content is, and weigh more.
    meta: { title: summary.name, id: summary.id },
    filters: {
      section: [summary.kind],
      repository: [...summary.repositories],
      architecture: [...architectures, ...foundFor(architectures, runs)],
      price: [summary.paid ? 'paid' : 'free'],
      state: [stateOf(summary.version, isStale(summary.repository))],
    },
    sort: {
      name: summary.name.toLowerCase(),
      // Seen under a clock that was ahead: it is not newer than all that is new until that day.
      updated: summary.updatedAt > until ? unknownDay : summary.updatedAt,
      ...(downloads === undefined ? {} : { downloads: String(downloads) }),
    },
  };
};

/** What Pagefind is given of all packages of a site, one after the other. */
export function* composeSearchRecords(catalog: SiteCatalog): Generator<SearchRecord> {
  const { packages, hasDevices, downloads, lastBuild } = catalog;
  for (const summary of packages.values()) {
    const total = downloads.size === 0 ? undefined : (downloads.get(summary.id)?.total ?? 0);
    yield searchRecord(summary, hasDevices, total, lastBuild?.builtAt);
  }
}

const pagefindVersion = (): string => {
  const about = readFileSync(new URL('../package.json', import.meta.resolve('pagefind')), 'utf8');
  return (JSON.parse(about) as { version: string }).version;
};

/**
 * So many records wait in the pipe of Pagefind's process: without them it would be idle while this one compares pages, and
 * it takes longer than all else that a changed index is built of. No more: where it dies, its client refuses all that wait
 * once for each of them.
 */
const inPipe = 500;
/** Of how many the progress is told. */
const toldAtOnce = 500;

/** What an index is known by: what makes it, its records and its lists. */
class IndexDigest {
  readonly #hashed = createHash('sha256').update(`${pagefindVersion()} ${inOneFile}`);

  /** One by one: the text of all of them at once is longer than the catalog. */
  add(record: SearchRecord): void {
    this.#hashed.update(JSON.stringify(record));
  }

  end(lists: readonly IndexFile[]): string {
    return this.#hashed
      .update(JSON.stringify(lists.map(({ path: name, content }) => [name, hash('sha256', content)])))
      .digest('hex');
  }
}

/** What an index will be known by, and its lists, of which that is made. */
interface KnownIndex {
  readonly digest: string;
  readonly lists: readonly IndexFile[];
}

const computeKnown = (catalog: SiteCatalog): KnownIndex => {
  const digest = new IndexDigest();
  for (const record of composeSearchRecords(catalog)) digest.add(record);
  const lists = composeLists(catalog);
  return { digest: digest.end(lists), lists };
};

/**
 * How many packages share a file that tells of them: one for each would be most of all files of a site, and so many come
 * compressed to a kilobyte or two.
 */
const inOneFile = 16;

/** How Pagefind is to make the index of so many records. */
export const indexSettings = (records: number) => ({
  forceLanguage: 'unknown',
  maxFragments: Math.ceil(records / inOneFile),
});

const feedPagefind = async (
  catalog: SiteCatalog,
  onRecord: (done: number, total: number) => void,
  known: KnownIndex | undefined,
) => {
  const { size } = catalog.packages;
  const { index, errors } = await createIndex(indexSettings(size));
  if (index === undefined) throw new Error(`search index: ${errors.join('; ')}`);
  const digest = new IndexDigest();
  let done = 0;
  const add = async (record: SearchRecord): Promise<void> => {
    const { errors: refused } = await index.addCustomRecord(record);
    if (refused.length > 0) throw new Error(`search index: ${refused.join('; ')}`);
    done++;
    if (done % toldAtOnce === 0 || done === size) onRecord(done, size);
  };
  // They are answered in their order, so the oldest is always the next.
  const waiting: Promise<void>[] = [];
  let oldest = 0;
  for (const record of composeSearchRecords(catalog)) {
    if (known === undefined) digest.add(record);
    const added = add(record);
    // Told where it is waited for.
    added.catch(() => {});
    const before = waiting[oldest];
    waiting[oldest] = added;
    oldest = (oldest + 1) % inPipe;
    await before;
  }
  await Promise.all(waiting);
  // Handed out and not written by Pagefind, which would write all of them anew.
  const composing = index.getFiles();
  // While it works on them, which takes it as long as a third of all.
  const lists = known?.lists ?? composeLists(catalog);
  const composed = await composing;
  if (composed.errors.length > 0) throw new Error(`search index: ${composed.errors.join('; ')}`);
  const files = composed.files.filter(({ path: name }) => !unused.has(name));
  return { files: [...files, ...lists], digest: known?.digest ?? digest.end(lists) };
};

const composeIndex = async (...given: Parameters<typeof feedPagefind>) => {
  try {
    return await whilePagefindRuns(() => feedPagefind(...given));
  } finally {
    // Whatever it still waits for is refused then.
    await close();
  }
};

// What Pagefind brings for pages that do not draw their results themselves.
const unused = new Set([
  ...['component-ui', 'modular-ui', 'ui'].flatMap((part) => [`pagefind-${part}.js`, `pagefind-${part}.css`]),
  'pagefind-highlight.js',
  // What searches in a worker; see src/components/client/pagefind.ts.
  'pagefind-worker.js',
]);

const sameBytes = (file: string, content: Uint8Array): boolean =>
  statSync(file, { throwIfNoEntry: false })?.size === content.length && readFileSync(file).equals(content);

// Files of an index are named after what is in them. Those that tell of packages stay the same up to the first package
// that came or went since, and are cut at other places after it.
const writeIndex = (folder: string, files: readonly IndexFile[]): KeptIndex['files'] => {
  const kept = new Set<string>();
  const inventory: Record<string, KeptFile> = {};
  const folders = new Set<string>();
  // Into a folder that is made now nothing was written before.
  const isNew = !existsSync(folder);
  for (const { path: name, content } of files) {
    const file = path.join(folder, name);
    kept.add(file);
    inventory[name] = describeKept(content);
    if (!isNew && sameBytes(file, content)) continue;
    const parent = path.dirname(file);
    if (!folders.has(parent)) mkdirSync(parent, { recursive: true });
    folders.add(parent);
    // In its place, as pages are: what a kill leaves is not noted, and compared the next time.
    writeKept(file, content);
  }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile() && !kept.has(file)) rmSync(file);
  }
  return inventory;
};

/** What is noted of a whole index: the digest of its records, and how its files were. */
interface KeptIndex {
  readonly digest: string;
  readonly files: Readonly<Record<string, KeptFile>>;
}

const readKept = (mark: string): KeptIndex | undefined => {
  try {
    return JSON.parse(readFileSync(mark, 'utf8')) as KeptIndex;
  } catch {
    return undefined;
  }
};

const isWhole = (folder: string, { files }: KeptIndex, verify: boolean): boolean =>
  Object.entries(files).every(([name, kept]) => isAsWritten(path.join(folder, name), kept, verify));

/**
 * Builds the search index into a folder, or leaves the folder as it is where its records are the same as the last time
 * and its files are as they were written (with `verify`, in all of their bytes). Returns its files.
 *
 * @throws Error where Pagefind refuses a record or cannot write
 */
export const buildSearchIndex = async (
  catalog: SiteCatalog,
  folder: string,
  onRecord: (done: number, total: number) => void = () => {},
  verify = false,
): Promise<readonly string[]> => {
  const mark = `${folder}.kept.json`;
  const kept = readKept(mark);
  const known = kept && computeKnown(catalog);
  if (kept !== undefined && kept.digest === known?.digest && isWhole(folder, kept, verify))
    return Object.keys(kept.files);
  rmSync(mark, { force: true });
  const { files, digest } = await composeIndex(catalog, onRecord, known);
  const written = writeIndex(folder, files);
  writeFileSync(mark, JSON.stringify({ digest, files: written } satisfies KeptIndex));
  return Object.keys(written);
};
