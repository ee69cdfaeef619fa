import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { createOpenApi } from '../../src/contract/openapi.ts';
import { documentPath } from '../../src/contract/paths.ts';
import type { StatusRecord } from '../../src/contract/status.ts';
import { type Document, documentText, objectDocument, textDocument } from '../../src/documents/document.ts';
import { documents } from '../../src/documents/documents.ts';
import { base, openBuild, type SourceRepository } from './catalog.ts';
import { emissionOf } from './emission.ts';
import { createPublished, type Published, publishPages } from './published.ts';
import { startTestServer, type TestServer } from './test-server.ts';

const described = new Map<string, Document[]>();
// Computed once for each address, because it is the same for all builds and takes a tenth of the time of a small one.
const describe = (address: string): Document[] => {
  const known = described.get(address) ?? [
    documents.openapiJson(createOpenApi({ publicAddress: address, version: '0.1.0' })),
    textDocument(documentPath.openapiYaml, 'openapi: 3.1.0\n'),
  ];
  described.set(address, known);
  return known;
};

/** Builds these repositories into an output folder, new or already built: catalog, documents, a few pages. */
export const publishBuild = async (
  repositories: readonly SourceRepository[],
  published: Published = createPublished(),
  now = new Date('2026-05-02T00:00:00Z'),
  address = base,
): Promise<Published> => {
  const { catalog, update } = await openBuild(published.state, repositories, now, address);
  const emission = emissionOf({ catalog, update }, published.folder, {
    now,
    address,
    descriptions: async () => describe(address),
  });
  await emission.write();
  emission.forgetVanished();
  await catalog.publish();
  emission.removeVanished();
  publishPages(published);
  return published;
};

/** Publishes a status document without any builds. */
export const publishNoBuilds = (folder: string): void => {
  const status: StatusRecord = { builds: [], repositories: [] };
  const document = objectDocument(documentPath.status, JSON.stringify(status));
  writeFileSync(path.join(folder, documentPath.status), documentText(document, '2026-05-02T00:00:00.000Z'));
};

/** A real server over a build of these repositories, including the search index. */
export interface BuiltServer extends TestServer {
  readonly search: CatalogFiles;
}

/** Builds these repositories and serves them, with the given options of a server. */
export const serveBuild = async (
  repositories: readonly SourceRepository[],
  options: Omit<NonNullable<Parameters<typeof startTestServer>[0]>, 'published' | 'ids'> = {},
): Promise<BuiltServer> => {
  const published = await publishBuild(repositories);
  publishNoBuilds(published.folder);
  const search = new CatalogFiles(published.state);
  const server = await startTestServer({
    onChange: () => search.refresh(),
    ...options,
    published,
    overrides: { search, older: search.older, publicAddress: () => base, ...options.overrides },
  });
  return {
    ...server,
    search,
    close: async () => {
      await server.close();
      search.close();
    },
  };
};
