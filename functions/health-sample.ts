import { documentPath } from '../src/contract/paths.ts';
import type { PackageRecord, RepositoryRecord } from '../src/contract/records.ts';
import type { Dependencies } from './dependencies.ts';

/** A package that is published, and a repository that has it: what a probe asks for. */
export interface HealthSample {
  readonly packageId: string;
  readonly slug: string;
}

/**
 * The data of a published document; undefined where there is none. Throws where it cannot be read or is no JSON: what
 * is damaged is not well.
 */
export const readData = async <T>(documents: Dependencies['documents'], path: string): Promise<T | undefined> => {
  const document = await documents.read(path, 'identity');
  if (document === undefined) return undefined;
  const text = await new Response(
    document.body === undefined ? await document.open() : new Uint8Array(document.body),
  ).text();
  return (JSON.parse(text) as { data: T }).data;
};

/** The slug of the repository of which a sample is: the smallest that holds anything, the first by name of several. */
export const smallestRepository = (all: ReadonlyArray<{ slug: string; size: number }>): string | undefined =>
  all.filter(({ size }) => size > 0).sort((a, b) => a.size - b.size || (a.slug < b.slug ? -1 : 1))[0]?.slug;

/** A sample of what is published: of the smallest repository that has any packages, so that a probe costs little. */
export const chooseSample = async (documents: Dependencies['documents']): Promise<HealthSample | undefined> => {
  const repositories = (await readData<RepositoryRecord[]>(documents, documentPath.ranking('*'))) ?? [];
  const slug = smallestRepository(repositories.map(({ slug: name, package_count: size }) => ({ slug: name, size })));
  if (slug === undefined) return undefined;
  const [record] = (await readData<PackageRecord[]>(documents, documentPath.repositoryPackages(slug))) ?? [];
  return record && { packageId: record.package_id, slug };
};
