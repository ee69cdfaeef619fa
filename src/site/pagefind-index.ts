import { createHash, hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { close, createIndex } from 'pagefind';
import { foldText } from '../catalog/search-text.ts';
import { architectureOf, builds } from '../compatibility/builds.ts';
import { stateOf } from '../contract/package-states.ts';
import { fitsArchitecture } from '../results/fits-architecture.ts';
import { composeContent, composeTarget } from '../results/search-content.ts';
import { page } from './addresses.ts';
import { describeKept, isAsWritten, type KeptFile, writeKept } from './kept-file.ts';
import { offeredBuilds, type PackageSummary } from './package-summary.ts';
import { whilePagefindRuns } from './pagefind-process.ts';
import { isStale, troubleOf } from './repository.ts';
import { composeLists, type IndexFile } from './search-lists.ts';
import type { SiteCatalog } from './site-catalog.ts';

const separator = /[^\p{L}\p{N}]+/u;

const wordsOf = (text: string): string[] => text.split(separator).filter((word) => word !== '');

// Texts in scripts without blanks contain words of other scripts ("微信WeChat助手"), which Pagefind does not find there.
const withoutCase = /([\p{Lo}\p{Lm}]+)/u;
const apart = (words: readonly string[]): string[] =>
  words.flatMap((word) => {
    const parts = word.split(withoutCase).filter((part) => part !== '');
    return parts.length > 1 ? parts : [];
  });

// Names are written as one word or several, with capitals or without. Each is found as a whole and by its parts.
const spellings = (text: string): string[] => {
  const whole = wordsOf(text);
  const words = [...whole, ...apart(whole)];
  const parts = words.flatMap((word) =>
    word
      .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
      .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
      .split(' '),
  );
  const joined = whole.length > 1 ? [whole.join('')] : [];
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
 * Appends up to 255 blanks to an address, depending on its package; readers ignore them. Pagefind compares every
 * address with all earlier ones, by length first. Without this, two fifths of its time for 63,000 packages would be
 * spent comparing addresses of equal length that begin alike.
 */
const spreadLength = (address: string, id: string): string =>
  address + ' '.repeat(Number.parseInt(hash('sha256', id).slice(0, 2), 16));

/** The architectures of devices for which a package is found because it is for all, in addition to its own. */
const foundFor = (own: readonly string[], runs: string | undefined): string[] =>
  runs === undefined
    ? []
    : builds
        .map(architectureOf)
        .filter((one) => !own.includes(one) && fitsArchitecture(one, { architectures: own, runs }));

/** Sorts before all others. Pagefind leaves results without a value out of a sorted answer. */
const unknownDay = new Date(0).toISOString();

/** The record of a package in the search index. No stemming, because names are not English. */
const searchRecord = (
  summary: PackageSummary,
  hasDevices: boolean,
  downloads: number | undefined,
  until = summary.updatedAt,
): SearchRecord => {
  const { version, repository, kind, icon, paid } = summary;
  const { architectures, runs: stated } = offeredBuilds(summary);
  const runs = hasDevices ? stated : undefined;
  const card = {
    version,
    place: repository.toldName,
    kind,
    icon,
    paid,
    architectures,
    runs,
    trouble: troubleOf(repository),
  };
  return {
    url: spreadLength(composeTarget(page.package(summary.id), card), summary.id),
    content: composeContent(
      [...spellings(summary.name), ...spellings(summary.id), summary.author, ...apart(wordsOf(summary.summary))],
      summary.summary,
    ),
    language: 'unknown',
    // Fields are indexed like the content, with more weight.
    meta: { title: summary.name, id: summary.id },
    filters: {
      section: [summary.kind],
      repository: [...summary.repositories],
      architecture: [...architectures, ...foundFor(architectures, runs)],
      price: [summary.paid ? 'paid' : 'free'],
      state: [stateOf(summary.version, isStale(summary.repository))],
    },
    sort: {
      name: foldText(summary.name),
      // Seen under a clock that was ahead, so it is not the newest until that day.
      updated: summary.updatedAt > until ? unknownDay : summary.updatedAt,
      ...(downloads === undefined ? {} : { downloads: String(downloads) }),
    },
  };
};

/** The records for Pagefind of all packages of a site, one after another. */
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
 * How many records wait in the pipe of Pagefind's process. Without them it would be idle while this process compares
 * pages, and it takes longer than all other work on a changed index. No more, because if it dies, its client rejects
 * all waiting records once for each of them.
 */
const inPipe = 500;
/** After how many records progress is reported. */
const toldAtOnce = 500;

/** Identifies an index by its program, its records and its lists. */
class IndexDigest {
  readonly #hashed = createHash('sha256').update(`${pagefindVersion()} ${inOneFile}`);

  /** One by one: the text of all records together is longer than the catalog. */
  add(record: SearchRecord): void {
    this.#hashed.update(JSON.stringify(record));
  }

  end(lists: readonly IndexFile[]): string {
    return this.#hashed
      .update(JSON.stringify(lists.map(({ path: name, content }) => [name, hash('sha256', content)])))
      .digest('hex');
  }
}

/** The identity of the next index, and its lists, which are a part of that. */
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
 * How many packages share a file with their data. One file for each would be most files of a site, and this many are a
 * kilobyte or two when compressed.
 */
const inOneFile = 16;

/** The settings for an index with that many records. */
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
  // They are answered in their order, so the oldest is always next.
  const waiting: Promise<void>[] = [];
  let oldest = 0;
  for (const record of composeSearchRecords(catalog)) {
    if (known === undefined) digest.add(record);
    const added = add(record);
    // An error is reported to whoever waits.
    added.catch(() => {});
    const before = waiting[oldest];
    waiting[oldest] = added;
    oldest = (oldest + 1) % inPipe;
    await before;
  }
  await Promise.all(waiting);
  // Returned rather than written by Pagefind, which would write all files again.
  const composing = index.getFiles();
  // While Pagefind makes the files, which takes a third of its time.
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
    // This rejects everything that is still waiting.
    await close();
  }
};

// Files of Pagefind for pages that do not show results themselves.
const unused = new Set([
  ...['component-ui', 'modular-ui', 'ui'].flatMap((part) => [`pagefind-${part}.js`, `pagefind-${part}.css`]),
  'pagefind-highlight.js',
  // The worker for searching; see src/components/client/pagefind.ts.
  'pagefind-worker.js',
]);

const sameBytes = (file: string, content: Uint8Array): boolean =>
  statSync(file, { throwIfNoEntry: false })?.size === content.length && readFileSync(file).equals(content);

// Files of an index are named after their content. Those with packages stay the same up to the first package that was
// added or removed, and are divided differently after it.
const writeIndex = (folder: string, files: readonly IndexFile[]): KeptIndex['files'] => {
  const kept = new Set<string>();
  const inventory: Record<string, KeptFile> = {};
  const folders = new Set<string>();
  // A new folder contains no earlier files.
  const isNew = !existsSync(folder);
  for (const { path: name, content } of files) {
    const file = path.join(folder, name);
    kept.add(file);
    inventory[name] = describeKept(content);
    if (!isNew && sameBytes(file, content)) continue;
    const parent = path.dirname(file);
    if (!folders.has(parent)) mkdirSync(parent, { recursive: true });
    folders.add(parent);
    // In place, like pages: what a kill leaves is not recorded, and compared the next time.
    writeKept(file, content);
  }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile() && !kept.has(file)) rmSync(file);
  }
  return inventory;
};

/** What is recorded of a complete index: its identity, and its files. */
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
 * Builds the search index into a folder. If its records are the same as the last time and its files are as they were
 * written (with `verify`, in all of their bytes), the folder stays as it is. Returns its files.
 *
 * @throws Error if Pagefind refuses a record or cannot write
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
