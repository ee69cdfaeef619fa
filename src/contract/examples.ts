import type { ExampleSubject } from './example-subject.ts';
import { fillPlaceholders, parameterOf, placeholdersOf, writtenName } from './parameters.ts';
import type { Operation } from './paths.ts';
import type { Download } from './records.ts';

/**
 * Whether an operation has an example: not if few indexes contain what it answers, such as pages of a list; not if
 * every build may change the answer, because the description depends only on the index; and not if the answer is long.
 */
export const hasExample = ({ address, ofBuilds, daily, ofAll }: Operation): boolean =>
  ofBuilds !== true &&
  daily !== true &&
  ofAll !== true &&
  placeholdersOf(address).every((name) => parameterOf(name).example !== undefined);

/** The address of an operation, below the API's, that requests its example. */
export const exampleAddress = ({ address, query = [], tag }: Operation, subject: ExampleSubject): string => {
  const exampleOf = (name: string) => parameterOf(name).example?.(subject, tag);
  const path = fillPlaceholders(address, (name) => encodeURIComponent(exampleOf(name) ?? ''));
  const given = query.flatMap((name) => {
    const value = exampleOf(name);
    return value === undefined ? [] : [`${writtenName(name)}=${encodeURIComponent(value)}`];
  });
  return given.length === 0 ? path : `${path}?${given.join('&')}`;
};

/** What a package manager sends after downloading the package of the examples. */
export const exampleDownloads = ({ packageId, version, author, uri, suite }: ExampleSubject): Download[] => [
  {
    package_id: packageId,
    package_version: version,
    package_author: author,
    repository_uri: uri,
    repository_suite: suite,
  },
];
