import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import type { DependencyClosure, DependencyQuestion } from '../../src/contract/dependency-records.ts';
import { dependencyClosureSchema } from '../../src/contract/dependency-records.ts';
import { CatalogSearch } from '../../src/search/catalog-search.ts';
import { buildCatalog, type SourceRepository } from './catalog.ts';
import { temporaryFolder } from './folder.ts';

/** The fields of a question that a test sets; the others have defaults. */
export type Asked = Partial<DependencyQuestion> & Pick<DependencyQuestion, 'packageId'>;

/** A catalog of these repositories, for questions about the dependencies of packages. */
export const openClosures = async (repositories: readonly SourceRepository[]) => {
  const state = temporaryFolder();
  await buildCatalog(state, repositories);
  const database = CatalogFile.openReadOnly(catalogPath(state));
  const search = new CatalogSearch(database);
  const ask = async (asked: Asked): Promise<DependencyClosure> => {
    const all = repositories.map(({ slug }) => slug);
    const question = { architecture: 'iphoneos-arm', repositories: all, firmware: null, isSafe: () => true, ...asked };
    const pieces = await search.dependencies(question);
    return dependencyClosureSchema.parse(JSON.parse(pieces?.join('') ?? 'null'));
  };
  return { ask, close: () => database.close() };
};

/** The packages of a closure, in order, as `name version`. */
export const namesOf = ({ packages }: DependencyClosure): string[] =>
  packages.map(({ package_id, version }) => `${package_id} ${version}`);
