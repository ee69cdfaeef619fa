import { documentPath } from '../../src/contract/paths.ts';
import type { PackageRecord, RepositoryRecord } from '../../src/contract/records.ts';
import type { Dependencies } from '../dependencies.ts';

/** A package that is published, and a repository that has it: what a probe asks for. */
export interface HealthSample {
  readonly packageId: string;
  readonly slug: string;
}

const parse = <T>(text: string, path: string): T => {
  try {
    return (JSON.parse(text) as { data: T }).data;
  } catch (cause) {
    throw new Error(`${path} is damaged`, { cause });
  }
};

/** How often a file is read that is replaced again and again while it is. */
const mostReadings = 3;

/**
 * The data of a published document; undefined where there is none. Throws where it cannot be read or is no JSON: what
 * is damaged is not well.
 */
export const readData = async <T>(documents: Dependencies['documents'], path: string): Promise<T | undefined> => {
  for (let reading = 0; reading < mostReadings; reading++) {
    const document = await documents.read(path, 'identity');
    if (document === undefined) return undefined;
    const { body } = document;
    const content = body === undefined ? await document.open() : new Uint8Array(body);
    // A large file that a build replaced after it was found.
    if (content === undefined) continue;
    return parse<T>(await new Response(content).text(), path);
  }
  throw new Error(`${path} is replaced again and again`);
};

/** How many repositories are looked through for a sample, so that a probe costs little. */
const mostCandidates = 12;

/** The slugs of the repositories of which a sample may be: the smallest that hold anything, the first by name of several. */
export const smallestRepositories = (all: ReadonlyArray<{ slug: string; size: number }>): string[] =>
  all
    .filter(({ size }) => size > 0)
    .sort((a, b) => a.size - b.size || (a.slug < b.slug ? -1 : 1))
    .slice(0, mostCandidates)
    .map(({ slug }) => slug);

/** Of a list that is too large to be held in memory, so many bytes are read: more than one record has. */
const beginningBytes = 128 * 1024;

const readBeginning = async (content: ReadableStream<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of content) {
    text += decoder.decode(piece, { stream: true });
    if (text.length >= beginningBytes) break;
  }
  return text;
};

/**
 * The identifiers of the packages that a published list of records tells of or, of a large one, of the first: to read all
 * of that would keep everybody else waiting. Undefined where there is no list; throws as readData does.
 */
export const readListed = async (
  documents: Dependencies['documents'],
  path: string,
): Promise<readonly string[] | undefined> => {
  const document = await documents.read(path, 'identity');
  if (document === undefined || document.body !== undefined || (document.size ?? Infinity) <= beginningBytes) {
    return (await readData<PackageRecord[]>(documents, path))?.map(({ package_id: id }) => id);
  }
  const content = await document.open();
  if (content === undefined) return readListed(documents, path);
  const text = await readBeginning(content);
  const [, id] = /"package_id":("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
  if (id === undefined) throw new Error(`${path} is damaged`);
  return [JSON.parse(id)];
};

const firstPackage = async (documents: Dependencies['documents'], slug: string): Promise<HealthSample | undefined> => {
  const [packageId] = (await readListed(documents, documentPath.repositoryPackages(slug))) ?? [];
  return packageId === undefined ? undefined : { packageId, slug };
};

/**
 * Whether the index holds it, and finds both by their names: an identifier may have no word, and then no question finds
 * it. An index that cannot be asked says so when it is probed.
 */
const isIndexed = async (search: Dependencies['search'], { packageId, slug }: HealthSample): Promise<boolean> => {
  try {
    if (!(await search.knows(packageId))) return false;
    const found = [await search.searchPackages(packageId, 1, 1), await search.searchRepositories(slug, 1, 1)];
    return found.every(({ records }) => records.count > 0);
  } catch {
    return true;
  }
};

/**
 * A sample of what is published: of the smallest repository that has any packages, so that a probe costs little. While a
 * build replaces one file after the other, documents may name a package that the index in force does not hold yet, or no
 * longer; what both know is asked for, if there is any.
 */
export const chooseSample = async ({
  documents,
  search,
}: Pick<Dependencies, 'documents' | 'search'>): Promise<HealthSample | undefined> => {
  const repositories = (await readData<RepositoryRecord[]>(documents, documentPath.ranking('*'))) ?? [];
  const slugs = smallestRepositories(repositories.map(({ slug, package_count: size }) => ({ slug, size })));
  let first: HealthSample | undefined;
  for (const slug of slugs) {
    const sample = await firstPackage(documents, slug);
    if (sample === undefined) return first;
    first ??= sample;
    if (await isIndexed(search, sample)) return sample;
  }
  return first;
};
