import { parseDetails, type RecordDetails } from '../catalog/record-details.ts';
import { type Build, buildOf, builds, buildTitles, isDeviceArchitecture, wordOf } from '../compatibility/builds.ts';
import { complementOf, describeVersions } from '../compatibility/ios-versions.ts';
import {
  type BuildStatement,
  isFor,
  notForDevices,
  readStatements,
  writeStatements,
} from '../compatibility/judgement.ts';
import {
  buildStatement,
  readStated,
  type Stated,
  type StatementSource,
  type StatingFields,
} from '../compatibility/statements.ts';
import type { PackageRecord } from '../contract/records.ts';
import { isUnsafe, type Repository } from './repository.ts';

/** What a record states about its devices, in the form that pages contain; empty if it is for no iOS device. */
export const statementsOf = (
  { architecture, tags, name, description }: Omit<StatingFields, keyof RecordDetails>,
  details: string | null,
): string => {
  const stated = buildStatement(readStated({ ...parseDetails(details), architecture, tags, name, description }));
  return stated === undefined ? '' : writeStatements([stated]);
};

/** Combines the statements of several records into those of one package. */
export const joinStatements = (texts: Iterable<string>): string => {
  const differing = [...new Set(texts)];
  // Of most packages there is one build, in one repository.
  return differing.length === 1 ? (differing[0] as string) : writeStatements(differing.flatMap(readStatements));
};

/** The same for a repository that serves only these builds, by which a build for all is judged. */
export const statedWhereServed = (text: string, served: readonly Build[]): string =>
  served.length === builds.length
    ? text
    : writeStatements(readStatements(text).map((one) => (one.build === 'all' ? { ...one, served } : one)));

// Made once, because making it takes longer than all sentences of a page.
const list = new Intl.ListFormat('en');

const listed = (some: readonly Build[]): string =>
  list.format(builds.filter((build) => some.includes(build)).map(wordOf));

/** A sentence for a visitor for whose device a package has no build. `text` is what the package states. */
export const lackingOf = (text: string): string => {
  const stated = readStatements(text);
  const made = builds.filter((build) => stated.some((one) => one.build === build));
  if (made.length > 0) {
    const there = made.length === 1 ? `there is a ${listed(made)} build` : `there are ${listed(made)} builds`;
    return `Your iPhone cannot install it as it is: ${there} only.`;
  }
  const served = stated.flatMap((one) => one.served ?? []);
  if (served.length === 0) return notForDevices;
  return `It may not install on your iPhone: it is for all builds, but in a ${listed(served)} repository.`;
};

/** Where a statement was found, and its words. */
interface Said {
  readonly source: StatementSource;
  readonly written: string;
}

/** A row of the table of what a package runs on: builds for one architecture with the same statements. */
export interface StatedRow {
  readonly architecture: string;
  /** The build's name for people; undefined if the architecture is not that of an iOS device. */
  readonly build: string | undefined;
  /** The iOS versions in words; undefined if they are not stated. */
  readonly ios: string | undefined;
  readonly said: readonly Said[];
  /** The records that state this. */
  readonly of: readonly StatingRecord[];
}

interface StatingRecord {
  readonly version: string;
  /** The name of its repository, and whether the safety list names that. */
  readonly repository: string;
  readonly isUnsafe: boolean;
}

/** A version of a package, as far as it states something. */
interface StatingVersion {
  readonly record: Pick<PackageRecord, 'architecture' | 'tags' | 'name' | 'description' | 'version' | 'latest_version'>;
  readonly repository: Pick<Repository, 'slug' | 'name' | 'doubt'>;
  readonly details: RecordDetails;
}

const order = [...builds, 'all', 'other'];
const mostOf = 3;
const mostSaid = 8;

const iosOf = ({ bounded, excluded }: Stated): string | undefined =>
  bounded ? describeVersions(complementOf(excluded)) : undefined;

/** What the fields of a version state; undefined if they set no limit to iOS versions, or it is for no iOS device. */
const readLimited = ({ record, details }: Pick<StatingVersion, 'record' | 'details'>): Stated | undefined => {
  const { architecture, tags } = record;
  if (buildOf(architecture) === undefined) return undefined;
  const stated = readStated({ ...details, architecture, tags });
  return stated.bounded ? stated : undefined;
};

/** The iOS versions that the fields of a version allow, in words; undefined if they set no limit, or it is for no iOS device. */
export const allowedIos = (version: Pick<StatingVersion, 'record' | 'details'>): string | undefined => {
  const stated = readLimited(version);
  return stated && iosOf(stated);
};

/**
 * What the fields of a version state, in the form that pages contain, if they allow an iOS that no latest version for its
 * devices states to allow. One that sets no limit states nothing of any iOS, and if none sets one, nothing is excluded.
 *
 * @param served the builds that its repository serves
 */
export const otherStatements = (
  version: Pick<StatingVersion, 'record' | 'details'>,
  latest: readonly BuildStatement[],
  served: readonly Build[],
): string | undefined => {
  const build = buildOf(version.record.architecture);
  const same = latest.filter((one) => build === 'all' || (build !== undefined && isFor(one, build)));
  const allowed = same.flatMap(({ firmware }) => (firmware === undefined ? [] : [firmware]));
  if (allowed.length === 0) return undefined;
  const stated = readLimited(version);
  if (stated === undefined || complementOf([...stated.excluded, ...allowed.flat()]).length === 0) return undefined;
  const statement = buildStatement(stated);
  return statement && statedWhereServed(writeStatements([statement]), served);
};

/** The title of a build for all in a repository that serves only these builds. */
const titleOfAll = (served: readonly Build[]): string | undefined => {
  if (served.length === 0) return undefined;
  return served.length === builds.length ? buildTitles.all : `${buildTitles.all}, in a ${listed(served)} repository`;
};

/**
 * What the latest versions of a package state; empty if none is for an iOS device. A package for all architectures is
 * only for the devices that its repository serves, as for verdicts and buttons.
 */
export const statedRows = (
  versions: readonly StatingVersion[],
  buildsIn: (slug: string) => readonly Build[],
): StatedRow[] => {
  const latest = versions.filter(({ record }) => record.latest_version);
  const isForDevices = ({ record: { architecture }, repository: { slug } }: StatingVersion): boolean =>
    architecture === 'all' ? buildsIn(slug).length > 0 : isDeviceArchitecture(architecture);
  if (!latest.some(isForDevices)) return [];
  const rows = new Map<string, StatedRow & { readonly of: StatingRecord[] }>();
  for (const { record, details, repository } of latest) {
    const { architecture, tags, name, description, version } = record;
    const stated = readStated({ ...details, architecture, tags, name, description });
    const served = buildsIn(repository.slug);
    const row = {
      architecture,
      build: stated.build === 'all' ? titleOfAll(served) : stated.build && buildTitles[stated.build],
      ios: iosOf(stated),
      said: stated.statements.slice(0, mostSaid),
    };
    const key = JSON.stringify(row);
    const known = rows.get(key) ?? { ...row, of: [] };
    if (known.of.length < mostOf)
      known.of.push({ version, repository: repository.name, isUnsafe: isUnsafe(repository) });
    rows.set(key, known);
  }
  const placeOf = ({ architecture }: StatedRow) => order.indexOf(buildOf(architecture) ?? 'other');
  return [...rows.values()].sort((a, b) => placeOf(a) - placeOf(b));
};
