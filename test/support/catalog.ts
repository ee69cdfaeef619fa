import { hash } from 'node:crypto';
import path from 'node:path';
import type { RecordList } from '../../src/catalog/record-list.ts';
import { writeStale } from '../../src/catalog/stale-repositories.ts';
import { CatalogBuild } from '../../src/catalog/state-catalog.ts';
import { type CatalogUpdate, indexForSearch, updateCatalog } from '../../src/catalog/update.ts';
import { type ManifestEntry, manifestEntrySchema } from '../../src/contract/manifest.ts';
import type { PackageRecord } from '../../src/contract/records.ts';
import { HistoryStore } from '../../src/snapshots/history.ts';
import { noAttempts, type Snapshot, type SnapshotFile } from '../../src/snapshots/snapshot.ts';
import { temporaryFolder } from './folder.ts';

/** A repository as a test writes it: its manifest fields, and the text of its Release and its Packages. */
export interface SourceRepository {
  readonly slug: string;
  readonly ranking?: number;
  readonly bootstrap?: boolean;
  readonly uri?: string;
  readonly aliases?: string[];
  readonly release?: string;
  readonly packages: string;
  readonly changedAt?: string;
  /** What a crawl found besides, of its signature for one. */
  readonly crawled?: Partial<Snapshot>;
  /** Whether the last build could not read it. */
  readonly isStale?: boolean;
}

export const base = 'https://index.example';

/** A stanza with what every one needs, and these fields besides or instead; an undefined one is left out. */
const stanza = (fields: Record<string, string | undefined>): string => {
  const { Package: name = 'com.example.one', Version: version = '1.0' } = fields;
  const all = {
    Package: name,
    Version: version,
    Architecture: 'iphoneos-arm',
    Filename: `debs/${name}_${version}.deb`,
    Size: '100',
  };
  return Object.entries({ ...all, ...fields })
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => `${field}: ${value}\n`)
    .join('');
};

/** The records of a list, read back. */
export const parseRecords = ({ pieces }: RecordList): PackageRecord[] =>
  JSON.parse(
    `[${pieces.map((piece) => (typeof piece === 'string' ? piece : Buffer.from(piece).toString())).join('')}]`,
  );

/** The text of an index of these stanzas. */
export const packages = (...stanzas: Record<string, string | undefined>[]): string => stanzas.map(stanza).join('\n');

/** Snapshots that live in memory, in the shape that the catalog reads. */
export const memorySnapshots = (repositories: readonly SourceRepository[], state = temporaryFolder()) => {
  const files = new Map<string, Uint8Array>();
  const keep = (path: string, text: string): SnapshotFile => {
    const bytes = Buffer.from(text);
    const sha256 = hash('sha256', bytes);
    files.set(sha256, bytes);
    return { path, sha256, size: bytes.length, etag: null, lastModified: null };
  };
  const snapshots = new Map(
    repositories.map((repository): [string, Snapshot] => {
      const {
        slug,
        release = `Origin: ${slug}\n`,
        packages: index,
        changedAt = '2026-05-01T12:00:00.000Z',
      } = repository;
      const kept = keep('/Packages', index);
      return [
        slug,
        {
          slug,
          origin: { uri: `https://${slug}.example/`, suite: './', component: null, binary: null },
          release: keep('/Release', release),
          packages: { ...kept, compression: 'plain', decompressedSize: kept.size, stanzas: 0, listed: false },
          packagesOfAll: null,
          signature: null,
          signing: { state: 'unsigned', signers: [], remembered: [] },
          hasInRelease: false,
          hasReleaseGpg: false,
          paymentEndpoint: null,
          paymentValidators: null,
          releaseGpgValidators: null,
          extrasCheckedAt: changedAt,
          changedAt,
          checkedAt: changedAt,
          findings: [],
          ...repository.crawled,
        },
      ];
    }),
  );
  const readFile = async (_slug: string, file: SnapshotFile) => {
    const bytes = files.get(file.sha256);
    if (bytes === undefined) throw new Error('no such file');
    return bytes;
  };
  async function* streamFile(slug: string, file: SnapshotFile) {
    yield await readFile(slug, file);
  }
  const checkFile = async (slug: string, file: SnapshotFile) => void (await readFile(slug, file));
  return {
    history: new HistoryStore(path.join(state, 'history')),
    readAttempts: async () => noAttempts,
    read: async (slug: string) => snapshots.get(slug),
    readFile,
    streamFile,
    checkFile,
  };
};

export const entryOf = ({ slug, ranking = 3, bootstrap = false, uri, aliases = [] }: SourceRepository): ManifestEntry =>
  manifestEntrySchema.parse({ slug, uri: uri ?? `https://${slug}.example/`, ranking, bootstrap, aliases });

/** Brings the catalog of a state folder to these repositories, search index included, and leaves it unpublished. */
export const openBuild = async (
  state: string,
  repositories: readonly SourceRepository[],
  now = new Date('2026-05-02T00:00:00Z'),
  address = base,
): Promise<{ catalog: CatalogBuild; update: CatalogUpdate }> => {
  const catalog = new CatalogBuild(state);
  const store = memorySnapshots(repositories, state);
  const update = await updateCatalog(catalog, repositories.map(entryOf), store, { base: address, now });
  await indexForSearch(catalog, update.ingested);
  writeStale(catalog, new Set(repositories.filter(({ isStale }) => isStale).map(({ slug }) => slug)));
  return { catalog, update };
};

/** The same, published. */
export const buildCatalog = async (...input: Parameters<typeof openBuild>): Promise<CatalogUpdate> => {
  const { catalog, update } = await openBuild(...input);
  await catalog.publish();
  return update;
};
