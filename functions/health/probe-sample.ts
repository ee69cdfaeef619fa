import { documentPath } from '../../src/contract/paths.ts';
import type { PackageRecord, RepositoryRecord } from '../../src/contract/records.ts';
import type { Dependencies } from '../dependencies.ts';

/** A published package and a repository that has it, which the probes ask for. */
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

/** How often to read a file that is replaced while it is read. */
const mostReadings = 3;

/**
 * The data of a published document; undefined if there is none. Throws if it cannot be read or is not JSON, because
 * damage is a failure.
 */
export const readData = async <T>(documents: Dependencies['documents'], path: string): Promise<T | undefined> => {
  for (let reading = 0; reading < mostReadings; reading++) {
    const document = await documents.read(path, 'identity');
    if (document === undefined) return undefined;
    const { body } = document;
    const content = body === undefined ? await document.open() : new Uint8Array(body);
    // A build replaced the file after it was found.
    if (content === undefined) continue;
    return parse<T>(await new Response(content).text(), path);
  }
  throw new Error(`${path} is replaced again and again`);
};

/** How many repositories are tried as a sample, so that a probe costs little. */
const mostCandidates = 12;

/**
 * The slugs of the repositories to choose a sample from: the smallest that are not empty, by name if they are equally
 * small.
 */
export const smallestRepositories = (all: ReadonlyArray<{ slug: string; size: number }>): string[] =>
  all
    .filter(({ size }) => size > 0)
    .sort((a, b) => a.size - b.size || (a.slug < b.slug ? -1 : 1))
    .slice(0, mostCandidates)
    .map(({ slug }) => slug);

/** How many bytes to read of a list that is too large for memory. One record has fewer. */
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
 * The identifiers in a published list of records; in a large list only the first ones, because reading all of it would
 * delay other requests. Undefined if there is no list. Throws as readData does.
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
  const ids = Array.from(text.matchAll(/"package_id":("(?:[^"\\]|\\.)*")/g), ([, id = '']) => JSON.parse(id));
  if (ids.length === 0) throw new Error(`${path} is damaged`);
  return ids;
};

/** How many packages of a repository are tried: a stranger may have named the first with signs that are no word. */
const mostPackages = 4;

const firstPackages = async (documents: Dependencies['documents'], slug: string): Promise<HealthSample[]> => {
  const listed = (await readListed(documents, documentPath.repositoryPackages(slug))) ?? [];
  return [...new Set(listed)].slice(0, mostPackages).map((packageId) => ({ packageId, slug }));
};

/**
 * Whether the index has both, and finds them by their names: an identifier without any word cannot be found by a
 * search. If the index fails, its own probe reports that.
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
 * Chooses a sample from the smallest repository that has packages, so that a probe costs little. While a build replaces
 * files one by one, documents may name packages that the index does not have yet, or any more; so the sample is
 * something that both have, if possible.
 */
export const chooseSample = async ({
  documents,
  search,
}: Pick<Dependencies, 'documents' | 'search'>): Promise<HealthSample | undefined> => {
  const repositories = (await readData<RepositoryRecord[]>(documents, documentPath.ranking('*'))) ?? [];
  const slugs = smallestRepositories(repositories.map(({ slug, package_count: size }) => ({ slug, size })));
  let first: HealthSample | undefined;
  for (const slug of slugs) {
    const samples = await firstPackages(documents, slug);
    if (samples.length === 0) return first;
    for (const sample of samples) {
      first ??= sample;
      if (await isIndexed(search, sample)) return sample;
    }
  }
  return first;
};
