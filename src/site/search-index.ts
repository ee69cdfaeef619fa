import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { compareText } from '../catalog/reading.ts';
import { levelOfDownloads } from '../catalog/search-document.ts';
import { foldText } from '../catalog/search-text.ts';
import { architectureOf, builds } from '../compatibility/builds.ts';
import { stateOf } from '../contract/package-states.ts';
import {
  encodeDigit,
  encodeNumbers,
  type FacetValues,
  type IndexEntry,
  indexEntry,
  indexRoot,
  nameLength,
  type PartKind,
  partFile,
} from '../results/file-index.ts';
import { fitsArchitecture } from '../results/fits-architecture.ts';
import { IndexWords, type Shelved } from './index-words.ts';
import { writeKept } from './kept-file.ts';
import { offeredBuilds, type PackageSummary } from './package-summary.ts';
import { isStale, isUnsafe } from './repository.ts';
import { composeCard } from './row-card.ts';
import { composeLists, type IndexFile } from './search-lists.ts';
import type { SiteCatalog } from './site-catalog.ts';

// Writes the search index among the files; see results/file-index.ts for its form.

/**
 * How many packages share a file with their rows. One file for each would be most files of a site. Where a file ends is
 * decided by its packages, so that a new one changes a single file.
 */
const rowsInFile = { least: 8, most: 63, share: 16 } as const;

const endsFile = (id: string, rows: number): boolean =>
  rows >= rowsInFile.most ||
  (rows >= rowsInFile.least && Number.parseInt(hash('sha256', id).slice(0, 2), 16) % rowsInFile.share === 0);

/** How many packages are added at once. Between them other work of this process goes on. */
const atOnce = 500;

/** The architectures of devices for which a package is found because it is for all, in addition to its own. */
const foundFor = (own: readonly string[], runs: string | undefined): string[] =>
  runs === undefined
    ? []
    : builds
        .map(architectureOf)
        .filter((one) => !own.includes(one) && fitsArchitecture(one, { architectures: own, runs }));

/** The values by which a package is filtered; its architectures as far as they are `common`. */
export const composeFacets = (
  summary: PackageSummary,
  hasDevices: boolean,
  common: ReadonlySet<string>,
): FacetValues => {
  const { architectures, runs } = offeredBuilds(summary);
  return {
    section: [summary.kind],
    repository: summary.repositories,
    architecture: [
      ...architectures.filter((one) => common.has(one)),
      ...foundFor(architectures, hasDevices ? runs : undefined),
    ],
    price: [summary.paid ? 'paid' : 'free'],
    state: [stateOf(summary.version, isStale(summary.repository))],
  };
};

/** Numbers for texts or numbers, in their order, from 0. */
const rank = <Value extends string | number>(values: readonly Value[], compare: (a: Value, b: Value) => number) => {
  const ranks = new Map([...new Set(values)].sort(compare).map((value, index) => [value, index]));
  return encodeNumbers(values.map((value) => ranks.get(value) as number));
};

/** Names parts of the index after their content. */
export class IndexParts {
  /** The content of each name, as its digest. */
  readonly #taken = new Map<string, string>();

  /** The name of a part, and its file. */
  compose(kind: PartKind, content: string): { readonly name: string; readonly file: IndexFile } {
    const digest = hash('sha256', content);
    const number = BigInt(`0x${digest.slice(0, 16)}`);
    const name = number.toString(36).padStart(nameLength, '0').slice(-nameLength);
    const file = partFile(kind, name);
    const taken = this.#taken.get(file);
    // Somebody with many packages can find content whose name another part has. A blank changes the name, and nothing else.
    if (taken !== undefined && taken !== digest) return this.compose(kind, `${content} `);
    this.#taken.set(file, digest);
    return { name, file: { path: file.slice(indexRoot.length), content: Buffer.from(content) } };
  }
}

/** Where names are equal, packages of better ranked repositories come first, and unsafe ones last. */
const byRepository = ({ repository: a }: PackageSummary, { repository: b }: PackageSummary): number =>
  Number(isUnsafe(a)) - Number(isUnsafe(b)) || a.record.quality - b.record.quality;

/** In the order of their names. Of equal ones, as in the API's search, the more downloaded come first at last. */
const byName = ({ packages, downloads }: Pick<SiteCatalog, 'packages' | 'downloads'>): PackageSummary[] =>
  [...packages.values()]
    .map((summary) => ({
      summary,
      key: foldText(summary.name),
      level: levelOfDownloads(downloads.get(summary.id)?.total ?? 0),
    }))
    .sort(
      (a, b) =>
        compareText(a.key, b.key) ||
        byRepository(a.summary, b.summary) ||
        b.level - a.level ||
        compareText(a.summary.id, b.summary.id),
    )
    .map(({ summary }) => summary);

/** Combinations of values, and which of them each package has. */
class Combinations {
  readonly #numbers = new Map<string, number>();
  readonly #of: number[] = [];

  add(values: FacetValues): void {
    const key = JSON.stringify(values);
    const number = this.#numbers.get(key) ?? this.#numbers.size;
    this.#numbers.set(key, number);
    this.#of.push(number);
  }

  compose(): string {
    return `{"combinations":[${[...this.#numbers.keys()].join()}],"of":"${encodeNumbers(this.#of)}"}`;
  }
}

/** The files of the index, the one that names the others last. */
async function* composeIndex(
  catalog: SiteCatalog,
  onPackage: (done: number, total: number) => void,
): AsyncGenerator<IndexFile> {
  const { hasDevices, downloads, lastBuild } = catalog;
  const packages = byName(catalog);
  const parts = new IndexParts();
  const words = new IndexWords();
  const combinations = new Combinations();
  const common = new Set(catalog.commonArchitectures);
  let rows: string[] = [];
  let rowFiles = '';
  for (const [index, summary] of packages.entries()) {
    words.add(summary, summary.repository.slug);
    combinations.add(composeFacets(summary, hasDevices, common));
    rows.push(JSON.stringify(composeCard(summary, hasDevices)));
    const done = index + 1;
    if (endsFile(summary.id, rows.length) || done === packages.length) {
      const { name, file } = parts.compose('rows', `[${rows.join()}]`);
      yield file;
      rowFiles += name + encodeDigit(rows.length);
      rows = [];
    }
    if (done % atOnce === 0 || done === packages.length) {
      onPackage(done, packages.length);
      await setImmediate();
    }
  }
  const shelved = words.shelve();
  const shelf = function* (kind: PartKind, files: readonly Shelved[]): Generator<IndexFile, [string, string][]> {
    const named: [string, string][] = [];
    for (const { first, content } of files) {
      const { name, file } = parts.compose(kind, content);
      yield file;
      named.push([first, name]);
    }
    return named;
  };
  const values = function* (content: string): Generator<IndexFile, string> {
    const { name, file } = parts.compose('values', content);
    yield file;
    return name;
  };
  // A version that was seen under a clock that was ahead is not the newest until that day.
  const until = lastBuild?.builtAt;
  const seen = packages.map(({ updatedAt }) => (until !== undefined && updatedAt > until ? '' : updatedAt));
  const totals = packages.map(({ id }) => downloads.get(id)?.total ?? 0);
  const entry: IndexEntry = {
    packages: packages.length,
    words: yield* shelf('words', shelved.words),
    heads: yield* shelf('heads', shelved.heads),
    rows: rowFiles,
    facets: yield* values(combinations.compose()),
    orders: {
      newest: yield* values(JSON.stringify(rank(seen, compareText))),
      ...(downloads.size === 0 ? {} : { downloads: yield* values(JSON.stringify(rank(totals, (a, b) => a - b))) }),
    },
  };
  yield* composeLists(catalog);
  yield { path: indexEntry.slice(indexRoot.length), content: Buffer.from(JSON.stringify(entry)) };
}

/**
 * Builds the search index into a folder. Files that are there with the same bytes stay as they are. Returns all files.
 *
 * @throws Error if a file cannot be written
 */
export const buildSearchIndex = async (
  catalog: SiteCatalog,
  folder: string,
  onPackage: (done: number, total: number) => void = () => {},
): Promise<readonly string[]> => {
  const files = new Set<string>();
  const folders = new Set<string>();
  for await (const { path: name, content } of composeIndex(catalog, onPackage)) {
    const file = path.join(folder, name);
    files.add(name);
    const parent = path.dirname(file);
    if (!folders.has(parent)) mkdirSync(parent, { recursive: true });
    folders.add(parent);
    // In place, like pages: what a kill leaves is compared the next time.
    writeKept(file, content);
  }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isDirectory() && !files.has(path.relative(folder, file))) rmSync(file);
  }
  return [...files];
};
