import type { CatalogDatabase } from '../catalog/database.ts';
import { type CountedRecords, DocumentReading } from '../catalog/document-reading.ts';
import { decodeFileName, decodeFolderName } from '../contract/filenames.ts';
import { listPageMaximum, type Rank, ranks } from '../contract/parameters.ts';
import { documentOf, documentPath, type Operation, operations } from '../contract/paths.ts';
import { type Document, listTail, type PageLinks, successHead } from './document.ts';
import { documents, rankingDocuments } from './documents.ts';
import { linksOf, pagesOf, parsePagePath } from './list-pages.ts';

type NamedOperation = 'package' | 'repository' | 'repositoryPackages';

/** The path of an operation's document as a pattern, with the encoded name as its group. */
const patternOf = (name: NamedOperation, encoded: string): RegExp => {
  const operation: Operation & { readonly file: string } = operations[name];
  const [before = '', after = ''] = documentOf(operation, 'a')
    .split(/(?<=\/)a(?=[./])/)
    .map((part) => RegExp.escape(part));
  return new RegExp(`^${before}(${encoded})${after}$`);
};

const patterns: Readonly<Record<NamedOperation, RegExp>> = {
  package: patternOf('package', '.+'),
  repository: patternOf('repository', '[^/]+'),
  repositoryPackages: patternOf('repositoryPackages', '[^/]+'),
};

const rankOf: ReadonlyMap<string, Rank> = new Map(ranks.map((rank) => [documentPath.ranking(rank), rank]));

/** The catalog lists this document, but it cannot be made from the catalog's content. */
export class NotOfCatalog extends Error {
  override name = 'NotOfCatalog';
}

/**
 * The published documents, made from the catalog that they were published with. The same builders produce the same
 * bytes. The catalog must not change any more.
 */
export class CatalogDocuments {
  /** What is recorded of them. */
  readonly reading: DocumentReading;

  /** Throws where the catalog cannot be read. */
  constructor(database: CatalogDatabase) {
    this.reading = new DocumentReading(database);
  }

  /** Makes a published document that the catalog does not keep as a whole. Throws NotOfCatalog. */
  compose(path: string): Document {
    const rank = rankOf.get(path);
    if (rank !== undefined) {
      for (const document of rankingDocuments(this.reading.repositories)) if (document.path === path) return document;
    }
    const page = this.#findPage(path);
    if (page !== undefined)
      return documents.repositoryPackagesPage(page.slug, page.page, [...page.records], page.links);
    if (path === documentPath.divergences) return documents.divergences(this.reading.divergences());
    const [operation, name] = parsePath(path);
    if (operation === 'package') return documents.package(name, this.reading.packageRecords(name));
    const repository = this.reading.repository(name);
    if (repository === undefined) throw new NotOfCatalog(`The catalog tells of ${path} and holds no such repository`);
    if (operation === 'repository') return documents.repository(name, repository.record);
    return documents.repositoryPackages(name, [...this.reading.repositoryRecords(repository).records]);
  }

  /** The same in parts, before and after its date. Of a long list, only a few records are in memory at a time. */
  composeParts(path: string): { readonly head: string; readonly tail: Iterable<string> } {
    const page = this.#findPage(path);
    const list = page ?? this.#findList(path);
    if (list !== undefined) return { head: successHead, tail: listTail(list.count, list.records, page?.links) };
    const { head, tail } = this.compose(path);
    return { head, tail: [tail] };
  }

  #findPage(path: string): (CountedRecords & { slug: string; page: number; links: PageLinks }) | undefined {
    const { slug, page } = parsePagePath(path) ?? {};
    if (slug === undefined || page === undefined) return undefined;
    const repository = this.reading.repository(slug);
    const pages = pagesOf(repository?.packageCount ?? 0);
    if (repository === undefined || page > pages) {
      throw new NotOfCatalog(`The catalog tells of ${path} and holds no such page`);
    }
    const records = this.reading.somePackages(repository, (page - 1) * listPageMaximum, listPageMaximum);
    return { slug, page, links: linksOf(repository.record, page, pages), ...records };
  }

  #findList(path: string): CountedRecords | undefined {
    if (rankOf.has(path) || path === documentPath.divergences) return undefined;
    const [operation, name] = parsePath(path);
    if (operation === 'package') return this.reading.manyPackageRecords(name);
    const repository = operation === 'repositoryPackages' ? this.reading.repository(name) : undefined;
    return repository && this.reading.repositoryRecords(repository);
  }
}

const order: readonly NamedOperation[] = ['package', 'repositoryPackages', 'repository'];

const parsePath = (path: string): [operation: NamedOperation, name: string] => {
  for (const operation of order) {
    const encoded = patterns[operation].exec(path)?.[1];
    const decode = operation === 'package' || operation === 'repository' ? decodeFileName : decodeFolderName;
    const name = encoded === undefined ? undefined : decode(encoded);
    if (name !== undefined) return [operation, name];
  }
  throw new NotOfCatalog(`The catalog tells of ${path}, which this version does not know: update Debdex`);
};
