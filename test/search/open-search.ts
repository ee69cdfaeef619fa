import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { buildCatalog, parseRecords, type SourceRepository } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

/** The stanza of a package with this name, and an identifier that follows from it. */
export const named = (name: string, fields: Record<string, string> = {}) => ({
  Package: `com.example.${name.toLowerCase().replace(/[^a-z0-9]/g, '')}`,
  Name: name,
  ...fields,
});

/** The index of these repositories, the names of the packages that a question finds in it, and its state folder. */
export const openSearch = async (...repositories: SourceRepository[]) => {
  const state = temporaryFolder();
  await buildCatalog(state, repositories);
  const search = new CatalogFiles(state);
  const names = async (q: string, limit = 100, page = 1) =>
    parseRecords((await search.searchPackages(q, limit, page)).records).map(({ name }) => name);
  return { search, names, state };
};
