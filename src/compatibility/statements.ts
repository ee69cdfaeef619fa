import { type Build, buildOf } from './builds.ts';
import { readDemands } from './device-packages.ts';
import { type FirmwareRelation, readRefused, readRequired } from './firmware-relations.ts';
import { complementOf, uniteRanges, type VersionRanges } from './ios-versions.ts';
import type { BuildStatement } from './judgement.ts';
import { readTags } from './tags.ts';
import { readText } from './text-statements.ts';

/** The fields of a package in which it says on what it runs. */
export interface StatingFields {
  readonly architecture: string;
  readonly depends?: string | null | undefined;
  readonly preDepends?: string | null | undefined;
  readonly conflicts?: string | null | undefined;
  readonly breaks?: string | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
}

/** Where a statement stands. */
export type StatementSource = 'Depends' | 'Pre-Depends' | 'Conflicts' | 'Breaks' | 'Tag' | 'text';

/** One thing that a package says of iOS, of its build or of the device. */
interface Statement {
  readonly source: StatementSource;
  /** As it is written there. */
  readonly written: string;
}

/** What a package states: never what we guess. */
export interface Stated {
  readonly architecture: string;
  /** What its Architecture is for; undefined where that is no device with iOS. */
  readonly build: Build | 'all' | undefined;
  /** The versions of iOS on which its fields say it does not run, and no others; empty where they say of none. */
  readonly excluded: VersionRanges;
  /** Whether its fields bound the versions of iOS. */
  readonly bounded: boolean;
  /** The versions that its tags list or its words name; undefined where they name none. Names exclude nothing. */
  readonly named: VersionRanges | undefined;
  /** What its fields ask of the device besides its iOS, as names of packages that are made up from it. */
  readonly demands: readonly string[];
  readonly statements: readonly Statement[];
}

/** What the fields alone exclude, without the words; the part that a search asks for. */
export const readExcluded = (fields: StatingFields): VersionRanges =>
  uniteRanges([
    ...firmwareOf(fields).flatMap(({ relation }) => relation.excluded),
    ...readTags(fields.tags).flatMap((tag) => ('excluded' in tag ? tag.excluded : [])),
  ]);

const firmwareOf = ({
  depends,
  preDepends,
  conflicts,
  breaks,
}: StatingFields): { readonly source: StatementSource; readonly relation: FirmwareRelation }[] => [
  ...readRequired(depends).map((relation) => ({ source: 'Depends' as const, relation })),
  ...readRequired(preDepends).map((relation) => ({ source: 'Pre-Depends' as const, relation })),
  ...readRefused(conflicts).map((relation) => ({ source: 'Conflicts' as const, relation })),
  ...readRefused(breaks).map((relation) => ({ source: 'Breaks' as const, relation })),
];

/** Reads what a package states. Never throws; takes time in proportion to the fields. */
export const readStated = (fields: StatingFields): Stated => {
  const relations = firmwareOf(fields);
  const tags = readTags(fields.tags);
  const text = readText(fields.name, fields.description);
  const demands = [
    ...readDemands(fields.depends).map((written) => ({ source: 'Depends' as const, written })),
    ...readDemands(fields.preDepends).map((written) => ({ source: 'Pre-Depends' as const, written })),
  ];
  const excluded = [
    ...relations.map(({ relation }) => relation.excluded),
    ...tags.flatMap((tag) => ('excluded' in tag ? [tag.excluded] : [])),
  ];
  const listed = tags.flatMap((tag) => ('named' in tag ? tag.named : []));
  const told = listed.length > 0 ? listed : text.flatMap(({ named }) => named ?? []);
  return {
    architecture: fields.architecture,
    build: buildOf(fields.architecture),
    excluded: uniteRanges(excluded.flat()),
    bounded: excluded.length > 0,
    named: told.length > 0 ? uniteRanges(told) : undefined,
    demands: [...new Set(demands.map(({ written }) => written))],
    statements: [
      ...relations.map(({ source, relation }) => ({ source, written: relation.written })),
      ...demands,
      ...tags.map(({ written }) => ({ source: 'Tag' as const, written })),
      ...text.map(({ written }) => ({ source: 'text' as const, written })),
    ],
  };
};

// A page carries what is judged by. More ranges than these no honest package has; the least that all lie in excludes less.
const mostRanges = 8;

const fewRanges = (ranges: VersionRanges): VersionRanges => {
  const [first, last] = [ranges[0], ranges.at(-1)];
  return ranges.length > mostRanges && first && last ? [[first[0], last[1]]] : ranges;
};

/** What a device is judged by, of all that is stated; undefined where the build is of no device with iOS. */
export const buildStatement = ({ build, excluded, bounded, named, demands }: Stated): BuildStatement | undefined =>
  build === undefined
    ? undefined
    : {
        build,
        firmware: bounded ? fewRanges(complementOf(excluded)) : undefined,
        named,
        asks: demands.length > 0 ? demands.join(' and ') : undefined,
      };
