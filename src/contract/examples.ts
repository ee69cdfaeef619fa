import type { Operation, OperationName } from './paths.ts';
import type { Download } from './records.ts';

/**
 * What the examples of the description ask about: one package of one repository of the index that it describes, so that
 * whoever tries an example gets an answer.
 */
export interface ExampleSubject {
  readonly packageId: string;
  readonly name: string;
  readonly version: string;
  readonly author: string | null;
  readonly slug: string;
  readonly uri: string;
  readonly suite: string;
  readonly ranking: number;
}

/** The parameters of the example of an operation, by name; `limit` keeps what is shown short. */
export const exampleParameters = (operation: OperationName, subject: ExampleSubject): Record<string, string> => {
  const { packageId, name, slug, uri, ranking } = subject;
  const [word = ''] = name.toLowerCase().split(/\s+/);
  const searched = operation === 'repositorySearch' ? slug : word;
  return {
    packageId,
    repositorySlug: slug,
    q: searched.length >= 2 ? searched : packageId,
    limit: '2',
    ids: packageId,
    rank: String(ranking),
    uris: uri,
  };
};

/** The address of an operation, below the API's, that asks for its example. */
export const exampleAddress = (name: OperationName, { address, query }: Operation, subject: ExampleSubject): string => {
  const parameters = exampleParameters(name, subject);
  const path = address.replace(/\{(\w+)\}/g, (_, each: string) => encodeURIComponent(parameters[each] ?? ''));
  const given = Object.keys(query?.shape ?? {}).flatMap((each) => {
    const value = parameters[each];
    return value === undefined ? [] : [`${each}=${encodeURIComponent(value)}`];
  });
  return given.length === 0 ? path : `${path}?${given.join('&')}`;
};

/** What a package manager sends that has just downloaded the package of the examples. */
export const exampleDownloads = ({ packageId, version, author, uri, suite }: ExampleSubject): Download[] => [
  {
    package_id: packageId,
    package_version: version,
    package_author: author,
    repository_uri: uri,
    repository_suite: suite,
  },
];
