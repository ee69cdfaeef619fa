import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createOpenApi } from '../../src/contract/openapi.ts';
import { ranks } from '../../src/contract/parameters.ts';
import { documentPath } from '../../src/contract/paths.ts';
import type { EmbeddedRepository, LandingRecord, PackageRecord, RepositoryRecord } from '../../src/contract/records.ts';
import { fieldMarkup, places } from '../../src/results/search-page.ts';

/** The public address in everything that is published here. */
export const testAddress = 'https://index.test';
const api = `${testAddress}/v2/jailbreak`;
const date = '2026-05-01T12:00:00.000Z';
const hash = (seed: string) => Buffer.from(seed.padEnd(32, '.')).toString('hex').slice(0, 64);

/** A repository record with valid values in every field. */
export const repositoryRecord = (slug: string, quality = 3): RepositoryRecord => ({
  id: slug,
  name: `Repository ${slug}`,
  description: null,
  uri: `https://${slug}.test/`,
  suite: './',
  sections: ['Tweaks'],
  version: null,
  date,
  visible: true,
  package_count: 1,
  quality,
  bootstrap: false,
  origin_hostname: `${slug}.test`,
  origin_last_updated: date,
  origin_release_path: '/Release',
  origin_release_hash: hash('release'),
  origin_packages_path: '/Packages.zst',
  origin_packages_hash: hash('packages'),
  origin_has_release_gpg: false,
  origin_has_in_release: false,
  origin_uses_https: true,
  origin_supports_payment_v1: false,
  origin_supports_payment_v2: false,
  partner_endpoint: null,
  refs: { packages: `${api}/repository/${slug}/packages`, meta: `${api}/repository/${slug}` },
  slug,
  isBootstrap: false,
  tier: quality,
});

/** A package record with valid values in every field. */
export const packageRecord = (id: string, slug = 'sample', version = '1.0'): PackageRecord => {
  const { partner_endpoint: _endpoint, refs: _refs, ...repository } = repositoryRecord(slug);
  return {
    id: hash(`${slug} ${id} ${version}`),
    package_id: id,
    package: id,
    name: `Name of ${id}`,
    description: 'Does one thing.',
    version,
    latest_version: true,
    architecture: 'iphoneos-arm64',
    section: 'Tweaks',
    maintainer: null,
    author: 'Somebody <somebody@author.test>',
    price: 'Free',
    tags: null,
    visible: true,
    sha256_hash: null,
    package_size: 1024,
    installed_size: null,
    package_filename: `debs/${id}.deb`,
    icon_url: `${testAddress}/icons/tweaks.svg`,
    header_url: `${testAddress}/headers/tweaks.svg`,
    native_depiction: null,
    repository_id: slug,
    quality: 3,
    repositoryTier: 3,
    refs: { meta: `${api}/package/${encodeURIComponent(id)}`, repo: `${api}/repository/${slug}` },
    repository: { ...repository, date, version: '' } satisfies EmbeddedRepository,
  };
};

/** The text of a list answer with these records. */
export const listDocument = (records: readonly unknown[]): string =>
  JSON.stringify({ message: '200 Successful', date, count: records.length, data: records });

/**
 * The same with one record so many times, each about 1.9 KB. Encoding each of thousands would take longer than what
 * tests do with such a document.
 */
export const longListDocument = (count: number, record: unknown): string => {
  const data = `${JSON.stringify(record)},`.repeat(count).slice(0, -1);
  return listDocument([]).replace('"count":0,"data":[]', () => `"count":${count},"data":[${data}]`);
};

/** The content of a test's landing document. */
export const landingRecord = (address: string): LandingRecord => ({
  info: { name: 'Debdex', version: '0.1.0', build: 'test', platform: 'test', runtime: 'test' },
  reference: {
    docs: `${address}/docs/`,
    changes: `${address}/changes/`,
    privacy_policy: `${address}/privacy/`,
    privacy_updated: '2026-05-01',
    contact_email: 'index@index.test',
    copyright: 'MIT',
  },
  statistics: { repositories: 1, packages: 1, versions: 1, updated: date },
});

/** Whole output folders for tests of the server, made file by file as a build does. */
export interface Published {
  /** The output folder. */
  readonly folder: string;
  /** A folder for the server's own data. */
  readonly state: string;
  /** Puts a file in its place by rename. */
  write(file: string, content: string | Uint8Array): void;
  remove(): void;
}

/** Empty folders for output and state, below one that is removed together with them. */
export const createPublished = (): Published => {
  const root = mkdtempSync(path.join(tmpdir(), 'debdex-published-'));
  const folder = path.join(root, 'dist');
  const state = path.join(root, 'state');
  mkdirSync(state, { recursive: true });
  const write: Published['write'] = (file, content) => {
    const target = path.join(folder, file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(`${target}.new`, content);
    renameSync(`${target}.new`, target);
  };
  return { folder, state, write, remove: () => rmSync(root, { recursive: true, force: true }) };
};

/** The search page as it is built, without its design. */
export const searchPageText = `<!doctype html><title>Search</title>${fieldMarkup()}${Object.values(places).join('')}`;

/** Puts a site with a few pages into an output folder. */
export const publishPages = ({ write }: Pick<Published, 'write'>): void => {
  write('index.html', '<!doctype html><title>Front page</title>');
  write('404.html', '<!doctype html><title>No such page</title>');
  write('privacy/index.html', '<!doctype html><title>Privacy</title>');
  write('search/index.html', searchPageText);
  write('assets/page.B4x9.css', 'body { color: black }');
};

let described: string | undefined;
// Composed once: that takes four milliseconds, and all else of a server that a test starts takes one.
const describe = (): string =>
  (described ??= JSON.stringify(createOpenApi({ publicAddress: testAddress, version: '0.1.0' })));

/** An output folder with every kind of document, a site with a few pages, and these packages. */
export const publish = (packages: readonly string[] = ['com.example.one', 'com.example.two']): Published => {
  const published = createPublished();
  const { write } = published;
  write(documentPath.landing, JSON.stringify({ status: '200 OK', date, data: landingRecord(testAddress) }));
  write(documentPath.openapiJson, describe());
  write(documentPath.openapiYaml, 'openapi: 3.1.0\n');
  write(
    documentPath.divergences,
    JSON.stringify({ message: '200 Successful', date, data: { pairs: [], changed: [] } }),
  );
  write(documentPath.downloads, listDocument([]));
  for (const id of packages) write(documentPath.package(id), listDocument([packageRecord(id)]));
  write(
    documentPath.repository('sample'),
    JSON.stringify({ message: '200 Successful', date, data: repositoryRecord('sample') }),
  );
  write(documentPath.repositoryPackages('sample'), listDocument(packages.map((id) => packageRecord(id))));
  write(
    documentPath.repositoryFindings('sample'),
    JSON.stringify({
      message: '200 Successful',
      date,
      data: { repository_id: 'sample', failure: null, signature: null, findings: [] },
    }),
  );
  for (const rank of ranks) {
    write(documentPath.ranking(rank), listDocument(rank === '3' || rank === '*' ? [repositoryRecord('sample')] : []));
  }
  publishPages(published);
  return published;
};
